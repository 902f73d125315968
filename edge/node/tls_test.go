package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
)

// A node with its own CA: metrics show the certificate's expiry, and aws-sdk-go-v2 uses the DynamoDB endpoint over HTTPS, besides plain
// HTTP from this machine.
func TestNodeByTLS(t *testing.T) {
	log, dir := slog.New(slog.DiscardHandler), t.TempDir()
	settings := node.TLSConfig{Mode: "local", PlainListen: "127.0.0.1:0"}
	if _, err := settings.Open(t.Context(), dir, log); err == nil {
		t.Fatal("opened without a CA")
	}
	if _, err := certs.CreateCA(dir, nil, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	if bad := (node.TLSConfig{Mode: "local", Hosts: []string{"late.example"}}); true {
		if _, err := bad.Open(t.Context(), dir, log); err == nil || !strings.Contains(err.Error(), "late.example") {
			t.Error("a host that the CA may not name:", err)
		}
	}
	secure, err := settings.Open(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	e, err := node.NewEndpoint(t.Context(), node.DynamoDBConfig{Listen: "127.0.0.1:0", TLS: true}, "--dynamodb-listen", log)
	if err != nil {
		t.Fatal(err)
	}
	e.Secure(secure.Source)
	n, err := node.Open(t.Context(), dir, node.Parts{Clock: clock.Real(), Log: log, DynamoDB: e, TLS: secure, Auth: keyed})
	if err != nil {
		t.Fatal(err)
	}
	addr, end := runNode(t, n)
	defer end()
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(filepath.Join(dir, certs.CAFile))
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, Timeout: time.Minute}

	for _, scheme := range []string{"https://", "http://"} {
		db := dynamodb.New(dynamodb.Options{
			BaseEndpoint: aws.String(scheme + e.Addr()), Region: "us-east-1", HTTPClient: client,
			Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		})
		speak(t, db, "scores-"+scheme[:len(scheme)-3])
	}
	for _, url := range []string{"https://" + addr, "http://" + addr, "http://" + secure.Plain.Addr().String()} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", operatorKey)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "\ntouchline_tls_certificate_expiry_timestamp_seconds 1.") {
			t.Errorf("%s: %d", url, resp.StatusCode)
		}
	}
}

func speak(t *testing.T, db *dynamodb.Client, table string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := db.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest, KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	if _, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
	got, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: item})
	if err != nil || len(got.Item) != 1 {
		t.Fatal(got, err)
	}
}

// The endpoint refuses plain HTTP from other machines.
func TestEndpointRefusesPlainFromOthers(t *testing.T) {
	ip := otherAddress(t)
	log, dir := slog.New(slog.DiscardHandler), t.TempDir()
	if _, err := certs.CreateCA(dir, nil, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	secure, err := (&node.TLSConfig{Mode: "local"}).Open(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	e, err := node.NewOpenEndpoint(t.Context(), node.DynamoDBConfig{Listen: ip + ":0"}, "--listen", log)
	if err != nil {
		t.Fatal(err)
	}
	e.Secure(secure.Source)
	n, err := node.Open(t.Context(), dir, node.Parts{Clock: clock.Real(), Log: log, DynamoDB: e, TLS: secure, Auth: keyed})
	if err != nil {
		t.Fatal(err)
	}
	_, end := runNode(t, n)
	defer end()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+e.Addr(), strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "https:// only") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// otherAddress returns an address of this machine other than loopback.
func otherAddress(t *testing.T) string {
	for _, name := range certs.LocalNames() {
		if ip := net.ParseIP(name); ip != nil && ip.To4() != nil {
			return name
		}
	}
	t.Skip("this machine has loopback addresses only")
	return ""
}

func TestTLSProblems(t *testing.T) {
	for want, c := range map[string]node.HTTPConfig{
		"":                        {MaxStreams: 1, TLS: node.TLSConfig{Mode: "off"}, PublicURL: "https://scores.example:8443"},
		"http.tls.mode":           {MaxStreams: 1, TLS: node.TLSConfig{Mode: "on"}},
		"http.tls.cert":           {MaxStreams: 1, TLS: node.TLSConfig{Mode: "files", Cert: "none", Key: "none"}},
		"http.tls.hosts":          {MaxStreams: 1, TLS: node.TLSConfig{Mode: "local", Hosts: []string{"A b"}}},
		"http.tls.plain_listen":   {MaxStreams: 1, TLS: node.TLSConfig{Mode: "off", PlainListen: ":80"}},
		"http.tls.acme.directory": {MaxStreams: 1, TLS: node.TLSConfig{Mode: "acme", Hosts: []string{"scores.example"}, ACME: node.ACMEConfig{Directory: "http://ca.example"}}},
		"http.public_url":         {MaxStreams: 1, TLS: node.TLSConfig{Mode: "off"}, PublicURL: "https://scores.example/x"},
	} {
		problems := c.Problems()
		if want == "" && len(problems) > 0 || want != "" && (len(problems) != 1 || problems[0].Key != want) {
			t.Errorf("%s: %+v", want, problems)
		}
	}
	for _, bad := range []string{"scores.example", "ftp://scores.example", "https://u@scores.example", "https://scores.example/", "https://Scores.example", "https://", "https://a?b"} {
		c := node.HTTPConfig{MaxStreams: 1, TLS: node.TLSConfig{Mode: "off"}, PublicURL: bad}
		if len(c.Problems()) != 1 {
			t.Errorf("%s was taken", bad)
		}
	}
}

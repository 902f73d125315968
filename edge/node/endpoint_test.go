package node_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const scoresTable = `{"TableName":"scores","BillingMode":"PAY_PER_REQUEST",
	"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
	"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`

// shownNode is a node with both listeners.
type shownNode struct {
	t        *testing.T
	dir      string
	web, api string // addresses
	end      context.CancelFunc
	done     chan error
}

func runShown(t *testing.T) *shownNode {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	e, err := node.NewEndpoint(t.Context(), node.DynamoDBConfig{Listen: "127.0.0.1:0"}, "--dynamodb-listen", log)
	if err != nil {
		t.Fatal(err)
	}
	n := &shownNode{t: t, dir: t.TempDir(), api: e.Addr(), done: make(chan error, 1)}
	node, err := node.Open(t.Context(), n.dir, node.Parts{Clock: clock.Real(), Log: log, DynamoDB: e, Auth: keyed, Apps: []*app.App{cricketapp.New()}})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.web = ln.Addr().String()
	var ctx context.Context
	ctx, n.end = context.WithCancel(t.Context())
	t.Cleanup(n.end)
	go func() { n.done <- node.Run(ctx, ln) }()
	return n
}

// stop stops the node and opens its store.
func (n *shownNode) stop() *store.Store {
	n.t.Helper()
	n.end()
	if err := <-n.done; err != nil {
		n.t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(n.dir, "touchline.db"), store.Options{NoSync: true})
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { s.Close() })
	return s
}

// ask sends an operation of the DynamoDB API.
func (n *shownNode) ask(operation, body string) (status int, answer string) {
	n.t.Helper()
	return n.send(n.t.Context(), http.MethodPost, "http://"+n.api, operation, strings.NewReader(body))
}

func (n *shownNode) get(path string) string {
	n.t.Helper()
	_, answer := n.send(n.t.Context(), http.MethodGet, "http://"+n.web+path, "", http.NoBody)
	return answer
}

func (n *shownNode) send(ctx context.Context, method, url, operation string, body io.Reader) (status int, answer string) {
	n.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", operatorKey) // for the web; the DynamoDB API ignores it
	if operation != "" {
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	}
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// The endpoint shows the applications' tables but none of the node's own, and writes to the same store.
func TestNodeAnswersDynamoDB(t *testing.T) {
	n := runShown(t)
	var want []string
	for _, spec := range tables.All() {
		if !spec.Internal {
			want = append(want, spec.Name)
		}
	}
	_, tables := n.ask("ListTables", `{}`)
	for _, name := range want {
		if !strings.Contains(tables, `"`+name+`"`) {
			t.Errorf("%s is not in %s", name, tables)
		}
	}
	if strings.Contains(tables, "touchline-") {
		t.Errorf("the node's own tables are shown: %s", tables)
	}
	for _, tt := range []struct {
		operation, body string
		status          int
		answer          string
	}{
		{"GetItem", `{"TableName":"touchline-push-state","Key":{"stateKey":{"S":"APNS#provider"}}}`, 400, "ResourceNotFoundException"},
		{"Scan", `{"TableName":"touchline-migrations"}`, 400, "ResourceNotFoundException"},
		{"DescribeTable", `{"TableName":"touchline-push-state"}`, 400, "ResourceNotFoundException"},
		{"DeleteTable", `{"TableName":"cricket-locks"}`, 400, "it cannot be deleted"},
		{"CreateTable", scoresTable, 200, "scores"},
		{"PutItem", `{"TableName":"scores","Item":{"id":{"S":"final"}}}`, 200, "{}"},
		{"PutItem", `{"TableName":"cricket-match-follows","Item":{"matchId":{"S":"7"},"userId":{"S":"asha"}}}`, 200, "{}"},
	} {
		status, answer := n.ask(tt.operation, tt.body)
		if status != tt.status || !strings.Contains(answer, tt.answer) {
			t.Errorf("%s %s: %d %s", tt.operation, tt.body, status, answer)
		}
	}
	s := n.stop()
	d, err := s.Describe("scores")
	if err != nil || d.Spec.Policy != store.PolicyIntent {
		t.Errorf("scores: %+v, %v", d.Spec, err)
	}
	err = s.View(t.Context(), func(tx *store.Tx) error {
		follows, err := phone.Follows{}.OfMatch(tx, "7")
		if len(follows) != 1 || follows[0].UserID != "asha" {
			t.Errorf("follows: %+v", follows)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The node's status has the endpoint, and its metrics have the endpoint's counters.
func TestNodeCountsDynamoDB(t *testing.T) {
	n := runShown(t)
	for range 3 {
		n.ask("ListTables", `{}`)
	}
	n.ask("GetItem", `{"TableName":"nobody","Key":{"id":{"S":"a"}}}`)
	n.ask("Nonsense1", `{}`)
	n.ask("Nonsense2", `{}`)
	want := &operator.EndpointStatus{Listen: n.api}
	if diff := cmp.Diff(want, readStatus(t, n.web).DynamoDB); diff != "" {
		t.Errorf("/statusz (-want +got):\n%s", diff)
	}
	for _, line := range []string{
		`touchline_dynamodb_requests_total{operation="GetItem",outcome="ResourceNotFoundException"} 1`,
		`touchline_dynamodb_requests_total{operation="ListTables",outcome="ok"} 3`,
		`touchline_dynamodb_requests_total{operation="unknown",outcome="UnknownOperationException"} 2`,
		`touchline_dynamodb_request_seconds_count{operation="ListTables"} 3`,
	} {
		if metrics := n.get("/metrics"); !strings.Contains(metrics, line) {
			t.Errorf("/metrics has no %q", line)
		}
	}
	n.stop()
}

// A node without the endpoint does not mention it.
func TestNodeWithoutDynamoDB(t *testing.T) {
	e, err := node.NewEndpoint(t.Context(), node.DynamoDBConfig{}, "", nil)
	if e != nil || err != nil || e.Addr() != "" {
		t.Errorf("%v, %v", e, err)
	}
	e.Close()
}

// An address that other machines can reach is refused without keys.
func TestEndpointListen(t *testing.T) {
	for listen, code := range map[string]string{
		"127.0.0.1:0": "", "localhost:0": "", "[::1]:0": "", "0.0.0.0:0": "bad_listen", ":0": "bad_listen", "[::]:0": "bad_listen",
		"192.0.2.1:0": "bad_listen", "example.com:0": "bad_listen", "127.0.0.1": "bad_listen", "nonsense": "bad_listen",
	} {
		e, err := node.NewEndpoint(t.Context(), node.DynamoDBConfig{Listen: listen}, "", slog.New(slog.DiscardHandler))
		e.Close()
		got := ""
		if f, ok := errors.AsType[*fault.Error](err); ok {
			got = f.Code
		}
		if got != code && got != "cannot_listen" { // a machine without IPv6
			t.Errorf("%s: %v, want code %q", listen, err, code)
		}
		problems := node.DynamoDBConfig{Listen: listen}.Problems()
		told := false
		for _, p := range problems {
			told = told || p.Key == "dynamodb.listen"
		}
		if told != (code == "bad_listen") {
			t.Errorf("%s: problems %v", listen, problems)
		}
	}
}

// A client of the endpoint cannot delete an application's table or what is declared for it, and does not see the node's internal
// tables.
func TestNodeKeepsItsTables(t *testing.T) {
	n := runShown(t)
	const another = `"BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`
	for _, c := range []struct {
		operation, body string
		status          int
		says            string
	}{
		{"UpdateTable", `{"TableName":"cricket-devices","DeletionProtectionEnabled":false}`, 400, "its deletion protection stays on"},
		{"DeleteTable", `{"TableName":"cricket-devices"}`, 400, "it cannot be deleted"},
		{"DeleteTable", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/cricket-devices"}`, 400, "it cannot be deleted"},
		{"UpdateTimeToLive", `{"TableName":"cricket-devices","TimeToLiveSpecification":{"Enabled":false,"AttributeName":"ttl"}}`, 400, "stays as it is"},
		{"UpdateTimeToLive", `{"TableName":"cricket-teams","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"x"}}`, 400, "stays as it is"},
		{"UpdateTable", `{"TableName":"cricket-devices","DeletionProtectionEnabled":true}`, 200, ""},
		{"DescribeTable", `{"TableName":"cricket-devices"}`, 200, `"DeletionProtectionEnabled":true`},
		{"CreateTable", `{"TableName":"touchline-keys",` + another, 400, "AccessDeniedException"},
		{"CreateTable", `{"TableName":"touchline-free",` + another, 400, "AccessDeniedException"},
		{"CreateTable", `{"TableName":"touching",` + another, 200, ""},
		{"UpdateTable", `{"TableName":"touching","DeletionProtectionEnabled":false,"BillingMode":"PAY_PER_REQUEST"}`, 200, ""},
		{"DeleteTable", `{"TableName":"touching"}`, 200, ""},
	} {
		if status, answer := n.ask(c.operation, c.body); status != c.status || !strings.Contains(answer, c.says) {
			t.Errorf("%s %s: %d %s", c.operation, c.body, status, answer)
		}
	}
	_, taken := n.ask("CreateTable", `{"TableName":"touchline-keys",`+another)
	_, free := n.ask("CreateTable", `{"TableName":"touchline-free",`+another)
	if taken != free {
		t.Errorf("the answer tells which names are taken: %s, %s", taken, free)
	}
	s := n.stop()
	if _, err := s.Describe(tables.Devices); err != nil {
		t.Error(err)
	}
}

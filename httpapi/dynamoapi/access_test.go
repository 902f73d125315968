package dynamoapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// Access to one table does not extend to another table in the same request.
func TestEveryTableOfARequestNeedsPermission(t *testing.T) {
	ring, err := sigv4.NewKeyring(sigv4.Config{Keys: []sigv4.Key{{
		ID: "AKIDSOME", Secret: "a secret of a test", Allow: []sigv4.Grant{{Tables: []string{"mine"}, Actions: []string{"*"}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	_, s := managed(t, time.Now)
	api := dynamoapi.New(dynamoapi.Config{Store: s, Verifier: sigv4.New(ring, time.Now)})
	for _, table := range []string{"mine", "other"} {
		accepted(t, api, "CreateTable", `{"TableName":"`+table+`","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	}
	server := httptest.NewServer(api)
	defer server.Close()
	const key = `{"a":{"S":"x"}}`
	for operation, body := range map[string]string{
		"BatchGetItem":          `{"RequestItems":{"mine":{"Keys":[` + key + `]},"TABLE":{"Keys":[` + key + `]}}}`,
		"BatchWriteItem":        `{"RequestItems":{"mine":[{"PutRequest":{"Item":` + key + `}}],"TABLE":[{"PutRequest":{"Item":` + key + `}}]}}`,
		"TransactGetItems":      `{"TransactItems":[{"Get":{"TableName":"mine","Key":` + key + `}},{"Get":{"TableName":"TABLE","Key":{"a":{"S":"y"}}}}]}`,
		"TransactWriteItems":    `{"TransactItems":[{"Put":{"TableName":"mine","Item":` + key + `}},{"Put":{"TableName":"TABLE","Item":{"a":{"S":"y"}}}}]}`,
		"BatchExecuteStatement": `{"Statements":[{"Statement":"SELECT * FROM mine WHERE a='x'"},{"Statement":"SELECT * FROM \"TABLE\" WHERE a='y'"}]}`,
		"ExecuteTransaction":    `{"TransactStatements":[{"Statement":"SELECT * FROM mine WHERE a='x'"},{"Statement":"SELECT * FROM \"TABLE\" WHERE a='y'"}]}`,
	} {
		got := signed(t, server.URL, operation, strings.ReplaceAll(body, "TABLE", "other"))
		if !strings.Contains(got, "#AccessDeniedException") || !strings.Contains(got, "table/other") {
			t.Errorf("%s: %s", operation, got)
		}
		if strings.HasPrefix(operation, "Batch") && !strings.HasSuffix(operation, "Statement") {
			continue // a table cannot be named twice
		}
		if got := signed(t, server.URL, operation, strings.ReplaceAll(body, "TABLE", "mine")); strings.Contains(got, "__type") {
			t.Errorf("%s: %s", operation, got)
		}
	}
}

// signed sends a request with a signature and returns the body of the answer.
func signed(t *testing.T, url, operation, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	sum := sha256.Sum256([]byte(body))
	keys := aws.Credentials{AccessKeyID: "AKIDSOME", SecretAccessKey: "a secret of a test"}
	if err := signer.NewSigner().SignHTTP(context.Background(), keys, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", time.Now()); err != nil {
		t.Fatal(err)
	}
	res, err := new(http.Client).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// On a node's table, declared indexes stay, and those that a client added may be deleted.
func TestOwnedIndexesStay(t *testing.T) {
	s := storetest.Open(t)
	attr := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	spec := store.TableSpec{
		Name: "owned", Key: store.KeySpec{Partition: attr("id")}, Policy: store.PolicyLocal, Why: "a test's",
		Indexes: []store.IndexSpec{{Name: "declared", Key: store.KeySpec{Partition: attr("team")}}},
	}
	if err := s.Define(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	a := dynamoapi.New(dynamoapi.Config{Store: s, Owned: []store.TableSpec{spec}})
	accepted(t, a, "UpdateTable", `{"TableName":"owned","BillingMode":"PAY_PER_REQUEST"}`)
	accepted(t, a, "UpdateTable", `{"TableName":"owned","AttributeDefinitions":[{"AttributeName":"city","AttributeType":"S"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"added","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],
		"Projection":{"ProjectionType":"ALL"}}}]}`)
	const drop = `{"TableName":"owned","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"NAME"}}]}`
	if got := do(t, a, "UpdateTable", strings.ReplaceAll(drop, "NAME", "declared")); !strings.Contains(got, "index declared stays") {
		t.Errorf("declared: %s", got)
	}
	accepted(t, a, "UpdateTable", strings.ReplaceAll(drop, "NAME", "added"))
	d, err := s.Describe("owned")
	if err != nil || len(d.Spec.Indexes) != 1 || d.Spec.Indexes[0].Name != "declared" {
		t.Errorf("%+v, %v", d.Spec.Indexes, err)
	}
}

// Without a node, names with its prefix are free, unless the file has a table of that name that nobody may see.
func TestReservedNamesWithoutANode(t *testing.T) {
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	hidden := store.TableSpec{Name: "touchline-keys", Key: key, Policy: store.PolicyLocal, Why: "a test's", Internal: true}
	if err := s.CreateTable(t.Context(), hidden, store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	a := dynamoapi.New(dynamoapi.Config{Store: s})
	if got := do(t, a, "CreateTable", `{"TableName":"touchline-keys","BillingMode":"PAY_PER_REQUEST",`+simple+`}`); !strings.Contains(got, "reserved") {
		t.Errorf("hidden: %s", got)
	}
	accepted(t, a, "CreateTable", `{"TableName":"touchline-sync","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
}

// No operation shows or changes the node's internal tables: the answer is that of a missing table.
func TestInternalTables(t *testing.T) {
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	if err := s.CreateTable(t.Context(), store.TableSpec{Name: "own", Key: key, Policy: store.PolicyLocal, Why: "a test's", Internal: true}, store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	put := func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "own", Item: attr.Item{"pk": attr.S("a"), "secret": attr.S("s")}})
		return err
	}
	if err := s.Update(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	a := dynamoapi.New(dynamoapi.Config{Store: s})
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/own"
	for _, table := range []string{"own", arn} {
		for operation, request := range map[string]string{
			"GetItem":            `{"TableName":"own","Key":{"pk":{"S":"a"}},"ReturnConsumedCapacity":"TOTAL"}`,
			"PutItem":            `{"TableName":"own","Item":{"pk":{"S":"a"}}}`,
			"UpdateItem":         `{"TableName":"own","Key":{"pk":{"S":"a"}}}`,
			"DeleteItem":         `{"TableName":"own","Key":{"pk":{"S":"a"}},"ReturnValues":"ALL_OLD"}`,
			"Query":              `{"TableName":"own","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`,
			"Scan":               `{"TableName":"own"}`,
			"BatchGetItem":       `{"RequestItems":{"own":{"Keys":[{"pk":{"S":"a"}}]}}}`,
			"BatchWriteItem":     `{"RequestItems":{"own":[{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}`,
			"TransactGetItems":   `{"TransactItems":[{"Get":{"TableName":"own","Key":{"pk":{"S":"a"}}}}]}`,
			"TransactWriteItems": `{"TransactItems":[{"Delete":{"TableName":"own","Key":{"pk":{"S":"a"}}}}]}`,
			"DescribeTable":      `{"TableName":"own"}`,
			"DeleteTable":        `{"TableName":"own"}`,
			"UpdateTable":        `{"TableName":"own","BillingMode":"PAY_PER_REQUEST"}`,
			"DescribeTimeToLive": `{"TableName":"own"}`,
			"UpdateTimeToLive":   `{"TableName":"own","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`,
			"ExecuteStatement":   `{"Statement":"SELECT * FROM \"own\""}`,
			"ExecuteTransaction": `{"TransactStatements":[{"Statement":"DELETE FROM \"own\" WHERE pk = 'a'"}]}`,
			"ListTagsOfResource": `{"ResourceArn":"` + arn + `"}`,
		} {
			if table != "own" && strings.HasPrefix(operation, "Execute") {
				continue // statements have names only
			}
			request := strings.ReplaceAll(request, `"own"`, `"`+table+`"`)
			got := do(t, a, operation, request)
			gone := do(t, a, operation, strings.ReplaceAll(request, "own", "gone"))
			refused := strings.Contains(got, "ResourceNotFound") || operation == "ListTagsOfResource" && strings.Contains(got, "AccessDenied")
			if !refused || got != strings.ReplaceAll(gone, "gone", "own") {
				t.Errorf("%s %s: %s, of a table that is not there: %s", operation, table, got, gone)
			}
		}
	}
	for operation, want := range map[string]string{"ListTables": `{"TableNames":[]}`, "ListStreams": `{"Streams":[]}`} {
		if got := do(t, a, operation, `{}`); got != want {
			t.Errorf("%s: %s", operation, got)
		}
	}
	if n, err := s.Count(t.Context(), "own"); err != nil || n.Items != 1 {
		t.Errorf("%+v, %v", n, err)
	}
}

// Who may reset: by default nobody, then this machine, then everybody, but never a page of another origin.
func TestWhoMayReset(t *testing.T) {
	s := storetest.Open(t, store.TableSpec{Name: "users", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}, Policy: store.PolicyLocal})
	for name, c := range map[string]struct {
		access dynamoapi.ResetAccess
		method string
		from   string
		origin string
		want   int
		says   string
	}{
		"off":            {dynamoapi.ResetOff, http.MethodPost, "127.0.0.1:5", "", 403, `"Reset is off; touchline dynamodb --any-key turns it on"`},
		"here":           {dynamoapi.ResetFromLoopback, http.MethodPost, "127.0.0.1:5", "", 200, `{"TableNames":["users"]}`},
		"here, mapped":   {dynamoapi.ResetFromLoopback, http.MethodPost, "[::ffff:127.0.0.1]:5", "", 200, `{"TableNames":["users"]}`},
		"another's":      {dynamoapi.ResetFromLoopback, http.MethodPost, "172.17.0.1:5", "", 403, "--remote-reset lets others"},
		"everybody":      {dynamoapi.ResetFromAnywhere, http.MethodPost, "172.17.0.1:5", "", 200, `{"TableNames":["users"]}`},
		"a web page":     {dynamoapi.ResetFromAnywhere, http.MethodPost, "127.0.0.1:5", "https://evil.example", 403, `{"__type":"com.amazon.coral.service#AccessDeniedException"`},
		"another method": {dynamoapi.ResetFromAnywhere, http.MethodGet, "127.0.0.1:5", "", 405, `"message":"/_/reset answers POST only"`},
	} {
		r := httptest.NewRequest(c.method, "http://node:8000/_/reset", http.NoBody)
		r.RemoteAddr = c.from
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		dynamoapi.New(dynamoapi.Config{Store: s, Reset: c.access}).ServeHTTP(w, r)
		if w.Code != c.want || !strings.Contains(strings.ReplaceAll(w.Body.String(), `"Message"`, `"message"`), c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, c.want, c.says)
		}
	}
}

// A database with a replicated table is not reset: the refusal says why, instead of pointing at the log.
func TestReplicatedTablesAreNotReset(t *testing.T) {
	s := storetest.Open(t, store.TableSpec{Name: "users", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}, Policy: store.PolicyIntent})
	w := httptest.NewRecorder()
	dynamoapi.New(dynamoapi.Config{Store: s, Reset: dynamoapi.ResetFromAnywhere}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://node:8000/_/reset", http.NoBody))
	const want = `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException","message":"table users is replicated: it cannot be reset"}`
	if w.Code != http.StatusBadRequest || w.Body.String() != want {
		t.Errorf("%d %s, want 400 %s", w.Code, w.Body, want)
	}
}

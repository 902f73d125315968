package dynamoapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

const tab = `{"TableName":"tab","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` +
	`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`

// faulty returns an API with a table and these rules.
func faulty(t *testing.T, rules string) *dynamoapi.API {
	t.Helper()
	parsed, err := inject.Parse([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	in := new(inject.Injector)
	err = in.Set(parsed)
	if err != nil {
		t.Fatal(err)
	}
	a := dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t), Faults: in})
	do(t, a, "CreateTable", tab)
	return a
}

func TestFaultsInsteadOfTheWork(t *testing.T) {
	const put = `{"TableName":"tab","Item":{"pk":{"S":"a"}}}`
	for _, c := range []struct{ rules, operation, request, want string }{
		{"rules: [{kind: throttle, operations: [PutItem]}]", "PutItem", put,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."}`},
		{"rules: [{kind: error-500, operations: [PutItem]}]", "PutItem", put,
			`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"}`},
		{"rules: [{kind: throttle, operations: [PutItem], tables: [other]}]", "PutItem", put, `{}`},
		{"rules: [{kind: latency, latency: 1ms}]", "PutItem", put, `{}`},
		{"rules: [{kind: transaction-conflict}]", "TransactWriteItems", `{"TransactItems":[{"Put":` + put + `}]}`,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]",` +
				`"CancellationReasons":[{"Code":"TransactionConflict","Message":"Transaction is ongoing for the item"}]}`},
	} {
		a := faulty(t, c.rules)
		if got := do(t, a, c.operation, c.request); got != c.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.rules, c.operation, got, c.want)
		}
		there := do(t, a, "GetItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}}}`) != `{}`
		if there != (c.want == `{}`) {
			t.Errorf("%s %s: done: %v", c.rules, c.operation, there)
		}
	}
}

// A part of a batch is left unprocessed, and repeating it completes the batch.
func TestFaultsOfBatches(t *testing.T) {
	a := faulty(t, "rules: [{kind: unprocessed, share: 0.5, count: 2}]")
	var written struct{ UnprocessedItems map[string][]json.RawMessage }
	answer := do(t, a, "BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"PutRequest":{"Item":{"pk":{"S":"b"}}}}]}}`)
	if err := json.Unmarshal([]byte(answer), &written); err != nil || len(written.UnprocessedItems["tab"]) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	again, err := json.Marshal(map[string]any{"RequestItems": written.UnprocessedItems})
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Responses       map[string][]json.RawMessage
		UnprocessedKeys map[string]struct{ Keys []json.RawMessage }
	}
	get := `{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"b"}}]}}}`
	answer = do(t, a, "BatchGetItem", get)
	if err := json.Unmarshal([]byte(answer), &read); err != nil || len(read.UnprocessedKeys["tab"].Keys) != 1 || len(read.Responses["tab"]) > 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	if got := do(t, a, "BatchWriteItem", string(again)); got != `{"UnprocessedItems":{}}` {
		t.Error(got)
	}
	want := `{"Responses":{"tab":[{"pk":{"S":"a"}},{"pk":{"S":"b"}}]},"UnprocessedKeys":{}}`
	if got := do(t, a, "BatchGetItem", get); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A dropped request is not processed, a dropped answer is; the client hears of neither.
func TestFaultsDropConnections(t *testing.T) {
	for kind, done := range map[string]bool{"drop-request": false, "drop-answer": true} {
		a := faulty(t, "rules: [{kind: "+kind+", operations: [PutItem]}]")
		s := httptest.NewServer(a)
		defer s.Close()
		r := request(t, s.Listener.Addr().String(), "DynamoDB_20120810.PutItem", strings.NewReader(`{"TableName":"tab","Item":{"pk":{"S":"a"}}}`))
		got, err := s.Client().Do(r)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", kind, err)
			_ = got.Body.Close()
		}
		if there := do(t, a, "GetItem", `{"TableName":"tab","Key":{"pk":{"S":"a"}}}`) != `{}`; there != done {
			t.Errorf("%s: done %v", kind, there)
		}
	}
}

// A stale global index lags behind its table, which is current.
func TestFaultsDelayIndexes(t *testing.T) {
	a := faulty(t, "rules: [{kind: stale-index, delay: 10m}]")
	do(t, a, "CreateTable", `{"TableName":"two","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk",`+
		`"AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"by-g",`+
		`"KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`)
	do(t, a, "PutItem", `{"TableName":"two","Item":{"pk":{"S":"a"},"g":{"S":"b"}}}`)
	for request, want := range map[string]string{
		`{"TableName":"two"}`:                    `{"Items":[{"g":{"S":"b"},"pk":{"S":"a"}}],"Count":1,"ScannedCount":1}`,
		`{"TableName":"two","IndexName":"by-g"}`: `{"Items":[],"Count":0,"ScannedCount":0}`,
	} {
		if got := do(t, a, "Scan", request); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", request, got, want)
		}
	}
}

// Requests that take too much work are logged in one line every ten seconds, however many there are.
func TestCostlyRequestsAreNamed(t *testing.T) {
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	if err := s.CreateTable(t.Context(), store.TableSpec{Name: "tab", Key: key, Policy: store.PolicyLocal, Why: "a test's"}, store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	a := dynamoapi.New(dynamoapi.Config{Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }})
	do(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":"p"},"a":{"S":"%s"}}}`, strings.Repeat("ab", 190_000)))
	attack := `{"TableName":"tab","Key":{"pk":{"S":"p"}},"ConditionExpression":"` +
		strings.TrimSuffix(strings.Repeat("size(a) = :v OR ", 98), " OR ") + `","ExpressionAttributeValues":{":v":{"N":"1"}}}`
	for range 3 {
		do(t, a, "DeleteItem", attack)
	}
	now = now.Add(10 * time.Second)
	do(t, a, "DeleteItem", attack)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), log.String())
	}
	for i, more := range []string{"notTold=0", "notTold=2"} {
		for _, want := range []string{"level=WARN", "operation=DeleteItem", "tables=[tab]", "key=", "ms=", more} {
			if !strings.Contains(lines[i], want) {
				t.Errorf("no %s in %s", want, lines[i])
			}
		}
	}
}

// Expressions that read a large attribute too often are refused in every operation, as whole requests and with an error that clients do
// not retry. Fewer reads are accepted.
func TestTooMuchWork(t *testing.T) {
	a := open(t)
	text := strings.Repeat("ab", 190_000)
	for _, sk := range []string{"1", "2", "3"} {
		do(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"%s"},"a":{"S":"%s"}}}`, sk, text))
	}
	many := func(term string, n int) string { return strings.TrimSuffix(strings.Repeat(term+" OR ", n), " OR ") }
	const key = `"TableName":"tab","Key":{"pk":{"S":"p"},"sk":{"S":"%s"}}`
	checks := func(each, n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(`{"ConditionCheck":{`+key+`,"ConditionExpression":"NOT (%s)","ExpressionAttributeValues":{":v":{"S":"ba~"}}}}`,
				fmt.Sprint(i+1), many("contains(a,:v)", each)))
		}
		return `{"TransactItems":[` + strings.Join(out, ",") + `]}`
	}
	statement := func(kind string, n int) string {
		where := ` WHERE pk='p' AND sk='1' AND NOT (` + many("size(a) = 1", n) + `)`
		return map[string]string{
			"UPDATE": `UPDATE tab SET b=1` + where, "DELETE": `DELETE FROM tab` + where,
			"EXISTS": `EXISTS(SELECT * FROM tab` + where + `)`,
		}[kind]
	}
	sized := fmt.Sprintf(`"NOT (%s)","ExpressionAttributeValues":{":v":{"N":"1"}}`, many("size(a) = :v", 98))
	list := `{"L":[` + strings.TrimSuffix(strings.Repeat(`{"NULL":true},`, 50_000), ",") + `]}`
	do(t, a, "PutItem", `{"TableName":"tab","Item":{"pk":{"S":"l"},"sk":{"S":"1"},"a":`+list+`}}`)
	listed := `"` + many("a <> :v", 149) + `","ExpressionAttributeValues":{":v":` + list
	const refused = "ValidationException"
	for _, c := range []struct{ op, body, want string }{
		{"TransactWriteItems", checks(149, 100), refused},
		{"TransactWriteItems", checks(20, 3), `{}`},
		{"UpdateItem", `{` + fmt.Sprintf(key, "1") + `,"UpdateExpression":"SET b = :v","ConditionExpression":` + sized + `}`, refused},
		{"DeleteItem", `{` + fmt.Sprintf(key, "1") + `,"ConditionExpression":` + sized + `}`, refused},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","FilterExpression":` + listed + `,":p":{"S":"l"}}}`, refused},
		{"Scan", `{"TableName":"tab","FilterExpression":` + listed + `}}`, refused},
		{"ExecuteStatement", `{"Statement":"` + statement("UPDATE", 98) + `"}`, refused},
		{"BatchExecuteStatement", `{"Statements":[{"Statement":"` + statement("DELETE", 98) + `"}]}`, refused},
		{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"` + statement("EXISTS", 98) + `"}]}`, refused},
		{"ExecuteStatement", `{"Statement":"` + statement("UPDATE", 5) + `"}`, `{"Items":[]}`},
		{"BatchExecuteStatement", `{"Statements":[{"Statement":"` + statement("UPDATE", 5) + `"}]}`, `{"Responses":[{"TableName":"tab"}]}`},
	} {
		got := do(t, a, c.op, c.body)
		if c.want != refused && got != c.want || c.want == refused && !(strings.Contains(got, refused) && strings.Contains(got, "too much work")) {
			t.Errorf("%s %.60s ...\ngot  %.300s\nwant %s", c.op, c.body, got, c.want)
		}
	}
}

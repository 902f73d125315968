package dynamoapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/store/storetest"
)

const tab = `{"TableName":"tab","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` +
	`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`

// faulty makes an API with a table and these rules.
func faulty(t *testing.T, rules string) *dynamoapi.API {
	t.Helper()
	parsed, err := inject.Parse([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	in, err := inject.New(parsed)
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

// A part of a batch is left, and what is asked for again is done.
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

// A dropped request is not done, a dropped answer is; of neither does the client hear.
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

// A global index on demand is behind its table, which is not.
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

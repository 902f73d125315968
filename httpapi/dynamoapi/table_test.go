package dynamoapi_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// managed returns an API over an empty store with the given clock.
func managed(t testing.TB, now func() time.Time) (*dynamoapi.API, *store.Store) {
	t.Helper()
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"), store.Options{NoSync: true, Now: now})
	return dynamoapi.New(dynamoapi.Config{Store: s, Now: now}), s
}

// accepted runs a request that must succeed and returns the answer.
func accepted(t testing.TB, a *dynamoapi.API, operation, body string) string {
	t.Helper()
	got, err := a.Do(t.Context(), operation, []byte(body))
	if err != nil {
		t.Fatalf("%s %s: %v", operation, body, err)
	}
	return string(got)
}

// refusal is a line of testdata/tables: a request and its refusal, as recorded from the service. If the service lists errors in no
// fixed order, they are a list.
type refusal struct {
	In      json.RawMessage
	Type    string
	Message string
	Faults  []string
}

func TestRefusalsOfTableOperations(t *testing.T) {
	a, _ := managed(t, time.Now)
	for _, body := range []string{
		`{"TableName":"tab","ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":5},` + simple + `}`,
		`{"TableName":"free","BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"one","KeySchema":[{"AttributeName":"a",` +
			`"KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],` + simple + `}`,
	} {
		accepted(t, a, "CreateTable", body)
	}
	accepted(t, a, "UpdateTimeToLive", `{"TableName":"free","TimeToLiveSpecification":{"AttributeName":"a","Enabled":true}}`)
	files, err := filepath.Glob("testdata/tables/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		operation := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(operation, func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				var want refusal
				if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
					t.Fatalf("%s: %v", lines.Text(), err)
				}
				want.hold(t, a, operation)
			}
		})
	}
}

func (want refusal) hold(t *testing.T, a *dynamoapi.API, operation string) {
	t.Helper()
	var got struct {
		Type    string `json:"__type"`
		Message string
	}
	body := do(t, a, operation, string(want.In))
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	same := got.Message == want.Message
	if want.Faults != nil {
		_, list, _ := strings.Cut(got.Message, " detected: ")
		have := strings.Split(list, "; Value ")
		for i := range have {
			have[i] = strings.TrimPrefix(have[i], "Value ")
		}
		for i := range want.Faults {
			want.Faults[i] = strings.TrimPrefix(want.Faults[i], "Value ")
		}
		slices.Sort(have)
		slices.Sort(want.Faults)
		same = slices.Equal(have, want.Faults)
	}
	if !same || got.Type != want.Type {
		t.Errorf("%s %.400s:\ngot  %.600s\nwant %s: %s %q", operation, want.In, body, want.Type, want.Message, want.Faults)
	}
}

const simple = `"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]`

func TestListTablesInPages(t *testing.T) {
	a, s := managed(t, time.Now)
	if err := s.CreateTable(t.Context(), store.TableSpec{
		Name: "own", Key: store.KeySpec{Partition: store.KeyAttr{Name: "a", Type: 'S'}}, Policy: store.PolicyLocal, Why: "a test's", Internal: true,
	}, store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ccc", "aaa", "zzz", "bbb"} {
		accepted(t, a, "CreateTable", `{"TableName":"`+name+`","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	}
	for _, step := range []struct{ body, want string }{
		{`{}`, `{"TableNames":["aaa","bbb","ccc","zzz"]}`},
		{`{"Limit":null,"ExclusiveStartTableName":null,"hi":"yo"}`, `{"TableNames":["aaa","bbb","ccc","zzz"]}`},
		{`{"Limit":4}`, `{"TableNames":["aaa","bbb","ccc","zzz"]}`},
		{`{"Limit":2}`, `{"TableNames":["aaa","bbb"],"LastEvaluatedTableName":"bbb"}`},
		{`{"Limit":3,"ExclusiveStartTableName":"bbb"}`, `{"TableNames":["ccc","zzz"]}`},
		{`{"Limit":1,"ExclusiveStartTableName":"bba"}`, `{"TableNames":["bbb"],"LastEvaluatedTableName":"bbb"}`},
		{`{"ExclusiveStartTableName":"zzz"}`, `{"TableNames":[]}`},
	} {
		if got := accepted(t, a, "ListTables", step.body); got != step.want {
			t.Errorf("%s:\ngot  %s\nwant %s", step.body, got, step.want)
		}
	}
	if got := do(t, a, "DescribeTable", `{"TableName":"own"}`); !strings.Contains(got, "Table: own not found") {
		t.Errorf("the node's own table shows: %s", got)
	}
	const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/own"`
	for op, body := range map[string]string{
		"TagResource":   `{` + arn + `,"Tags":[{"Key":"k","Value":"v"}]}`,
		"UntagResource": `{` + arn + `,"TagKeys":["k"]}`, "UpdateTable": `{"TableName":"own","DeletionProtectionEnabled":true}`,
		"DescribeTimeToLive": `{"TableName":"own"}`, "UpdateTimeToLive": `{"TableName":"own","TimeToLiveSpecification":{"AttributeName":"x","Enabled":true}}`,
	} {
		if got := do(t, a, op, body); !strings.Contains(got, "#ResourceNotFoundException") {
			t.Errorf("%s of the node's own table: %s", op, got)
		}
	}
	if got := do(t, a, "DeleteTable", `{"TableName":"own"}`); !strings.Contains(got, "Table: own not found") {
		t.Errorf("the node's own table can be deleted: %s", got)
	}
}

func TestCreateDescribeDelete(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 23, 23, 82e6, time.UTC)
	a, s := managed(t, func() time.Time { return now })
	create := `{"TableName":"abd","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":2},
		"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"N"},{"AttributeName":"c","AttributeType":"B"}],
		"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],
		"LocalSecondaryIndexes":[{"IndexName":"loc","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"}],
			"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y"]}}],
		"GlobalSecondaryIndexes":[{"IndexName":"glo","KeySchema":[{"AttributeName":"c","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"},
			"ProvisionedThroughput":{"ReadCapacityUnits":7,"WriteCapacityUnits":8}}],
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"k1"},
		"TableClass":"STANDARD_INFREQUENT_ACCESS","DeletionProtectionEnabled":true,"Tags":[{"Key":"k","Value":"v"}]}`
	want := func(table, index, tableWarm, indexWarm string) string {
		d, err := s.Describe("abd")
		if err != nil {
			t.Fatal(err)
		}
		return `{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"N"},{"AttributeName":"c","AttributeType":"B"}],` +
			`"TableName":"abd","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],"TableStatus":"` + table + `",` +
			`"CreationDateTime":1.795271003082e+09,"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":3,"WriteCapacityUnits":2},` +
			`"TableSizeBytes":0,"ItemCount":0,"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/abd","TableId":"` + d.ID + `",` +
			`"LocalSecondaryIndexes":[{"IndexName":"loc","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"}],` +
			`"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y"]},"IndexSizeBytes":0,"ItemCount":0,` +
			`"IndexArn":"arn:aws:dynamodb:us-east-1:000000000000:table/abd/index/loc"}],` +
			`"GlobalSecondaryIndexes":[{"IndexName":"glo","KeySchema":[{"AttributeName":"c","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"},` +
			`"IndexSizeBytes":0,"ItemCount":0,"IndexArn":"arn:aws:dynamodb:us-east-1:000000000000:table/abd/index/glo","IndexStatus":"` + index + `",` +
			`"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":7,"WriteCapacityUnits":8}` + indexWarm + `}],` +
			`"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"LatestStreamLabel":"2026-11-21T14:23:23.082",` +
			`"LatestStreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/abd/stream/2026-11-21T14:23:23.082",` +
			`"SSEDescription":{"Status":"ENABLED","SSEType":"KMS","KMSMasterKeyArn":"k1"},"TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS"},` +
			`"DeletionProtectionEnabled":true` + tableWarm + `}`
	}
	got := accepted(t, a, "CreateTable", create)
	if want := `{"TableDescription":` + want("CREATING", "CREATING", "", "") + `}`; got != want {
		t.Errorf("CreateTable:\ngot  %s\nwant %s", got, want)
	}
	for _, name := range []string{"abd", "arn:aws:dynamodb:eu-west-1:123456789012:table/abd"} {
		got = accepted(t, a, "DescribeTable", `{"TableName":"`+name+`"}`)
		if want := `{"Table":` + want("ACTIVE", "ACTIVE", `,"WarmThroughput":{"ReadUnitsPerSecond":3,"WriteUnitsPerSecond":2,"Status":"ACTIVE"}`,
			`,"WarmThroughput":{"ReadUnitsPerSecond":7,"WriteUnitsPerSecond":8,"Status":"ACTIVE"}`) + `}`; got != want {
			t.Errorf("DescribeTable %s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	const protected = `{"__type":"com.amazon.coral.validate#ValidationException","message":"Resource cannot be deleted as it is currently ` +
		`protected against deletion. Disable deletion protection first."}`
	if got := do(t, a, "DeleteTable", `{"TableName":"abd"}`); got != protected {
		t.Errorf("a protected table: %s", got)
	}
}

func TestDeletedTableIsGone(t *testing.T) {
	a, _ := managed(t, time.Now)
	accepted(t, a, "CreateTable", `{"TableName":"abd","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	got := accepted(t, a, "DeleteTable", `{"TableName":"abd"}`)
	for _, member := range []string{"TableId", "TableArn", "BillingModeSummary", "ProvisionedThroughput", "ItemCount"} {
		if !strings.Contains(got, `"`+member+`":`) {
			t.Errorf("DeleteTable, without %s: %s", member, got)
		}
	}
	for _, member := range []string{"CreationDateTime", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes"} {
		if strings.Contains(got, member) || !strings.Contains(got, `"TableStatus":"DELETING"`) {
			t.Errorf("DeleteTable, with %s: %s", member, got)
		}
	}
	const gone = `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found: Table: abd not found"}`
	if got := do(t, a, "DescribeTable", `{"TableName":"abd"}`); got != gone {
		t.Errorf("DescribeTable: %s", got)
	}
	accepted(t, a, "CreateTable", `{"TableName":"abd","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
}

func TestDescribeTableCounts(t *testing.T) {
	now := time.Now()
	a, _ := managed(t, func() time.Time { return now }) // counts take no time: a slow count would be reused for a while
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"one",`+
		`"KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],`+
		strings.Replace(simple, `}],"Key`, `},{"AttributeName":"n","AttributeType":"N"}],"Key`, 1)+`}`)
	for i, step := range []struct{ op, body, items, bytes, index string }{
		{"PutItem", `"Item":{"a":{"S":"1"},"n":{"N":"17"},"text":{"S":"0123456789"}}`, "1", "19", "1"},
		{"PutItem", `"Item":{"a":{"S":"2"}}`, "2", "21", "1"},
		{"DeleteItem", `"Key":{"a":{"S":"1"}}`, "1", "2", "0"},
	} {
		accepted(t, a, step.op, `{"TableName":"tab",`+step.body+`}`)
		got := accepted(t, a, "DescribeTable", `{"TableName":"tab"}`)
		have := [...]string{at(t, got, "Table", "ItemCount"), at(t, got, "Table", "TableSizeBytes"), at(t, got, "Table", "GlobalSecondaryIndexes", 0, "ItemCount")}
		if want := [...]string{step.items, step.bytes, step.index}; have != want {
			t.Errorf("step %d: %v, want %v", i, have, want)
		}
	}
}

// A slow count is reused for a while, but not if the table has an index that it did not count.
func TestSlowCountIsReused(t *testing.T) {
	var late atomic.Int64
	began := time.Now()
	a, _ := managed(t, func() time.Time { return began.Add(time.Duration(late.Add(1)) * time.Second) }) // every count takes a second
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	items := func(put, want string) {
		t.Helper()
		accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"`+put+`"}}}`)
		if have := at(t, accepted(t, a, "DescribeTable", `{"TableName":"tab"}`), "Table", "ItemCount"); have != want {
			t.Errorf("%s items, want %s", have, want)
		}
	}
	items("1", "1")
	items("2", "1")
	accepted(t, a, "UpdateTable", `{"TableName":"tab","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"}],`+
		`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"one","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],`+
		`"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`)
	items("3", "3")
}

package dynamoapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store"
)

// throughputStep is a request about throughput with the service's answer: a refusal, or the member shown in the answer and in a later
// DescribeTable.
type throughputStep struct {
	op, body string
	refused  string
	at       []any
	answer   string
	then     string
}

const anIndex = `"GlobalSecondaryIndexes":[{"IndexName":"one","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}%}]`

// throughputSteps returns consecutive requests with the service's answers as observed in October 2026.
func throughputSteps() []throughputStep {
	const wrong = `One or more parameter values were invalid: `
	const initial = ` is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial`
	const colder = ` is lower than current WarmThroughput, decreasing WarmThroughput is not supported`
	free := func(more string) string { return `"BillingMode":"PAY_PER_REQUEST",` + simple + more }
	index := func(more string) string { return `,` + strings.Replace(anIndex, "%", more, 1) }
	update := func(more string) string {
		return `"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"one"` + more + `}}]`
	}
	warm := []any{"WarmThroughput"}
	ofIndex := []any{"GlobalSecondaryIndexes", 0, "WarmThroughput"}
	limits := []any{"OnDemandThroughput"}
	return []throughputStep{
		{op: "CreateTable", body: free(`,"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":1}`),
			refused: wrong + `Requested ReadUnitsPerSecond for WarmThroughput for table` + initial},
		{op: "CreateTable", body: free(`,"WarmThroughput":{"WriteUnitsPerSecond":3999}`),
			refused: wrong + `Requested WriteUnitsPerSecond for WarmThroughput for table` + initial},
		{op: "CreateTable", body: free(index(`,"WarmThroughput":{"ReadUnitsPerSecond":1}`)),
			refused: wrong + `Requested ReadUnitsPerSecond for WarmThroughput for index one` + initial},
		{op: "CreateTable", body: `"ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":10},"WarmThroughput":{"ReadUnitsPerSecond":5},` + simple,
			refused: wrong + `Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits of ProvisionedThroughput`},
		{op: "CreateTable", body: `"ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":10},"OnDemandThroughput":{"MaxReadRequestUnits":5},` + simple,
			refused: wrong + `MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.`},
		{op: "CreateTable", body: free(`,"OnDemandThroughput":{"MaxReadRequestUnits":-1}`),
			refused: wrong + `Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range`},
		{op: "CreateTable", body: free(index(`,"OnDemandThroughput":{"MaxWriteRequestUnits":0}`)),
			refused: wrong + `Requested MaxWriteRequestUnits for OnDemandThroughput for index : one is outside of valid range`},
		{op: "CreateTable", body: free(`,"WarmThroughput":{"ReadUnitsPerSecond":12001}` + index(`,"WarmThroughput":{"WriteUnitsPerSecond":4001}`)),
			at: warm, answer: `{"ReadUnitsPerSecond":12001,"Status":"UPDATING","WriteUnitsPerSecond":4000}`,
			then: `{"ReadUnitsPerSecond":12001,"Status":"ACTIVE","WriteUnitsPerSecond":4000}`},
		{op: "DescribeTable", at: ofIndex, then: `{"ReadUnitsPerSecond":12000,"Status":"ACTIVE","WriteUnitsPerSecond":4001}`},
		{op: "UpdateTable", body: `"WarmThroughput":{"WriteUnitsPerSecond":4002}`, at: warm,
			answer: `{"ReadUnitsPerSecond":12001,"Status":"UPDATING","WriteUnitsPerSecond":4000}`,
			then:   `{"ReadUnitsPerSecond":12001,"Status":"ACTIVE","WriteUnitsPerSecond":4002}`},
		{op: "UpdateTable", body: `"WarmThroughput":{"ReadUnitsPerSecond":12001,"WriteUnitsPerSecond":4002}`, at: []any{"TableStatus"}, answer: `"ACTIVE"`, then: `"ACTIVE"`},
		{op: "UpdateTable", body: `"WarmThroughput":{"ReadUnitsPerSecond":12000}`, refused: wrong + `Requested ReadUnitsPerSecond for WarmThroughput for table` + colder},
		{op: "UpdateTable", body: update(`,"WarmThroughput":{"ReadUnitsPerSecond":-1}`), refused: wrong + `Requested ReadUnitsPerSecond for WarmThroughput for index one` + colder},
		{op: "UpdateTable", body: update(`,"WarmThroughput":{}`),
			refused: wrong + `WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: one`},
		{op: "UpdateTable", body: update(`,"WarmThroughput":{"ReadUnitsPerSecond":15000}`), at: ofIndex,
			answer: `{"ReadUnitsPerSecond":12000,"Status":"UPDATING","WriteUnitsPerSecond":4001}`,
			then:   `{"ReadUnitsPerSecond":15000,"Status":"ACTIVE","WriteUnitsPerSecond":4001}`},
		{op: "UpdateTable", body: update(``),
			refused: wrong + `The only Updates for index: one when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput`},
		{op: "UpdateTable", body: update(`,"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`),
			refused: wrong + `The only Updates for index: one when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput`},
		{op: "UpdateTable", body: `"OnDemandThroughput":{"MaxReadRequestUnits":1000,"MaxWriteRequestUnits":500}`, at: limits,
			answer: `{"MaxReadRequestUnits":1000,"MaxWriteRequestUnits":500}`, then: `{"MaxReadRequestUnits":1000,"MaxWriteRequestUnits":500}`},
		{op: "UpdateTable", body: `"OnDemandThroughput":{"MaxReadRequestUnits":-1}`, at: limits, answer: `{"MaxWriteRequestUnits":500}`, then: `{"MaxWriteRequestUnits":500}`},
		{op: "UpdateTable", body: update(`,"OnDemandThroughput":{"MaxReadRequestUnits":7}`), at: []any{"GlobalSecondaryIndexes", 0, "OnDemandThroughput"},
			answer: `{"MaxReadRequestUnits":7}`, then: `{"MaxReadRequestUnits":7}`},
		{op: "UpdateTable", body: `"OnDemandThroughput":{"MaxReadRequestUnits":-2}`,
			refused: wrong + `Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range`},
		{op: "UpdateTable", body: `"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},` +
			update(`,"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`), at: warm,
			then: `{"ReadUnitsPerSecond":12001,"Status":"ACTIVE","WriteUnitsPerSecond":4002}`}, // warm throughput never decreases
		{op: "UpdateTable", body: `"OnDemandThroughput":{"MaxReadRequestUnits":5}`,
			refused: wrong + `MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED`},
	}
}

func TestThroughputIsKeptAndDescribed(t *testing.T) {
	a, _ := managed(t, time.Now)
	for _, s := range throughputSteps() {
		body := `{"TableName":"tab"`
		if s.body != "" {
			body += `,` + s.body
		}
		got := do(t, a, s.op, body+`}`)
		if s.refused != "" {
			if text(t, got, "message") != s.refused {
				t.Errorf("%s %s:\ngot  %s\nwant %s", s.op, s.body, got, s.refused)
			}
			continue
		}
		if have := at(t, got, append([]any{"TableDescription"}, s.at...)...); s.answer != "" && have != s.answer {
			t.Errorf("%s %s is answered with %s, want %s: %s", s.op, s.body, have, s.answer, got)
		}
		got = accepted(t, a, "DescribeTable", `{"TableName":"tab"}`)
		if have := at(t, got, append([]any{"Table"}, s.at...)...); have != s.then {
			t.Errorf("after %s %s: %s, want %s", s.op, s.body, have, s.then)
		}
	}
}

// TestWarmthFollowsTheHighest: the highest provisioned throughput of a table determines its warm throughput.
func TestWarmthFollowsTheHighest(t *testing.T) {
	a, _ := managed(t, time.Now)
	accepted(t, a, "CreateTable", `{"TableName":"tab","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},`+simple+`}`)
	for _, step := range []struct{ units, want string }{
		{`{"ReadCapacityUnits":3,"WriteCapacityUnits":3}`, `{"ReadUnitsPerSecond":3,"Status":"ACTIVE","WriteUnitsPerSecond":3}`},
		{`{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`, `{"ReadUnitsPerSecond":3,"Status":"ACTIVE","WriteUnitsPerSecond":3}`},
		{`{"ReadCapacityUnits":2,"WriteCapacityUnits":4}`, `{"ReadUnitsPerSecond":3,"Status":"ACTIVE","WriteUnitsPerSecond":4}`},
	} {
		accepted(t, a, "UpdateTable", `{"TableName":"tab","ProvisionedThroughput":`+step.units+`}`)
		if got := at(t, accepted(t, a, "DescribeTable", `{"TableName":"tab"}`), "Table", "WarmThroughput"); got != step.want {
			t.Errorf("after %s: %s, want %s", step.units, got, step.want)
		}
	}
	accepted(t, a, "UpdateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST"}`)
	const free = `{"ReadUnitsPerSecond":12000,"Status":"ACTIVE","WriteUnitsPerSecond":4000}`
	if got := at(t, accepted(t, a, "DescribeTable", `{"TableName":"tab"}`), "Table", "WarmThroughput"); got != free {
		t.Errorf("on demand: %s", got)
	}
}

// TestWhatIsNotHereIsRefused: members that request unsupported copies, safeguards and indexes.
func TestWhatIsNotHereIsRefused(t *testing.T) {
	a, _ := managed(t, time.Now)
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	for _, step := range []struct{ op, member, value, why string }{
		{"CreateTable", "ResourcePolicy", `"{}"`, "there are no resource policies here"},
		{"CreateTable", "GlobalTableSourceArn", `"arn:aws:dynamodb:us-east-1:000000000000:table/tab"`, "there are no global tables here"},
		{"CreateTable", "GlobalTableSettingsReplicationMode", `"ENABLED"`, "there are no global tables here"},
		{"CreateTable", "VectorIndexes", `[{"IndexName":"v"}]`, "there are no vector indexes here"},
		{"UpdateTable", "ReplicaUpdates", `[{"Create":{"RegionName":"eu-west-1"}}]`, "there are no global tables here"},
		{"UpdateTable", "GlobalTableWitnessUpdates", `[{"Create":{"RegionName":"eu-west-1"}}]`, "there are no global tables here"},
		{"UpdateTable", "MultiRegionConsistency", `"STRONG"`, "there are no global tables here"},
		{"UpdateTable", "DisassociationProtectionEnabled", `false`, "there are no global tables here"},
		{"UpdateTable", "VectorIndexUpdates", `[{"Delete":{"IndexName":"v"}}]`, "there are no vector indexes here"},
	} {
		body := `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",` + simple + `,"` + step.member + `":` + step.value + `}`
		want := "One or more parameter values were invalid: " + step.member + " is not supported: " + step.why
		if got := text(t, do(t, a, step.op, body), "message"); !strings.HasPrefix(got, want) {
			t.Errorf("%s with %s: %q, want %q", step.op, step.member, got, want)
		}
	}
}

// FuzzTableRequest: the answer to any request about tables and streams is JSON and not a server error, and every table and stream
// listed afterwards can be described and read.
func FuzzTableRequest(f *testing.F) {
	corpus.Add(f)
	files, err := filepath.Glob("testdata/tables/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		lines := bufio.NewScanner(strings.NewReader(string(data)))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r refusal
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				f.Fatal(err)
			}
			f.Add(strings.TrimSuffix(filepath.Base(file), ".jsonl"), string(r.In))
		}
	}
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"
	f.Add("CreateTable", `{"TableName":"new","BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"OLD_IMAGE"},`+simple+`}`)
	f.Add("DeleteTable", `{"TableName":"tab"}`)
	f.Add("UpdateTable", `{"TableName":"tab","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}`)
	f.Add("UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":false}}`)
	f.Add("TagResource", `{"ResourceArn":"`+arn+`","Tags":[{"Key":"k","Value":"v"}]}`)
	f.Add("UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"a","Enabled":true}}`)
	f.Add("DescribeStream", `{"StreamArn":"`+arn+`/stream/2026-11-21T14:32:45.269","Limit":1}`)
	f.Add("GetShardIterator", `{"StreamArn":"`+arn+`/stream/x","ShardId":"shardId-00000001795271003082-00000000","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"100000001099511627777"}`)
	f.Add("GetRecords", `{"ShardIterator":"`+arn+`/stream/x|1|AAAAAAAAAAAAAAAAAAAAAAAAAAA"}`)
	r := &fuzzedTables{}
	f.Cleanup(func() { r.close(f) })
	f.Fuzz(func(t *testing.T, operation, request string) {
		a := r.api(t)
		isAnswered(t, a, operation, request)
		lookAround(t, a)
	})
}

// fuzzedTables is a store that is replaced now and then, so that it does not accumulate too many tables.
type fuzzedTables struct {
	s *store.Store
	n int
}

func (r *fuzzedTables) api(t testing.TB) *dynamoapi.API {
	t.Helper()
	const perStore = 50
	if r.n++; r.n%perStore == 1 {
		r.close(t)
		s, err := store.OpenMemory(store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.s = s
	}
	a := dynamoapi.New(dynamoapi.Config{Store: r.s})
	if _, err := r.s.Describe("tab"); err != nil { // first request, or the last one deleted it
		streamed(t, a, "tab", "NEW_IMAGE")
	}
	do(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"1"}}}`)
	return a
}

func (r *fuzzedTables) close(t testing.TB) {
	if r.s == nil {
		return
	}
	if err := r.s.Close(); err != nil {
		t.Error(err)
	}
}

// lookAround describes and reads everything that is listed.
func lookAround(t *testing.T, a *dynamoapi.API) {
	t.Helper()
	var tables struct{ TableNames []string }
	if err := json.Unmarshal([]byte(accepted(t, a, "ListTables", `{}`)), &tables); err != nil {
		t.Fatal(err)
	}
	for _, name := range tables.TableNames {
		got := accepted(t, a, "DescribeTable", fmt.Sprintf(`{"TableName":%q}`, name))
		accepted(t, a, "ListTagsOfResource", `{"ResourceArn":`+at(t, got, "Table", "TableArn")+`}`)
		accepted(t, a, "DescribeTimeToLive", fmt.Sprintf(`{"TableName":%q}`, name))
		accepted(t, a, "Scan", fmt.Sprintf(`{"TableName":%q}`, name))
	}
	var streams struct{ Streams []struct{ StreamArn string } }
	if err := json.Unmarshal([]byte(accepted(t, a, "ListStreams", `{}`)), &streams); err != nil {
		t.Fatal(err)
	}
	for _, st := range streams.Streams {
		accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(iterator(t, a, st.StreamArn, "TRIM_HORIZON", ""))+`}`)
	}
}

package dynamoapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store"
)

// FuzzTableRequest: whatever is asked of tables and streams, the answer is JSON and no fault of the node's, and every
// table and stream that is listed then can be described and read.
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

// fuzzedTables is a store that is made anew now and then, so that not too many tables pile up in it.
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
	if _, err := r.s.Describe("tab"); err != nil { // the first one, or the last request has deleted it
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
		accepted(t, a, "GetRecords", `{"ShardIterator":`+quoted(iterator(t, a, st.StreamArn, "TRIM_HORIZON", ""))+`}`)
	}
}

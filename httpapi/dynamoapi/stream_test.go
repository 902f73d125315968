package dynamoapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// quote returns a text as JSON.
func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// text returns a text at a path of an answer.
func text(t rapid.TB, body string, path ...any) string {
	t.Helper()
	var s string
	if got := at(t, body, path...); got != "" {
		if err := json.Unmarshal([]byte(got), &s); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
	}
	return s
}

// streamed creates a table with a stream and returns the ARN.
func streamed(t testing.TB, a *dynamoapi.API, table, view string) string {
	t.Helper()
	got := accepted(t, a, "CreateTable", `{"TableName":"`+table+`","BillingMode":"PAY_PER_REQUEST",`+simple+
		`,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"`+view+`"}}`)
	return text(t, got, "TableDescription", "LatestStreamArn")
}

// iterator requests an iterator; more is added to the request.
func iterator(t testing.TB, a *dynamoapi.API, arn, kind, more string) string {
	t.Helper()
	shard := text(t, accepted(t, a, "DescribeStream", `{"StreamArn":"`+arn+`"}`), "StreamDescription", "Shards", 0, "ShardId")
	got := do(t, a, "GetShardIterator", `{"StreamArn":"`+arn+`","ShardId":"`+shard+`","ShardIteratorType":"`+kind+`"`+more+`}`)
	if it := text(t, got, "ShardIterator"); it != "" {
		return it
	}
	return got
}

func TestStreamRecordsOfEveryView(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 23, 23, 982e6, time.UTC)
	for view, want := range map[string][]string{
		"KEYS_ONLY": {`"Keys":{"a":{"S":"1"}},`, `"Keys":{"a":{"S":"1"}},`, `"Keys":{"a":{"S":"1"}},`},
		"NEW_IMAGE": {`"Keys":{"a":{"S":"1"}},"NewImage":{"a":{"S":"1"},"n":{"N":"17"}},`,
			`"Keys":{"a":{"S":"1"}},"NewImage":{"a":{"S":"1"},"m":{"M":{"x":{"L":[{"BOOL":true},{"NULL":true}]}}},"n":{"N":"18"}},`,
			`"Keys":{"a":{"S":"1"}},`},
		"OLD_IMAGE": {`"Keys":{"a":{"S":"1"}},`, `"Keys":{"a":{"S":"1"}},"OldImage":{"a":{"S":"1"},"n":{"N":"17"}},`,
			`"Keys":{"a":{"S":"1"}},"OldImage":{"a":{"S":"1"},"m":{"M":{"x":{"L":[{"BOOL":true},{"NULL":true}]}}},"n":{"N":"18"}},`},
		"NEW_AND_OLD_IMAGES": {`"Keys":{"a":{"S":"1"}},"NewImage":{"a":{"S":"1"},"n":{"N":"17"}},`,
			`"Keys":{"a":{"S":"1"}},"NewImage":{"a":{"S":"1"},"m":{"M":{"x":{"L":[{"BOOL":true},{"NULL":true}]}}},"n":{"N":"18"}},"OldImage":{"a":{"S":"1"},"n":{"N":"17"}},`,
			`"Keys":{"a":{"S":"1"}},"OldImage":{"a":{"S":"1"},"m":{"M":{"x":{"L":[{"BOOL":true},{"NULL":true}]}}},"n":{"N":"18"}},`},
	} {
		// sizes according to DynamoDB Local, with both images and with parts of them
		sizes := map[string][]int{"KEYS_ONLY": {2, 2, 2}, "NEW_IMAGE": {7, 20, 2}, "OLD_IMAGE": {2, 7, 20}, "NEW_AND_OLD_IMAGES": {7, 25, 20}}[view]
		a, _ := managed(t, func() time.Time { return now })
		arn := streamed(t, a, "tab", view)
		other := streamed(t, a, "other", view)
		for _, it := range []string{`{"a":{"S":"1"},"n":{"N":"17"}}`, `{"a":{"S":"1"},"n":{"N":"17.0"}}`,
			`{"a":{"S":"1"},"n":{"N":"18"},"m":{"M":{"x":{"L":[{"BOOL":true},{"NULL":true}]}}}}`} {
			accepted(t, a, "PutItem", `{"TableName":"tab","Item":`+it+`}`)
			accepted(t, a, "PutItem", `{"TableName":"other","Item":{"a":{"S":"x"}}}`)
		}
		accepted(t, a, "DeleteItem", `{"TableName":"tab","Key":{"a":{"S":"1"}}}`)
		accepted(t, a, "DeleteItem", `{"TableName":"tab","Key":{"a":{"S":"1"}}}`)
		got := accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(iterator(t, a, arn, "TRIM_HORIZON", ""))+`}`)
		for i, name := range []string{"INSERT", "MODIFY", "REMOVE"} {
			id, seq := text(t, got, "Records", i, "eventID"), text(t, got, "Records", i, "dynamodb", "SequenceNumber")
			if len(id) != 32 || len(seq) != 21 {
				t.Errorf("eventID %q, SequenceNumber %q", id, seq)
			}
			want := fmt.Sprintf(`{"eventID":"%s","eventName":"%s","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1",`+
				`"dynamodb":{"ApproximateCreationDateTime":1795271003.0,%s"SequenceNumber":"%s","SizeBytes":%d,"StreamViewType":"%s"}}`,
				id, name, want[i], seq, sizes[i], view)
			if !strings.Contains(got, want) {
				t.Errorf("%s, record %d:\ngot  %s\nwant %s", view, i, got, want)
			}
		}
		if extra := at(t, got, "Records", 3); extra != "" {
			t.Errorf("%s: one record too many: %s", view, extra)
		}
		got = accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(iterator(t, a, other, "TRIM_HORIZON", ""))+`}`)
		if at(t, got, "Records", 0) == "" || at(t, got, "Records", 1) != "" {
			t.Errorf("an item that was put three times: %s", got)
		}
	}
}

func TestDescribeStreamAndListStreams(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 23, 23, 82e6, time.UTC)
	a, s := managed(t, func() time.Time { return now })
	bbb, aaa := streamed(t, a, "bbb", "KEYS_ONLY"), streamed(t, a, "aaa", "NEW_IMAGE")
	first := fmt.Sprintf("1%020d", s.Seq())
	shard := text(t, accepted(t, a, "DescribeStream", `{"StreamArn":"`+bbb+`"}`), "StreamDescription", "Shards", 0, "ShardId")
	want := `{"StreamDescription":{"StreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/bbb/stream/2026-11-21T14:23:23.082",` +
		`"StreamLabel":"2026-11-21T14:23:23.082","StreamStatus":"ENABLED","StreamViewType":"KEYS_ONLY","CreationRequestDateTime":1.795271003082e+09,` +
		`"TableName":"bbb","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Shards":[{"ShardId":"` + shard + `",` +
		`"SequenceNumberRange":{"StartingSequenceNumber":"` + first + `"}}]}}`
	if got := accepted(t, a, "DescribeStream", `{"StreamArn":"`+bbb+`"}`); got != want || !strings.HasPrefix(shard, "shardId-00000001795271003082-") || len(shard) != 37 {
		t.Errorf("DescribeStream:\ngot  %s\nwant %s", got, want)
	}
	for _, more := range []string{`"ExclusiveStartShardId":"` + shard + `"`, `"ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"` + shard + `"}`} {
		got := accepted(t, a, "DescribeStream", `{"StreamArn":"`+bbb+`",`+more+`}`)
		if got := at(t, got, "StreamDescription", "Shards"); got != "[]" {
			t.Errorf("with %s: %s", more, got)
		}
	}
	row := func(table, arn string) string {
		return `{"StreamArn":"` + arn + `","TableName":"` + table + `","StreamLabel":"2026-11-21T14:23:23.082"}`
	}
	for _, step := range []struct{ body, want string }{
		{`{}`, `{"Streams":[` + row("aaa", aaa) + `,` + row("bbb", bbb) + `]}`},
		{`{"Limit":1}`, `{"Streams":[` + row("aaa", aaa) + `],"LastEvaluatedStreamArn":"` + aaa + `"}`},
		{`{"Limit":1,"ExclusiveStartStreamArn":"` + aaa + `"}`, `{"Streams":[` + row("bbb", bbb) + `]}`},
		{`{"TableName":"bbb"}`, `{"Streams":[` + row("bbb", bbb) + `]}`},
		{`{"TableName":"nope"}`, `{"Streams":[]}`},
	} {
		if got := accepted(t, a, "ListStreams", step.body); got != step.want {
			t.Errorf("ListStreams %s:\ngot  %s\nwant %s", step.body, got, step.want)
		}
	}
}

func TestStreamCanBeReadForADayAfterItsEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	a, _ := managed(t, func() time.Time { return now })
	arn := streamed(t, a, "tab", "NEW_IMAGE")
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"1"}}}`)
	accepted(t, a, "UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":false}}`)
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"unseen"}}}`)
	now = now.Add(time.Second)
	accepted(t, a, "UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
	second := text(t, accepted(t, a, "DescribeTable", `{"TableName":"tab"}`), "Table", "LatestStreamArn")
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"2"}}}`)
	accepted(t, a, "DeleteTable", `{"TableName":"tab"}`)
	now = now.Add(time.Second)
	third := streamed(t, a, "tab", "KEYS_ONLY")
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"3"}}}`)
	now = now.Add(23 * time.Hour)
	for i, arn := range []string{arn, second, third} {
		status, next := `"DISABLED"`, ""
		if i == 2 {
			status, next = `"ENABLED"`, "more"
		}
		got := accepted(t, a, "DescribeStream", `{"StreamArn":"`+arn+`"}`)
		end := text(t, got, "StreamDescription", "Shards", 0, "SequenceNumberRange", "EndingSequenceNumber")
		if at(t, got, "StreamDescription", "StreamStatus") != status || (end == "") != (i == 2) {
			t.Errorf("stream %d: %s", i, got)
		}
		got = accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(iterator(t, a, arn, "TRIM_HORIZON", ""))+`}`)
		if text(t, got, "Records", 0, "dynamodb", "Keys", "a", "S") != fmt.Sprint(i+1) || at(t, got, "Records", 1) != "" ||
			(text(t, got, "NextShardIterator") == "") != (next == "") {
			t.Errorf("stream %d: %s", i, got)
		}
		if end != "" && text(t, got, "Records", 0, "dynamodb", "SequenceNumber") != end {
			t.Errorf("stream %d ends at %s, not with %s", i, end, got)
		}
	}
	now = now.Add(time.Hour)
	want := `Requested resource not found: Stream: ` + arn + ` not found`
	if got := do(t, a, "DescribeStream", `{"StreamArn":"`+arn+`"}`); text(t, got, "message") != want {
		t.Errorf("after a day: %s", got)
	}
}

func TestWhereAReaderMayBegin(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	a, s := managed(t, func() time.Time { return now })
	arn := streamed(t, a, "tab", "KEYS_ONLY")
	put := func(n int) {
		accepted(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"a":{"S":"%d"}}}`, n))
	}
	first := s.Seq() + 1
	for n := range 4 {
		put(n)
	}
	read := func(it, more string) (keys, next string) {
		got := accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(it)+more+`}`)
		for i := 0; at(t, got, "Records", i) != ""; i++ {
			keys += text(t, got, "Records", i, "dynamodb", "Keys", "a", "S")
		}
		return keys, text(t, got, "NextShardIterator")
	}
	number := func(seq uint64) string { return fmt.Sprintf(`,"SequenceNumber":"1%020d"`, seq) }
	latest := iterator(t, a, arn, "LATEST", "")
	put(4)
	for _, step := range []struct{ kind, more, want string }{
		{"TRIM_HORIZON", "", "01234"}, {"LATEST", "", ""}, {"AT_SEQUENCE_NUMBER", number(first + 2), "234"},
		{"AFTER_SEQUENCE_NUMBER", number(first + 2), "34"}, {"AT_SEQUENCE_NUMBER", number(first), "01234"},
		{"AFTER_SEQUENCE_NUMBER", number(first + 4), ""}, {"AT_SEQUENCE_NUMBER", number(first - 1), "01234"},
		{"AFTER_SEQUENCE_NUMBER", number(first - 1), "01234"},
	} {
		if got, next := read(iterator(t, a, arn, step.kind, step.more), ""); got != step.want || next == "" {
			t.Errorf("%s%s: %q, then %q", step.kind, step.more, got, next)
		}
	}
	if got, _ := read(latest, ""); got != "4" {
		t.Errorf("behind LATEST: %q", got)
	}
	keys, next := read(iterator(t, a, arn, "TRIM_HORIZON", ""), `,"Limit":2`)
	again, next := read(next, `,"Limit":2`)
	rest, next := read(next, `,"Limit":2`)
	if keys+"|"+again+"|"+rest != "01|23|4" {
		t.Errorf("in pages: %s %s %s", keys, again, rest)
	}
	put(5)
	if got, _ := read(next, ""); got != "5" {
		t.Errorf("behind the last page: %q", got)
	}
	wrong := `One or more parameter values were invalid: `
	inside, err := base64.RawURLEncoding.DecodeString(latest)
	if err != nil || !bytes.Contains(inside, []byte("/tab/")) {
		t.Fatalf("%v: %s", err, inside)
	}
	elsewhere := base64.RawURLEncoding.EncodeToString(bytes.Replace(inside, []byte("/tab/"), []byte("/tac/"), 1))
	for _, step := range []struct{ got, want string }{
		{iterator(t, a, arn, "AT_SEQUENCE_NUMBER", ""), wrong + "Invalid SequenceNumber"},
		{iterator(t, a, arn, "AT_SEQUENCE_NUMBER", number(first-2)), wrong + "Invalid SequenceNumber"},
		{iterator(t, a, arn, "AT_SEQUENCE_NUMBER", number(0)), wrong + "Invalid SequenceNumber"},
		{iterator(t, a, arn, "AFTER_SEQUENCE_NUMBER", number(first+7)), wrong + "Invalid SequenceNumber"},
		{iterator(t, a, arn, "AT_SEQUENCE_NUMBER", `,"SequenceNumber":"999999999999999999999"`), wrong + "Invalid SequenceNumber"},
		{iterator(t, a, arn, "LATEST", number(first)), wrong + "SequenceNumber should not be passed for this iterator type"},
		{iterator(t, a, arn, "SOME", ""), "1 validation error detected: Value 'SOME' at 'shardIteratorType' failed"},
		{do(t, a, "GetShardIterator", `{"StreamArn":"`+arn+`","ShardId":"shardId-00000000000000000000-00000000","ShardIteratorType":"LATEST"}`), "ResourceNotFoundException"},
		{do(t, a, "GetRecords", `{"ShardIterator":"foo"}`), "Invalid ShardIterator"},
		{do(t, a, "GetRecords", `{"ShardIterator":`+quote(elsewhere)+`}`), "Invalid ShardIterator"},
		{do(t, a, "GetRecords", `{"ShardIterator":`+quote(latest)+`,"Limit":1001}`), wrong + "Limit should be less than or equal to 1000"},
		{do(t, a, "GetRecords", `{"ShardIterator":`+quote(latest)+`,"Limit":0}`), "Value '0' at 'limit' failed"},
		{do(t, a, "GetRecords", `{}`), "Value null at 'shardIterator' failed"},
		{do(t, a, "DescribeStream", `{"StreamArn":"`+strings.Repeat("x", 40)+`"}`), "Invalid StreamArn"},
	} {
		if !strings.Contains(step.got, step.want) {
			t.Errorf("%s, want %s", step.got, step.want)
		}
	}
	now = now.Add(15 * time.Minute)
	if got, _ := read(latest, ""); got != "45" {
		t.Errorf("after a quarter of an hour: %q", got)
	}
	now = now.Add(time.Millisecond)
	if got := do(t, a, "GetRecords", `{"ShardIterator":`+quote(latest)+`}`); !strings.Contains(got, "#ExpiredIteratorException") {
		t.Errorf("too late: %s", got)
	}
}

func TestTrimmedRecords(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	a, s := managed(t, func() time.Time { return now })
	arn := streamed(t, a, "tab", "KEYS_ONLY")
	first := s.Seq() + 1
	put := func(n int) {
		accepted(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"a":{"S":"%d"}}}`, n))
	}
	put(0)
	now = now.Add(23*time.Hour + 58*time.Minute)
	horizon := iterator(t, a, arn, "TRIM_HORIZON", "")
	for n := 1; s.FirstSeq() <= first; n++ {
		now = now.Add(2 * time.Minute)
		put(n)
		if n > 6 {
			t.Fatal("nothing is trimmed")
		}
	}
	if got := do(t, a, "GetRecords", `{"ShardIterator":`+quote(horizon)+`}`); !strings.Contains(got, "#TrimmedDataAccessException") {
		t.Errorf("behind an iterator: %s", got)
	}
	got := iterator(t, a, arn, "AT_SEQUENCE_NUMBER", fmt.Sprintf(`,"SequenceNumber":"1%020d"`, first))
	if !strings.Contains(got, "#TrimmedDataAccessException") {
		t.Errorf("a record that is gone: %s", got)
	}
	got = accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(iterator(t, a, arn, "TRIM_HORIZON", ""))+`}`)
	if want := fmt.Sprintf("1%020d", s.FirstSeq()); text(t, got, "Records", 0, "dynamodb", "SequenceNumber") != want {
		t.Errorf("the oldest record is not %s: %.300s", want, got)
	}
}

func TestAnswersOfGetRecordsHaveALimit(t *testing.T) {
	a, _ := managed(t, time.Now)
	arn := streamed(t, a, "tab", "NEW_AND_OLD_IMAGES")
	big := strings.Repeat("x", 300_000)
	for n := range 6 {
		accepted(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"a":{"S":"1"},"n":{"N":"%d"},"big":{"S":"%s"}}}`, n, big))
	}
	next, seen := iterator(t, a, arn, "TRIM_HORIZON", ""), 0
	for range 6 {
		got := accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(next)+`}`)
		if len(got) > 1<<20+10_000 {
			t.Errorf("an answer of %d bytes", len(got))
		}
		for i := 0; at(t, got, "Records", i) != ""; i++ {
			if n := text(t, got, "Records", i, "dynamodb", "NewImage", "n", "N"); n != fmt.Sprint(seen) {
				t.Errorf("record %s stands in place of %d", n, seen)
			}
			seen++
		}
		next = text(t, got, "NextShardIterator")
	}
	if seen != 6 {
		t.Errorf("%d records", seen)
	}
}

func TestWhatExpiresIsRemovedByTheService(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"), store.Options{NoSync: true, Now: clock})
	a := dynamoapi.New(dynamoapi.Config{Store: s, Now: clock})
	arn := streamed(t, a, "tab", "OLD_IMAGE")
	accepted(t, a, "UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`)
	accepted(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"a":{"S":"1"},"ttl":{"N":"%d"}}}`, now.Unix()+10))
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"2"}}}`)
	accepted(t, a, "DeleteItem", `{"TableName":"tab","Key":{"a":{"S":"2"}}}`)
	now = now.Add(time.Minute)
	for more := true; more; {
		var err error
		if more, err = s.Housekeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(iterator(t, a, arn, "TRIM_HORIZON", ""))+`}`)
	if who := at(t, got, "Records", 2, "userIdentity"); who != "" {
		t.Errorf("a client's deletion is %s's", who)
	}
	if who := at(t, got, "Records", 3, "userIdentity"); who != `{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}` {
		t.Errorf("the service's deletion is %s's: %s", who, got)
	}
}

// TestReadingFromTheBeginningOfAShard: a reader can start at and after the position in DescribeStream, even before there is a record.
func TestReadingFromTheBeginningOfAShard(t *testing.T) {
	a, _ := managed(t, time.Now)
	arn := streamed(t, a, "tab", "KEYS_ONLY")
	got := accepted(t, a, "DescribeStream", `{"StreamArn":"`+arn+`"}`)
	begin := text(t, got, "StreamDescription", "Shards", 0, "SequenceNumberRange", "StartingSequenceNumber")
	early := map[string]string{}
	for _, kind := range []string{"AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"} {
		early[kind] = iterator(t, a, arn, kind, `,"SequenceNumber":"`+begin+`"`)
	}
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"1"}}}`)
	for kind, before := range early {
		for when, it := range map[string]string{"before": before, "behind": iterator(t, a, arn, kind, `,"SequenceNumber":"`+begin+`"`)} {
			got := do(t, a, "GetRecords", `{"ShardIterator":`+quote(it)+`}`)
			if text(t, got, "Records", 0, "dynamodb", "Keys", "a", "S") != "1" {
				t.Errorf("%s the beginning, asked %s the first record: %s", kind, when, got)
			}
		}
	}
}

func TestShardFilter(t *testing.T) {
	a, _ := managed(t, time.Now)
	arn := streamed(t, a, "tab", "KEYS_ONLY")
	shard := text(t, accepted(t, a, "DescribeStream", `{"StreamArn":"`+arn+`"}`), "StreamDescription", "Shards", 0, "ShardId")
	for _, step := range []struct{ filter, want string }{
		{`{"Type":"CHILD_SHARDS","ShardId":"` + shard + `"}`, `"Shards":[]`},
		{`null`, `"ShardId":"` + shard + `"`},
		{`{"Type":"PARENT_SHARDS","ShardId":"` + shard + `"}`,
			`Value 'PARENT_SHARDS' at 'shardFilter.type' failed to satisfy constraint: Member must satisfy enum value set: [CHILD_SHARDS]`},
		{`{"Type":"CHILD_SHARDS"}`, "must have the ShardId"},
		{`{"ShardId":"` + shard + `"}`, "ShardFilter must have a Type"},
		{`{"Type":"CHILD_SHARDS","ShardId":"x"}`, `Value 'x' at 'shardFilter.shardId' failed`},
		{`"CHILD_SHARDS"`, "SerializationException"},
	} {
		if got := do(t, a, "DescribeStream", `{"StreamArn":"`+arn+`","ShardFilter":`+step.filter+`}`); !strings.Contains(got, step.want) {
			t.Errorf("%s: %s, want %s", step.filter, got, step.want)
		}
	}
}

// TestReadingFromAnInstant: AT_TIMESTAMP starts at the first record written then or later.
func TestReadingFromAnInstant(t *testing.T) {
	began := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	now := began
	a, _ := managed(t, func() time.Time { return now })
	arn := streamed(t, a, "tab", "KEYS_ONLY")
	for n := range 5 {
		now = now.Add(time.Second)
		accepted(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"a":{"S":"%d"}}}`, n))
	}
	now = now.Add(time.Second)
	stamp := func(after time.Duration) string {
		return fmt.Sprintf(`,"Timestamp":%.3f`, float64(began.Add(after).UnixMilli())/1000)
	}
	for _, step := range []struct{ more, want string }{
		{stamp(-time.Hour), "01234"}, {stamp(time.Second), "01234"}, {stamp(1500 * time.Millisecond), "1234"},
		{stamp(5 * time.Second), "4"}, {stamp(5001 * time.Millisecond), ""}, {stamp(6 * time.Second), ""}, {`,"Timestamp":-1e300`, "01234"},
	} {
		got, keys := do(t, a, "GetRecords", `{"ShardIterator":`+quote(iterator(t, a, arn, "AT_TIMESTAMP", step.more))+`}`), ""
		for i := 0; at(t, got, "Records", i) != ""; i++ {
			keys += text(t, got, "Records", i, "dynamodb", "Keys", "a", "S")
		}
		if keys != step.want {
			t.Errorf("%s: %q, want %q: %s", step.more, keys, step.want, got)
		}
	}
	for kind, more := range map[string]string{
		"AT_TIMESTAMP": stamp(7 * time.Second), "LATEST": stamp(0), "AT_SEQUENCE_NUMBER": `,"SequenceNumber":"100000000000000000001"` + stamp(0),
	} {
		if got := iterator(t, a, arn, kind, more); !strings.Contains(got, "Timestamp") || !strings.Contains(got, "ValidationException") {
			t.Errorf("%s%s: %s", kind, more, got)
		}
	}
	if got := iterator(t, a, arn, "AT_TIMESTAMP", ""); !strings.Contains(got, "Timestamp must be passed") {
		t.Errorf("without a time: %s", got)
	}
}

// BenchmarkGetRecords reads a page of 1,000 records with both images of about 1 KB in total, after as many of another table.
func BenchmarkGetRecords(b *testing.B) {
	a, _ := managed(b, time.Now)
	arn := streamed(b, a, "tab", "NEW_AND_OLD_IMAGES")
	accepted(b, a, "CreateTable", `{"TableName":"other","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	for i := range 1000 {
		for _, table := range []string{"other", "tab"} {
			accepted(b, a, "PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{"a":{"S":"1"},"n":{"N":"%d"},"text":{"S":"%s"}}}`, table, i, strings.Repeat("x", 480)))
		}
	}
	body := []byte(`{"ShardIterator":` + quote(iterator(b, a, arn, "TRIM_HORIZON", "")) + `}`)
	b.ReportAllocs()
	for b.Loop() {
		answer, err := a.Do(b.Context(), "GetRecords", body)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(answer)))
	}
}

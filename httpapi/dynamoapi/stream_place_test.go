package dynamoapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestReadingFromTheBeginningOfAShard: what DescribeStream says of it is a place at which, and behind which, a reader can begin,
// also before there is a record.
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
			got := do(t, a, "GetRecords", `{"ShardIterator":`+quoted(it)+`}`)
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

// TestReadingFromAnInstant: AT_TIMESTAMP gives the records from the first one that was made then or later.
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
		got, keys := do(t, a, "GetRecords", `{"ShardIterator":`+quoted(iterator(t, a, arn, "AT_TIMESTAMP", step.more))+`}`), ""
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

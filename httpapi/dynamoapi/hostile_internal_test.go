package dynamoapi

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What a permission is asked for is the table that the operation then works on, whatever else an ARN holds.
func TestPermissionIsAskedForWhatIsHit(t *testing.T) {
	arn := "arn:table/allowed/:dynamodb:us-east-1:000000000000:table/secret"
	stream := arn + "/stream/2026-01-01T00:00:00.000"
	for operation, body := range map[string]string{
		"DescribeStream":     `{"StreamArn":"` + stream + `"}`,
		"GetShardIterator":   `{"StreamArn":"` + stream + `","ShardId":"` + strings.Repeat("s", 30) + `","ShardIteratorType":"LATEST"}`,
		"GetRecords":         `{"ShardIterator":"` + shardIterator{stream: stream, made: time.Now()}.String() + `"}`,
		"TagResource":        `{"ResourceArn":"` + arn + `","Tags":[]}`,
		"UntagResource":      `{"ResourceArn":"` + arn + `","TagKeys":[]}`,
		"ListTagsOfResource": `{"ResourceArn":"` + arn + `"}`,
		"GetItem":            `{"TableName":"` + arn + `","Key":{}}`,
	} {
		r, err := New(Config{}).decode(operation, body)
		if err != nil {
			t.Fatal(err)
		}
		if got := accessOf(operation, r).tables; len(got) != 1 || got[0] != "secret" {
			t.Errorf("%s is allowed by %q", operation, got)
		}
	}
	if table, _, ok := streamOfARN(stream); !ok || table != "secret" {
		t.Errorf("the stream is of %q, %v", table, ok)
	}
}

// A list of empty elements takes no more memory than the text that holds it, a few times.
func TestListsOfTheEmpty(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 101_000 // still more than the 100,000 elements that are allowed
	}
	many := func(element string) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	numbered := func(format string) string {
		var b []byte
		before, after, _ := strings.Cut(format, "%d")
		for i := range n {
			b = append(strconv.AppendInt(append(b, before...), int64(i), 10), after+","...)
		}
		return strings.TrimSuffix(string(b), ",")
	}
	for name, c := range map[string]struct{ operation, body string }{
		"keys":       {"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[` + many(`{}`) + `]}}}`},
		"get tables": {"BatchGetItem", `{"RequestItems":{` + numbered(`"!%d":{}`) + `}}`},
		"attributes": {"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{}],"AttributesToGet":[` + numbered(`"%d"`) + `]}}}`},
		"writes":     {"BatchWriteItem", `{"RequestItems":{"tab":[` + many(`{}`) + `]}}`},
		"tables":     {"BatchWriteItem", `{"RequestItems":{` + numbered(`"!%d":[]`) + `}}`},
		"actions":    {"TransactWriteItems", `{"TransactItems":[` + many(`{"Put":{}}`) + `]}`},
		"gets":       {"TransactGetItems", `{"TransactItems":[` + many(`{"Get":{}}`) + `]}`},
		"again":      {"TransactGetItems", `{` + many(`"TransactItems":[{}]`) + `}`},
		"statements": {"BatchExecuteStatement", `{"Statements":[` + many(`{}`) + `]}`},
		"parts":      {"ExecuteTransaction", `{"TransactStatements":[` + many(`{}`) + `]}`},
		"parameters": {"ExecuteStatement", `{"Statement":"x","Parameters":[` + many(`{}`) + `]}`},
		"names":      {"GetItem", `{"ExpressionAttributeNames":{` + numbered(`"#%d":""`) + `}}`},
		"values":     {"PutItem", `{"ExpressionAttributeValues":{` + numbered(`":%d":{}`) + `}}`},
		"expected":   {"PutItem", `{"Expected":{` + numbered(`"%d":{}`) + `}}`},
		"updates":    {"UpdateItem", `{"AttributeUpdates":{` + numbered(`"%d":{}`) + `}}`},
		"filter":     {"Scan", `{"ScanFilter":{` + numbered(`"%d":{}`) + `}}`},
		"in":         {"Scan", `{"ScanFilter":{"a":{"AttributeValueList":[` + many(`{}`) + `]}}}`},
	} {
		var before, behind runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := New(Config{}).decode(c.operation, c.body)
		runtime.ReadMemStats(&behind)
		if _, ok := errors.AsType[*Error](err); err == nil || !ok && !strings.Contains(err.Error(), "100000 elements") {
			t.Errorf("%s: %.200v, %T", name, err, r)
		}
		if took := (behind.TotalAlloc - before.TotalAlloc) >> 20; took > 150 {
			t.Errorf("%s: %d MB for a text of %d MB", name, took, len(c.body)>>20)
		}
		runtime.KeepAlive(r)
	}
}

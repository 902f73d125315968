package dynamoapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestPagesOfOneMegabyte: a page ends with the item that makes 1 MB full, whatever the filter leaves of it.
func TestPagesOfOneMegabyte(t *testing.T) {
	api := recordedTables(t)
	long := strings.Repeat("x", 300_000)
	for i := range 5 {
		do(t, api, "PutItem", fmt.Sprintf(`{"TableName":"range","Item":{"a":{"S":"p"},"b":{"S":"%d"},"d":{"S":"%d"},"e":{"S":"%s"}}}`, i, i, long))
	}
	for _, step := range []struct{ op, body, want string }{
		{"Scan", `"FilterExpression":"b = :b","ExpressionAttributeValues":{":b":{"S":"none"}},"ReturnConsumedCapacity":"INDEXES"`,
			`{"Items":[],"Count":0,"ScannedCount":4,"LastEvaluatedKey":{"a":{"S":"p"},"b":{"S":"3"}},` +
				`"ConsumedCapacity":{"CapacityUnits":146.5,"TableName":"range","Table":{"CapacityUnits":146.5}}}`},
		{"Scan", `"ExclusiveStartKey":{"a":{"S":"p"},"b":{"S":"3"}},"Select":"COUNT","ReturnConsumedCapacity":"TOTAL"`,
			`{"Count":1,"ScannedCount":1,"ConsumedCapacity":{"CapacityUnits":37.0,"TableName":"range"}}`},
		{"Query", `"KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"p"}},"Select":"COUNT","ConsistentRead":true,"ReturnConsumedCapacity":"TOTAL"`,
			`{"Count":4,"ScannedCount":4,"LastEvaluatedKey":{"a":{"S":"p"},"b":{"S":"3"}},"ConsumedCapacity":{"CapacityUnits":293.0,"TableName":"range"}}`},
		// what the index shows is little: it is no page of its own
		{"Query", `"IndexName":"index2","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"p"}},"Select":"COUNT","ReturnConsumedCapacity":"INDEXES"`,
			`{"Count":5,"ScannedCount":5,"ConsumedCapacity":{"CapacityUnits":0.5,"TableName":"range","Table":{"CapacityUnits":0},` +
				`"LocalSecondaryIndexes":{"index2":{"CapacityUnits":0.5}}}}`},
		// what it does not show is fetched, each item by itself: 74 units and the index
		{"Query", `"IndexName":"index2","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"p"}},"ProjectionExpression":"b, f",` +
			`"Limit":2,"ReturnConsumedCapacity":"INDEXES","ConsistentRead":true`,
			`{"Items":[{"b":{"S":"0"}},{"b":{"S":"1"}}],"Count":2,"ScannedCount":2,"LastEvaluatedKey":{"a":{"S":"p"},"b":{"S":"1"},"d":{"S":"1"}},` +
				`"ConsumedCapacity":{"CapacityUnits":149.0,"TableName":"range","Table":{"CapacityUnits":148.0},"LocalSecondaryIndexes":{"index2":{"CapacityUnits":1.0}}}}`},
		{"Scan", `"IndexName":"index2","ReturnConsumedCapacity":"TOTAL","Select":"ALL_PROJECTED_ATTRIBUTES","Limit":5,"ProjectionExpression":"b"`,
			`ValidationException: Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES`},
	} {
		got := do(t, api, step.op, `{"TableName":"range",`+step.body+`}`)
		if !answers(t, got, step.want) {
			t.Errorf("%s %s\n got %s\nwant %s", step.op, step.body, short(got), step.want)
		}
	}
}

// TestSegmentsReadAll: each item is in one segment, and the pages of a segment lead to its end.
func TestSegmentsReadAll(t *testing.T) {
	api := recordedTables(t)
	for i := range 40 {
		do(t, api, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"a":{"S":"%d"}}}`, i))
	}
	seen := map[string]int{}
	for segment := range 3 {
		for start := ""; ; {
			var page struct {
				Items            []struct{ A struct{ S string } }
				LastEvaluatedKey json.RawMessage
			}
			got := do(t, api, "Scan", fmt.Sprintf(`{"TableName":"hash","Segment":%d,"TotalSegments":3,"Limit":4%s}`, segment, start))
			if err := json.Unmarshal([]byte(got), &page); err != nil {
				t.Fatal(err)
			}
			for _, it := range page.Items {
				seen[it.A.S]++
			}
			if page.LastEvaluatedKey == nil {
				break
			}
			start = `,"ExclusiveStartKey":` + string(page.LastEvaluatedKey)
		}
	}
	if len(seen) != 40 {
		t.Errorf("%d items of 40 were read", len(seen))
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("%s was read %d times", key, n)
		}
	}
}

// TestTransactionsReadByTable: a transactional read costs twice, each table by itself.
func TestTransactionsReadByTable(t *testing.T) {
	api := recordedTables(t)
	do(t, api, "PutItem", `{"TableName":"hash","Item":{"a":{"S":"k"},"v":{"S":"`+strings.Repeat("x", 5000)+`"}}}`)
	got := do(t, api, "TransactGetItems", `{"ReturnConsumedCapacity":"INDEXES","TransactItems":[{"Get":{"TableName":"hash","Key":{"a":{"S":"k"}},`+
		`"ProjectionExpression":"a"}},{"Get":{"TableName":"hash","Key":{"a":{"S":"none"}}}},{"Get":{"TableName":"hashN","Key":{"a":{"N":"1"}}}}]}`)
	want := `{"Responses":[{"Item":{"a":{"S":"k"}}},{},{}],"ConsumedCapacity":[` +
		`{"CapacityUnits":6.0,"ReadCapacityUnits":6.0,"TableName":"hash","Table":{"CapacityUnits":6.0,"ReadCapacityUnits":6.0}},` +
		`{"CapacityUnits":2.0,"ReadCapacityUnits":2.0,"TableName":"hashN","Table":{"CapacityUnits":2.0,"ReadCapacityUnits":2.0}}]}`
	if !answers(t, got, want) {
		t.Errorf(" got %s\nwant %s", got, want)
	}
}

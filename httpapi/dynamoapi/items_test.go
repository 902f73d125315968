package dynamoapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// open returns an API over a store with a table "tab" of pk and sk.
func open(t testing.TB) *dynamoapi.API {
	t.Helper()
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString}}
	if err := s.CreateTable(t.Context(), store.TableSpec{Name: "tab", Key: key, Policy: store.PolicyLocal, Why: "a test's"}, store.TableSettings{}); err != nil {
		t.Fatal(err)
	}
	return dynamoapi.New(dynamoapi.Config{Store: s})
}

// do runs a request and returns the body of the answer, refused or not.
func do(t testing.TB, a *dynamoapi.API, operation, body string) string {
	t.Helper()
	answer, err := a.Do(t.Context(), operation, []byte(body))
	if err != nil {
		refused, ok := errors.AsType[*dynamoapi.Error](err)
		if !ok {
			t.Fatalf("%s %s: %v", operation, body, err)
		}
		answer = refused.Wire()
	}
	return string(answer)
}

func TestPutAndGet(t *testing.T) {
	a := open(t)
	for _, step := range []struct{ op, body, want string }{
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"n":{"N":"1"}}}`, `{}`},
		{"GetItem", `{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}`, `{"Item":{"n":{"N":"1"},"pk":{"S":"a"},"sk":{"S":"b"}}}`},
		{"GetItem", `{"TableName":"tab","Key":{"pk":{"S":"a"},"sk":{"S":"c"}}}`, `{}`},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"b"}},"ReturnValues":"ALL_OLD"}`,
			`{"Attributes":{"n":{"N":"1"},"pk":{"S":"a"},"sk":{"S":"b"}}}`},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"a"},"sk":{"S":"b"}},"ConditionExpression":"attribute_not_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed","Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}`},
		{"GetItem", `{"TableName":5}`, `{"__type":"com.amazon.coral.service#SerializationException","Message":"NUMBER_VALUE cannot be converted to String"}`},
		{"GetItem", `{"TableName":"a;"}`, `{"__type":"com.amazon.coral.validate#ValidationException","message":"3 validation errors detected: ` +
			`Value 'a;' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; ` +
			`Value 'a;' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3; ` +
			`Value null at 'key' failed to satisfy constraint: Member must not be null"}`},
	} {
		if got := do(t, a, step.op, step.body); got != step.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", step.op, step.body, got, step.want)
		}
	}
}

// DynamoDB shows expired items until they are swept. The store hides them at once from other readers.
func TestExpiredItemsAreShown(t *testing.T) {
	now := time.Now()
	a, s := managed(t, func() time.Time { return now })
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	accepted(t, a, "UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`)
	past := strconv.FormatInt(now.Add(-time.Hour).Unix(), 10)
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"gone"},"ttl":{"N":"`+past+`"}}}`)
	reads := map[string]string{
		"GetItem":          `{"TableName":"tab","Key":{"a":{"S":"gone"}}}`,
		"Query":            `{"TableName":"tab","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"gone"}}}`,
		"Scan":             `{"TableName":"tab"}`,
		"BatchGetItem":     `{"RequestItems":{"tab":{"Keys":[{"a":{"S":"gone"}}]}}}`,
		"TransactGetItems": `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"a":{"S":"gone"}}}}]}`,
		"ExecuteStatement": `{"Statement":"SELECT * FROM tab WHERE a = 'gone'"}`,
	}
	for operation, request := range reads {
		if got := accepted(t, a, operation, request); !strings.Contains(got, past) {
			t.Errorf("%s does not show it: %s", operation, got)
		}
	}
	for more := true; more; {
		var err error
		if more, err = s.Housekeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for operation, request := range reads {
		if got := accepted(t, a, operation, request); strings.Contains(got, past) {
			t.Errorf("%s shows it when it was swept: %s", operation, got)
		}
	}
}

// TestWritesAreAccountedFor: capacity and item collections of each kind of write, in a table with local indexes.
func TestWritesAreAccountedFor(t *testing.T) {
	const (
		ask        = `"ReturnConsumedCapacity":"INDEXES","ReturnItemCollectionMetrics":"SIZE"`
		collection = `"ItemCollectionMetrics":{"ItemCollectionKey":{"a":{"S":"p"}},"SizeEstimateRangeGB":[0.0,1.0]}`
		two        = `"ItemCollectionMetrics":{"range":[{"ItemCollectionKey":{"a":{"S":"p"}},"SizeEstimateRangeGB":[0.0,1.0]},` +
			`{"ItemCollectionKey":{"a":{"S":"q"}},"SizeEstimateRangeGB":[0.0,1.0]}]}`
	)
	api := recordedTables(t)
	for _, step := range []struct{ op, body, want string }{
		{"PutItem", `{"TableName":"range","Item":{"a":{"S":"p"},"b":{"S":"1"},"c":{"S":"x"}},` + ask + `}`,
			`{"ConsumedCapacity":{"CapacityUnits":3.0,"TableName":"range","Table":{"CapacityUnits":1.0},"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1.0}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1.0}}},` + collection + `}`},
		{"UpdateItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/range","Key":{"a":{"S":"p"},"b":{"S":"1"}},"UpdateExpression":"REMOVE c",` +
			`"ReturnValues":"ALL_NEW",` + ask + `}`,
			`{"Attributes":{"a":{"S":"p"},"b":{"S":"1"}},"ConsumedCapacity":{"CapacityUnits":3.0,"TableName":"range","Table":{"CapacityUnits":1.0},` +
				`"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1.0}},"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1.0}}},` + collection + `}`},
		{"DeleteItem", `{"TableName":"range","Key":{"a":{"S":"p"},"b":{"S":"1"}},` + ask + `}`,
			`{"ConsumedCapacity":{"CapacityUnits":1.0,"TableName":"range","Table":{"CapacityUnits":1.0}},` + collection + `}`},
		{"PutItem", `{"TableName":"hash","Item":{"a":{"S":"p"}},"ReturnItemCollectionMetrics":"SIZE"}`, `{}`},
		{"BatchWriteItem", `{"RequestItems":{"range":[{"PutRequest":{"Item":{"a":{"S":"q"},"b":{"S":"1"}}}},{"DeleteRequest":{"Key":{"a":{"S":"p"},"b":{"S":"1"}}}},` +
			`{"PutRequest":{"Item":{"a":{"S":"q"},"b":{"S":"2"},"c":{"S":"x"}}}}],"hash":[{"DeleteRequest":{"Key":{"a":{"S":"p"}}}}]},` + ask + `}`,
			`{"UnprocessedItems":{},"ConsumedCapacity":[{"CapacityUnits":1.0,"TableName":"hash","Table":{"CapacityUnits":1.0}},` +
				`{"CapacityUnits":5.0,"TableName":"range","Table":{"CapacityUnits":3.0},"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1.0}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1.0}}}],` + two + `}`},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"range","Item":{"a":{"S":"q"},"b":{"S":"3"}}}},` +
			`{"Update":{"TableName":"range","Key":{"a":{"S":"q"},"b":{"S":"2"}},"UpdateExpression":"SET c = :c","ExpressionAttributeValues":{":c":{"S":"y"}}}},` +
			`{"ConditionCheck":{"TableName":"range","Key":{"a":{"S":"p"},"b":{"S":"2"}},"ConditionExpression":"attribute_not_exists(a)"}}],"ClientRequestToken":"t",` + ask + `}`,
			`{"ConsumedCapacity":[{"CapacityUnits":14.0,"WriteCapacityUnits":14.0,"TableName":"range","Table":{"CapacityUnits":6.0,"WriteCapacityUnits":6.0},` +
				`"LocalSecondaryIndexes":{"index1":{"CapacityUnits":4.0,"WriteCapacityUnits":4.0}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":4.0,"WriteCapacityUnits":4.0}}}],` + two + `}`},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"range","Item":{"a":{"S":"q"},"b":{"S":"3"}}}},` +
			`{"Update":{"TableName":"range","Key":{"a":{"S":"q"},"b":{"S":"2"}},"UpdateExpression":"SET c = :c","ExpressionAttributeValues":{":c":{"S":"y"}}}},` +
			`{"ConditionCheck":{"TableName":"range","Key":{"a":{"S":"p"},"b":{"S":"2"}},"ConditionExpression":"attribute_not_exists(a)"}}],"ClientRequestToken":"t",` + ask + `}`,
			`{"ConsumedCapacity":[{"CapacityUnits":6.0,"ReadCapacityUnits":6.0,"TableName":"range","Table":{"CapacityUnits":6.0,"ReadCapacityUnits":6.0}}]}`},
	} {
		if got := do(t, api, step.op, step.body); !answers(t, got, step.want) {
			t.Errorf("%s %s\n got %s\nwant %s", step.op, step.body, got, step.want)
		}
	}
}

// TestTransactWrites: refusals, cancellations with their reasons, and effects of transactions.
func TestTransactWrites(t *testing.T) {
	runRecorded(t, recordedTables(t), "testdata/transact_writes.txt")
}

// TestLegacyParameters: legacy parameters have the same meaning and refusals as in DynamoDB Local.
func TestLegacyParameters(t *testing.T) {
	runRecorded(t, recordedTables(t), "testdata/legacy.txt")
}

// TestLegacyLimits: legacy parameters have limits of their own, not those of expressions.
func TestLegacyLimits(t *testing.T) {
	api := recordedTables(t)
	const many = 600
	var updates, expected []string
	for i := range many {
		updates = append(updates, fmt.Sprintf(`"attribute%d":{"Action":"PUT","Value":{"N":"%d"}}`, i, i))
		expected = append(expected, fmt.Sprintf(`"attribute%d":{"Value":{"N":"%d"}}`, i, i))
	}
	values := make([]string, 27_500)
	for i := range values {
		values[i] = fmt.Sprintf(`{"N":"%d"}`, i)
	}
	in := `{"attribute7":{"ComparisonOperator":"IN","AttributeValueList":[` + strings.Join(values, ",") + `]}}`
	for _, step := range []struct{ op, body, want string }{
		{"UpdateItem", `{"TableName":"hash","Key":{"a":{"S":"x"}},"AttributeUpdates":{` + strings.Join(updates, ",") + `}}`, `{}`},
		{"UpdateItem", `{"TableName":"hash","Key":{"a":{"S":"x"}},"AttributeUpdates":{"z":{"Value":{"S":"1"}}},"Expected":{` + strings.Join(expected, ",") + `}}`, `{}`},
		{"DeleteItem", `{"TableName":"hash","Key":{"a":{"S":"x"}},"Expected":{` + strings.Join(expected, ",") + `,"y":{"Value":{"S":"1"}}}}`, "ConditionalCheckFailedException"},
		{"Scan", `{"TableName":"hash","Select":"COUNT","ScanFilter":` + in + `}`, `{"Count":1,"ScannedCount":1}`},
		{"Query", `{"TableName":"hash","Select":"COUNT","KeyConditions":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}},"QueryFilter":` + in + `}`,
			`{"Count":1,"ScannedCount":1}`},
	} {
		if got := do(t, api, step.op, step.body); !strings.Contains(got, step.want) {
			t.Errorf("%s %s:\ngot  %s\nwant %s", step.op, short(step.body), short(got), step.want)
		}
	}
}

// TestPagesOfOneMegabyte: a page ends with the item that completes 1 MB, whatever the filter leaves of it.
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
		// the index projects little: it does not fill a page
		{"Query", `"IndexName":"index2","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"p"}},"Select":"COUNT","ReturnConsumedCapacity":"INDEXES"`,
			`{"Count":5,"ScannedCount":5,"ConsumedCapacity":{"CapacityUnits":0.5,"TableName":"range","Table":{"CapacityUnits":0},` +
				`"LocalSecondaryIndexes":{"index2":{"CapacityUnits":0.5}}}}`},
		// what it does not project is fetched item by item: 74 units and the index
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

// TestSegmentsReadAll: each item is in one segment, and the pages of a segment reach its end.
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

// TestTransactionsReadByTable: a transactional read costs double, counted per table.
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

// An index with several attributes per key part is added to a table with items. The answers were recorded from the service (2026) and
// from DynamoDB Local 3.3.1.
func TestMultiKeyIndex(t *testing.T) {
	a, s := managed(t, time.Now)
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	for _, it := range []string{
		`"a":{"S":"1"},"h1":{"S":"x"},"h2":{"N":"1"},"r1":{"S":"m"},"r2":{"S":"b"}`,
		`"a":{"S":"2"},"h1":{"S":"x"},"h2":{"N":"1"},"r1":{"S":"m"},"r2":{"S":"a"}`,
		`"a":{"S":"3"},"h1":{"S":"x"},"h2":{"N":"1"},"r1":{"S":"l"},"r2":{"S":"z"}`,
		`"a":{"S":"4"},"h1":{"S":"x"},"h2":{"N":"1"},"r1":{"S":"m"}`,
		`"a":{"S":"5"},"h1":{"S":"x"},"h2":{"S":"1"},"r1":{"S":"m"},"r2":{"S":"a"}`,
	} {
		accepted(t, a, "PutItem", `{"TableName":"tab","Item":{`+it+`}}`)
	}
	const definitions = `"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"h1","AttributeType":"S"},
		{"AttributeName":"h2","AttributeType":"N"},{"AttributeName":"r1","AttributeType":"S"},{"AttributeName":"r2","AttributeType":"S"}]`
	create := func(key string) string {
		return `{"TableName":"tab",` + definitions + `,"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"many","KeySchema":[` + key +
			`],"Projection":{"ProjectionType":"ALL"}}}]}`
	}
	const key = `{"AttributeName":"h1","KeyType":"HASH"},{"AttributeName":"h2","KeyType":"HASH"},` +
		`{"AttributeName":"r1","KeyType":"RANGE"},{"AttributeName":"r2","KeyType":"RANGE"}`
	refuse := func(operation, body, want string) {
		t.Helper()
		if got, err := a.Do(t.Context(), operation, []byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %s, %v; want %s", operation, body, got, err, want)
		}
	}
	refuse("UpdateTable", create(strings.ReplaceAll(key, "RANGE", "HASH")+`,{"AttributeName":"a","KeyType":"HASH"}`),
		"The KeySchema exceeds the maximum allowed number of HASH key attributes")
	accepted(t, a, "UpdateTable", create(key))
	for more := true; more; {
		var err error
		if more, err = s.Housekeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := at(t, accepted(t, a, "DescribeTable", `{"TableName":"tab"}`), "Table", "GlobalSecondaryIndexes", 0, "KeySchema"); got != "["+key+"]" {
		t.Errorf("described as %s", got)
	}
	query := func(condition, values string) string {
		return `{"TableName":"tab","IndexName":"many","KeyConditionExpression":"` + condition + `","ExpressionAttributeValues":{` + values + `},"ProjectionExpression":"a"}`
	}
	const h, r, v = `":x":{"S":"x"},":n":{"N":"1"}`, `":m":{"S":"m"}`, `":v":{"S":"a"}`
	for _, c := range []struct{ condition, values, want string }{
		{"h1 = :x AND h2 = :n", h, `[{"a":{"S":"3"}},{"a":{"S":"2"}},{"a":{"S":"1"}}]`},
		{"h2 = :n AND r1 = :m AND h1 = :x", h + "," + r, `[{"a":{"S":"2"}},{"a":{"S":"1"}}]`},
		{"h1 = :x AND h2 = :n AND r1 = :m AND r2 > :v", h + "," + r + "," + v, `[{"a":{"S":"1"}}]`},
	} {
		if got := at(t, accepted(t, a, "Query", query(c.condition, c.values)), "Items"); got != c.want {
			t.Errorf("%s: %s, want %s", c.condition, got, c.want)
		}
	}
	refuse("Query", query("h1 = :x", `":x":{"S":"x"}`), "HASH key attributes h2 must have equality conditions specified in the query")
	refuse("Query", query("h1 = :x AND h2 > :n", h), "HASH key attributes h2 must have equality conditions specified in the query")
	refuse("Query", query("h1 = :x AND h2 = :n AND r2 = :m", h+","+r), "RANGE key attributes r1 must have equality conditions specified "+
		"in the query because a condition is present on key attribute r2")
	refuse("Query", query("h1 = :x AND h2 = :n AND r1 > :m AND r2 = :v", h+","+r+","+v), "RANGE key attributes r1 must have equality conditions")
	refuse("Query", query("h1 = :x AND h2 = :n AND b = :m", h+","+r), "Query condition missed key schema element: r1")
	refuse("PutItem", `{"TableName":"tab","Item":{"a":{"S":"6"},"h2":{"S":"text"}}}`, "Type mismatch for Index Key h2 Expected: N Actual: S IndexName: many")

	page := accepted(t, a, "Query", strings.Replace(query("h1 = :x AND h2 = :n", h), `{"TableName"`, `{"Limit":1,"TableName"`, 1))
	const last = `{"a":{"S":"3"},"h1":{"S":"x"},"h2":{"N":"1"},"r1":{"S":"l"},"r2":{"S":"z"}}`
	if got := at(t, page, "LastEvaluatedKey"); got != last {
		t.Errorf("the page ends with %s", got)
	}
	conditions := `{"TableName":"tab","IndexName":"many","Select":"COUNT","KeyConditions":{
		"h1":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]},"h2":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"1"}]},
		"r1":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"m"}]},"r2":{"ComparisonOperator":"GT","AttributeValueList":[{"S":"a"}]}}}`
	if got := at(t, accepted(t, a, "Query", conditions), "Count"); got != "1" {
		t.Errorf("KeyConditions find %s", got)
	}
	refuse("Query", strings.Replace(conditions, `"r1":`, `"zz":`, 1), "RANGE key attributes r1 must have equality conditions")

	const refused = "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
	refuse("ExecuteStatement", `{"Statement":"SELECT * FROM \"tab\".\"many\" WHERE h1 = 'x'"}`, refused)
	refuse("ExecuteStatement", `{"Statement":"SELECT * FROM \"tab\".\"many\" WHERE h1 = 5 ORDER BY r1"}`, refused)
	batch := accepted(t, a, "BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM \"tab\".\"many\" WHERE h1 = 'x'"}]}`)
	if got := at(t, batch, "Responses", 0, "Error", "Message"); got != `"`+refused+`"` {
		t.Errorf("in a batch: %s", batch)
	}
	if got := at(t, accepted(t, a, "ExecuteStatement", `{"Statement":"SELECT r2 FROM \"tab\" WHERE a = '1'"}`), "Items", 0, "r2", "S"); got != `"b"` {
		t.Errorf("the table itself gives %s", got)
	}
}

package dynamoapi_test

import (
	"strings"
	"testing"
	"time"
)

// An index whose key has parts of several attributes comes to a table that has items. What is answered was recorded from
// the service (2026) and from DynamoDB Local 3.3.1.
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

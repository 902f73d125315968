package dynamoapi_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// Of the node's own bookkeeping no operation shows or changes anything: the answer is that of a table that is not there.
func TestInternalTables(t *testing.T) {
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	if err := s.CreateTable(t.Context(), store.TableSpec{Name: "own", Key: key, Policy: store.PolicyLocal, Why: "a test's", Internal: true}); err != nil {
		t.Fatal(err)
	}
	put := func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "own", Item: attr.Item{"pk": attr.S("a"), "secret": attr.S("s")}})
		return err
	}
	if err := s.Update(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	a := dynamoapi.New(dynamoapi.Config{Store: s})
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/own"
	for _, table := range []string{"own", arn} {
		for operation, request := range map[string]string{
			"GetItem":            `{"TableName":"own","Key":{"pk":{"S":"a"}},"ReturnConsumedCapacity":"TOTAL"}`,
			"PutItem":            `{"TableName":"own","Item":{"pk":{"S":"a"}}}`,
			"UpdateItem":         `{"TableName":"own","Key":{"pk":{"S":"a"}}}`,
			"DeleteItem":         `{"TableName":"own","Key":{"pk":{"S":"a"}},"ReturnValues":"ALL_OLD"}`,
			"Query":              `{"TableName":"own","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}}`,
			"Scan":               `{"TableName":"own"}`,
			"BatchGetItem":       `{"RequestItems":{"own":{"Keys":[{"pk":{"S":"a"}}]}}}`,
			"BatchWriteItem":     `{"RequestItems":{"own":[{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}`,
			"TransactGetItems":   `{"TransactItems":[{"Get":{"TableName":"own","Key":{"pk":{"S":"a"}}}}]}`,
			"TransactWriteItems": `{"TransactItems":[{"Delete":{"TableName":"own","Key":{"pk":{"S":"a"}}}}]}`,
			"DescribeTable":      `{"TableName":"own"}`,
			"DeleteTable":        `{"TableName":"own"}`,
			"UpdateTable":        `{"TableName":"own","BillingMode":"PAY_PER_REQUEST"}`,
			"DescribeTimeToLive": `{"TableName":"own"}`,
			"UpdateTimeToLive":   `{"TableName":"own","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`,
			"ExecuteStatement":   `{"Statement":"SELECT * FROM \"own\""}`,
			"ExecuteTransaction": `{"TransactStatements":[{"Statement":"DELETE FROM \"own\" WHERE pk = 'a'"}]}`,
			"ListTagsOfResource": `{"ResourceArn":"` + arn + `"}`,
		} {
			if table != "own" && strings.HasPrefix(operation, "Execute") {
				continue // statements have names only
			}
			request := strings.ReplaceAll(request, `"own"`, `"`+table+`"`)
			got := do(t, a, operation, request)
			gone := do(t, a, operation, strings.ReplaceAll(request, "own", "gone"))
			refused := strings.Contains(got, "ResourceNotFound") || operation == "ListTagsOfResource" && strings.Contains(got, "AccessDenied")
			if !refused || got != strings.ReplaceAll(gone, "gone", "own") {
				t.Errorf("%s %s: %s, of a table that is not there: %s", operation, table, got, gone)
			}
		}
	}
	for operation, want := range map[string]string{"ListTables": `{"TableNames":[]}`, "ListStreams": `{"Streams":[]}`} {
		if got := do(t, a, operation, `{}`); got != want {
			t.Errorf("%s: %s", operation, got)
		}
	}
	if n, err := s.Count(t.Context(), "own"); err != nil || n.Items != 1 {
		t.Errorf("%+v, %v", n, err)
	}
}

package dynamoapi_test

import (
	"errors"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// open makes an API over a store that has a table "tab" of pk and sk.
func open(t testing.TB) *dynamoapi.API {
	t.Helper()
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString}}
	if err := s.CreateTable(t.Context(), store.TableSpec{Name: "tab", Key: key, Policy: store.PolicyLocal, Why: "a test's"}); err != nil {
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

package dynamoapi_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// Of a table that a node works with the indexes that are declared stay, and those that a client has added may go.
func TestOwnedIndexesStay(t *testing.T) {
	s := storetest.Open(t)
	attr := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	spec := store.TableSpec{
		Name: "owned", Key: store.KeySpec{Partition: attr("id")}, Policy: store.PolicyLocal, Why: "a test's",
		Indexes: []store.IndexSpec{{Name: "declared", Key: store.KeySpec{Partition: attr("team")}}},
	}
	if err := s.Define(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	a := dynamoapi.New(dynamoapi.Config{Store: s, Owned: []store.TableSpec{spec}})
	accepted(t, a, "UpdateTable", `{"TableName":"owned","BillingMode":"PAY_PER_REQUEST"}`)
	accepted(t, a, "UpdateTable", `{"TableName":"owned","AttributeDefinitions":[{"AttributeName":"city","AttributeType":"S"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"added","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],
		"Projection":{"ProjectionType":"ALL"}}}]}`)
	const drop = `{"TableName":"owned","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"NAME"}}]}`
	if got := do(t, a, "UpdateTable", strings.ReplaceAll(drop, "NAME", "declared")); !strings.Contains(got, "index declared stays") {
		t.Errorf("declared: %s", got)
	}
	accepted(t, a, "UpdateTable", strings.ReplaceAll(drop, "NAME", "added"))
	d, err := s.Describe("owned")
	if err != nil || len(d.Spec.Indexes) != 1 || d.Spec.Indexes[0].Name != "declared" {
		t.Errorf("%+v, %v", d.Spec.Indexes, err)
	}
}

// Where there is no node, a name of its kind is free, unless the file has a table of that name that nobody is shown.
func TestReservedNamesWithoutANode(t *testing.T) {
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	hidden := store.TableSpec{Name: "touchline-keys", Key: key, Policy: store.PolicyLocal, Why: "a test's", Internal: true}
	if err := s.CreateTable(t.Context(), hidden); err != nil {
		t.Fatal(err)
	}
	a := dynamoapi.New(dynamoapi.Config{Store: s})
	if got := do(t, a, "CreateTable", `{"TableName":"touchline-keys","BillingMode":"PAY_PER_REQUEST",`+simple+`}`); !strings.Contains(got, "reserved") {
		t.Errorf("hidden: %s", got)
	}
	accepted(t, a, "CreateTable", `{"TableName":"touchline-sync","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
}

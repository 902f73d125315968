package dynamo

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/touchline/touchline/store"
)

// An index with several attributes per key part is declared in their order, with the table and separately, and read back unchanged.
func TestMultiAttributeIndex(t *testing.T) {
	attrs := func(names ...string) (out []store.KeyAttr) {
		for _, name := range names {
			kind := store.KeyString
			if name == "r1" {
				kind = store.KeyNumber
			}
			out = append(out, store.KeyAttr{Name: name, Type: kind})
		}
		return out
	}
	many := store.IndexSpec{
		Name: "many", Key: store.NewKeySpec(attrs("h2", "pk", "h1"), attrs("r2", "r1")), Projection: store.ProjectInclude, Include: []string{"v"},
	}
	table := spec("events")
	table.Indexes = []store.IndexSpec{many}
	const keySchema = `[{"AttributeName":"h2","KeyType":"HASH"},{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"h1","KeyType":"HASH"},` +
		`{"AttributeName":"r2","KeyType":"RANGE"},{"AttributeName":"r1","KeyType":"RANGE"}]`

	made := map[string]any{"TableName": "t-events", "TableStatus": "ACTIVE", "BillingModeSummary": map[string]any{"BillingMode": "PAY_PER_REQUEST"}}
	index := map[string]any{"IndexStatus": "ACTIVE"}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		var asked map[string]any
		switch operation(r) {
		case "CreateTable":
			made["KeySchema"], made["AttributeDefinitions"] = in["KeySchema"], in["AttributeDefinitions"]
			asked, _ = in["GlobalSecondaryIndexes"].([]any)[0].(map[string]any)
		case "UpdateTable":
			update, _ := in["GlobalSecondaryIndexUpdates"].([]any)[0].(map[string]any)
			asked, _ = update["Create"].(map[string]any)
			if defs, _ := in["AttributeDefinitions"].([]any); len(defs) != 5 {
				t.Errorf("the attributes of a new index: %v", defs)
			}
		}
		if asked != nil {
			index["IndexName"], index["KeySchema"], index["Projection"] = asked["IndexName"], asked["KeySchema"], asked["Projection"]
			if got, err := json.Marshal(asked["KeySchema"]); err != nil || string(got) != keySchema {
				t.Errorf("%s: %s, %v", operation(r), got, err)
			}
		}
		made["GlobalSecondaryIndexes"] = []any{index}
		name := map[string]string{"DescribeTable": "Table"}[operation(r)]
		if name == "" {
			name = "TableDescription"
		}
		body, err := json.Marshal(map[string]any{name: made})
		if err != nil {
			t.Error(err)
		}
		amazon(200, string(body))(w, r)
	})
	c := client(t, s.URL)
	for i, declare := range []func() error{
		func() error { return c.Create(t.Context(), table, false) },
		func() error { return c.AddIndex(t.Context(), table, many) },
	} {
		if err := declare(); err != nil {
			t.Fatal(i, err)
		}
		got, ok, err := c.Describe(t.Context(), "events")
		if err != nil || !ok || !reflect.DeepEqual(got.TableSpec, table) {
			t.Errorf("%d: %+v, %v, %v", i, got.TableSpec, ok, err)
		}
	}
}

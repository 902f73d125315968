package store_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// Of several faults the service reports first those of the request alone, then a missing table, then what does not fit the table (like
// dynalite, whose order was recorded from the service; DynamoDB Local looks for the table first).
func TestWhichFaultIsNamed(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	huge := storetest.Ball("a", 1, "text", strings.Repeat("x", attr.MaxItemSize))
	hugeWrongKey := storetest.Item("match", 1, "text", strings.Repeat("x", attr.MaxItemSize))
	wrongKey := storetest.Item("match", 1)
	v := storetest.Values(":v", "a")
	const noTable, tooLarge, syntax = "Table: none not found", "Item size has exceeded", "Syntax error"
	query := func(q store.Query) func(*store.Tx) error {
		return func(tx *store.Tx) error { _, err := tx.Query(q); return err }
	}
	scan := func(q store.Scan) func(*store.Tx) error {
		return func(tx *store.Tx) error { _, err := tx.Scan(q); return err }
	}
	putItem := func(p store.PutItem) func(*store.Tx) error {
		return func(tx *store.Tx) error { _, err := tx.Put(p); return err }
	}
	for _, c := range []struct {
		name string
		do   func(*store.Tx) error
		want string
	}{
		{"put: too large, expression, table", putItem(store.PutItem{Table: "none", Item: huge, Condition: "a ="}), tooLarge},
		{"put: expression, table", putItem(store.PutItem{Table: "none", Item: wrongKey, Condition: "a ="}), syntax},
		{"put: values, table", putItem(store.PutItem{Table: "none", Item: wrongKey, Condition: "a = :v"}), "attribute value: :v"},
		{"put: table", putItem(store.PutItem{Table: "none", Item: wrongKey}), noTable},
		{"put: expression, key", putItem(store.PutItem{Table: "balls", Item: wrongKey, Condition: "a ="}), syntax},
		{"put: too large, key", putItem(store.PutItem{Table: "balls", Item: hugeWrongKey}), tooLarge},
		{"put: key", putItem(store.PutItem{Table: "balls", Item: wrongKey}), "Type mismatch for key match"},
		{"update: expression, table", func(tx *store.Tx) error {
			_, err := tx.Update(store.UpdateItem{Table: "none", Key: wrongKey, Update: "SET a"})
			return err
		}, syntax},
		{"update: key, attribute of the key", func(tx *store.Tx) error {
			_, err := tx.Update(store.UpdateItem{Table: "balls", Key: wrongKey, Update: "SET ball = :v", Params: v})
			return err
		}, "does not match the schema"},
		{"delete: expression, table", func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "none", Key: wrongKey, Condition: "a ="})
			return err
		}, syntax},
		{"get: projection, table", func(tx *store.Tx) error {
			_, err := tx.GetItem(store.GetItem{Table: "none", Key: wrongKey, Projection: "a,,b"})
			return err
		}, syntax},
		{"transact: expression, table", func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
				{Put: &store.PutItem{Table: "none", Item: wrongKey}},
				{Delete: &store.DeleteItem{Table: "balls", Key: wrongKey, Condition: "a ="}},
			}})
		}, syntax},
		{"batch get: projection, table", func(tx *store.Tx) error {
			_, err := tx.BatchGet(store.BatchGet{
				"none": {Keys: []attr.Item{wrongKey}}, "balls": {Keys: []attr.Item{wrongKey}, Projection: "a,,"},
			})
			return err
		}, syntax},
		{"batch get: twice, table", func(tx *store.Tx) error {
			_, err := tx.BatchGet(store.BatchGet{"none": {Keys: []attr.Item{storetest.Item("p", 1), storetest.Item("p", 1)}}})
			return err
		}, "contains duplicates"},
		{"batch get: table", func(tx *store.Tx) error {
			_, err := tx.BatchGet(store.BatchGet{"none": {Keys: []attr.Item{storetest.Item("p", 1), storetest.Item("p", 2)}}})
			return err
		}, noTable},
		{"batch write: too large, table", func(tx *store.Tx) error {
			return tx.BatchWrite(store.BatchWrite{"balls": {{Put: huge}}, "none": {{Put: wrongKey}}})
		}, tooLarge},
		{"query: no key condition, table", query(store.Query{Table: "none"}), "must be specified"},
		{"query: key condition, table", query(store.Query{Table: "none", KeyCondition: "match ="}), syntax},
		{
			"query: operator, table", query(store.Query{Table: "none", KeyCondition: "a <> :v", Params: v}),
			"Invalid operator used in KeyConditionExpression",
		},
		{
			"query: three conditions, table",
			query(store.Query{Table: "none", KeyCondition: "a = :v AND b = :v AND c = :v", Params: v}), "conditions (3) exceeds",
		},
		{"query: table, key", query(store.Query{Table: "none", KeyCondition: "a > :v", Params: v}), noTable},
		{"query: filter, table", query(store.Query{Table: "none", KeyCondition: "a = :v", Filter: "a", Params: v}), syntax},
		{
			"query: unused, index", query(store.Query{Table: "balls", Index: "none", KeyCondition: "a = :v", Params: storetest.Values(":v", "a", ":w", "b")}),
			"unused in expressions: keys: {:w}",
		},
		{
			"query: select, index",
			query(store.Query{Table: "balls", Index: "none", KeyCondition: "a = :v", Params: v, Select: store.SelectSpecific}),
			"Must specify the AttributesToGet or ProjectionExpression",
		},
		{
			"query: index, key",
			query(store.Query{Table: "balls", Index: "none", KeyCondition: "a = :v", Params: v}), "does not have the specified index",
		},
		{"scan: segment, filter, table", scan(store.Scan{Table: "none", Segment: 5, TotalSegments: 2, Filter: "a"}), "segment 5 of 2"},
		{"scan: filter, table", scan(store.Scan{Table: "none", Filter: "a"}), syntax},
		{"scan: select, table", scan(store.Scan{Table: "none", Select: store.SelectProjected}), "ALL_PROJECTED_ATTRIBUTES can be used only"},
		{"scan: table", scan(store.Scan{Table: "none", StartKey: wrongKey}), noTable},
		{
			"scan: values, index",
			scan(store.Scan{Table: "balls", Index: "none", Filter: "a = :v", Params: expr.Params{}}), "attribute value: :v",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := s.Update(t.Context(), c.do)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

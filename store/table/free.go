package table

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Same returns the condition that the named attributes of a row are unchanged since it was read or, for a nil row, that there still is no
// row. partition is the name of the key's first attribute.
func Same(row attr.Item, partition string, names ...string) If {
	if row == nil {
		return If{Condition: "attribute_not_exists(" + partition + ")"}
	}
	only := If{"attribute_exists(" + partition + ")", attr.Item{}}
	for _, name := range names {
		if v, ok := row[name]; ok {
			only.Condition += " AND #" + name + " = :was_" + name
			only.Values[":was_"+name] = v
		} else {
			only.Condition += " AND attribute_not_exists(#" + name + ")"
		}
	}
	return only
}

// Put writes a whole row.
func Put(table string, row attr.Item, only If) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{Table: table, Item: row, Condition: only.Condition, Params: only.params(only.Condition), NoOld: true}}
}

// Update changes a row with an update expression.
func Update(table string, key attr.Item, update string, only If) store.WriteItem {
	return store.WriteItem{Update: &store.UpdateItem{
		Table: table, Key: key, Update: update, Condition: only.Condition, Params: only.params(update + only.Condition),
	}}
}

// Delete removes a row.
func Delete(table string, key attr.Item, only If) store.WriteItem {
	return store.WriteItem{Delete: &store.DeleteItem{Table: table, Key: key, Condition: only.Condition, Params: only.params(only.Condition), NoOld: true}}
}

// Check makes the transaction depend on a row that it does not change.
func Check(table string, key attr.Item, only If) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{Table: table, Key: key, Condition: only.Condition, Params: only.params(only.Condition)}}
}

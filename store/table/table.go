// Package table provides short forms for an application's operations on its table: the actions of a transaction, under conditions that
// the cloud judges again, and reading rows.
package table

import (
	"regexp"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// If is the condition of an action; the zero value means none. In the condition and the update, a name with # is the attribute of that
// name, even if it is a reserved word: "#state" is state.
type If struct {
	Condition string
	Values    attr.Item // of the condition, and of the update it goes with
}

// IfTrue returns a condition with its values.
func IfTrue(condition string, values attr.Item) If { return If{condition, values} }

var ownName = regexp.MustCompile(`#[A-Za-z_]+`)

// params returns the values, and the names used in a text.
func (c If) params(text string) expr.Params {
	p := expr.Params{Values: c.Values}
	for _, name := range ownName.FindAllString(text, -1) {
		if p.Names == nil {
			p.Names = map[string]string{}
		}
		p.Names[name] = name[1:]
	}
	return p
}

// Handle is a table whose key is two strings, in the attributes PK and SK.
type Handle struct {
	Table, PK, SK string
	index         string
}

// ByIndex returns the table by the key of an index.
func (h Handle) ByIndex(index, pk, sk string) Handle { return Handle{h.Table, pk, sk, index} }

// QueryUnder returns the query of the rows of a partition whose sort keys have a prefix.
func (h Handle) QueryUnder(pk, prefix string) store.Query {
	q := store.Query{Table: h.Table, Index: h.index, KeyCondition: h.PK + " = :pk", Params: expr.Params{Values: attr.Item{":pk": attr.S(pk)}}}
	if prefix != "" {
		q.KeyCondition += " AND begins_with(" + h.SK + ", :sk)"
		q.Values[":sk"] = attr.S(prefix)
	}
	return q
}

// ScanWith returns the scan of the rows with a sort key, in all partitions whose keys have a prefix.
func (h Handle) ScanWith(sk, prefix string) store.Scan {
	return store.Scan{Table: h.Table, Prefix: prefix, Filter: h.SK + " = :sk", Params: expr.Params{Values: attr.Item{":sk": attr.S(sk)}}}
}

// IfSame returns the condition that the named attributes of a row are unchanged since it was read or, for a nil row, that there still is no
// row.
func (h Handle) IfSame(row attr.Item, names ...string) If {
	if row == nil {
		return If{Condition: "attribute_not_exists(" + h.PK + ")"}
	}
	only := If{"attribute_exists(" + h.PK + ")", attr.Item{}}
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

// KeyOf returns the key of a row.
func (h Handle) KeyOf(row attr.Item) attr.Item { return attr.Item{h.PK: row[h.PK], h.SK: row[h.SK]} }

// Create writes a new row. It is refused if the row exists.
func (h Handle) Create(row attr.Item) store.WriteItem { return h.Replace(row, nil) }

// Replace writes a row over was, if the named attributes of that are unchanged since it was read.
func (h Handle) Replace(row, was attr.Item, names ...string) store.WriteItem {
	return h.Put(row, h.IfSame(was, names...))
}

// Put writes a whole row.
func (h Handle) Put(row attr.Item, only If) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{Table: h.Table, Item: row, Condition: only.Condition, Params: only.params(only.Condition), NoOld: true}}
}

// Update changes a row with an update expression.
func (h Handle) Update(key attr.Item, update string, only If) store.WriteItem {
	return store.WriteItem{Update: &store.UpdateItem{
		Table: h.Table, Key: key, Update: update, Condition: only.Condition, Params: only.params(update + only.Condition),
	}}
}

// Delete removes a row.
func (h Handle) Delete(key attr.Item, only If) store.WriteItem {
	return store.WriteItem{Delete: &store.DeleteItem{Table: h.Table, Key: key, Condition: only.Condition, Params: only.params(only.Condition), NoOld: true}}
}

// Remove removes a row if its named attributes are unchanged since it was read.
func (h Handle) Remove(was attr.Item, names ...string) store.WriteItem {
	return h.Delete(h.KeyOf(was), h.IfSame(was, names...))
}

// Drop removes a row, given the row or its key, unconditionally.
func (h Handle) Drop(row attr.Item) store.WriteItem { return h.Delete(h.KeyOf(row), If{}) }

// Check makes the transaction depend on a row that it does not change.
func (h Handle) Check(key attr.Item, only If) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{Table: h.Table, Key: key, Condition: only.Condition, Params: only.params(only.Condition)}}
}

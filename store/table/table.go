// Package table provides short forms for an application's operations on its table: the actions of a transaction, under conditions that
// the cloud judges again, and reading many rows.
package table

import (
	"iter"
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

// When returns a condition with its values.
func When(condition string, values attr.Item) If { return If{condition, values} }

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

// Collect returns the results of take for all rows for which it reports ok. The first error ends it. The list is never nil.
func Collect[T any](rows iter.Seq2[attr.Item, error], take func(row attr.Item) (result T, ok bool, err error)) ([]T, error) {
	all := []T{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		result, ok, err := take(row)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, result)
		}
	}
	return all, nil
}

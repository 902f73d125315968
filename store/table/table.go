// Package table says in a line each what the rules of an application do with the rows of their table: the actions of a transaction, under
// conditions that the cloud judges again, and the reading of many rows.
package table

import (
	"iter"
	"regexp"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// If is what must hold for an action to be done; the zero value: nothing. A name with a # in it, or in the update that it goes with, is
// that of an attribute, also one whose name is a reserved word: "#state" is state.
type If struct {
	Condition string
	Values    attr.Item // of the condition, and of the update that it goes with
}

// When is a condition with its values.
func When(condition string, values attr.Item) If { return If{condition, values} }

// Same holds where a row still has what it had of some attributes when it was read; nil: where there still is no row. partition is the
// name of the key's first attribute.
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

// params are the values, and the names that a text has.
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

// Update changes a row by an update expression.
func Update(table string, key attr.Item, update string, only If) store.WriteItem {
	return store.WriteItem{Update: &store.UpdateItem{
		Table: table, Key: key, Update: update, Condition: only.Condition, Params: only.params(update + only.Condition),
	}}
}

// Delete removes a row.
func Delete(table string, key attr.Item, only If) store.WriteItem {
	return store.WriteItem{Delete: &store.DeleteItem{Table: table, Key: key, Condition: only.Condition, Params: only.params(only.Condition), NoOld: true}}
}

// Check has the transaction stand or fall with a row that it does not change.
func Check(table string, key attr.Item, only If) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{Table: table, Key: key, Condition: only.Condition, Params: only.params(only.Condition)}}
}

// Collect reads what take makes of rows, and leaves out those of which it makes nothing. The first error ends it. The list is never nil.
func Collect[T any](rows iter.Seq2[attr.Item, error], take func(row attr.Item) (one T, ok bool, err error)) ([]T, error) {
	all := []T{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		one, ok, err := take(row)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, one)
		}
	}
	return all, nil
}

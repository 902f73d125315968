package pickem

import (
	"maps"
	"regexp"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

const (
	exists = "attribute_exists(PK)"
	absent = "attribute_not_exists(PK)"
)

var ownName = regexp.MustCompile(`#[a-z]+`)

// update is a change of a row where a condition holds. A name with a # is its attribute's own: "#state" is state.
func (s *Service) update(k attr.Item, update, condition string, values attr.Item) store.WriteItem {
	p := expr.Params{Names: map[string]string{}, Values: values}
	for _, name := range ownName.FindAllString(update+condition, -1) {
		p.Names[name] = name[1:]
	}
	return store.WriteItem{Update: &store.UpdateItem{Table: s.Table, Key: k, Update: update, Condition: condition, Params: p}}
}

// asRead has a write hold only if a row has what it had when it was read; nil: if there still is none.
func asRead(it attr.Item, names ...string) (condition string, p expr.Params) {
	if it == nil {
		return absent, p
	}
	condition, p = exists, expr.Params{Names: map[string]string{}, Values: attr.Item{}}
	for _, name := range names {
		p.Names["#"+name] = name
		if v, ok := it[name]; ok {
			condition += " AND #" + name + " = :was_" + name
			p.Values[":was_"+name] = v
		} else {
			condition += " AND attribute_not_exists(#" + name + ")"
		}
	}
	return condition, p
}

// since updates a row that still has what it had of some names when it was read.
func (s *Service) since(tx *store.Tx, was attr.Item, names []string, update string, values attr.Item) error {
	u := store.UpdateItem{Table: s.Table, Key: key(was["PK"].Str(), was["SK"].Str()), Update: update}
	u.Condition, u.Params = asRead(was, names...)
	maps.Copy(u.Values, values)
	_, err := tx.Update(u)
	return err
}

// remove takes away a row that still has what it had of some names when it was read.
func (s *Service) remove(was attr.Item, names ...string) store.WriteItem {
	d := &store.DeleteItem{Table: s.Table, Key: key(was["PK"].Str(), was["SK"].Str())}
	d.Condition, d.Params = asRead(was, names...)
	return store.WriteItem{Delete: d}
}

// put writes a row over one that still has what it had of some names when it was read; nil: over none.
func (s *Service) put(row, was attr.Item, names ...string) store.WriteItem {
	p := &store.PutItem{Table: s.Table, Item: row}
	p.Condition, p.Params = asRead(was, names...)
	return store.WriteItem{Put: p}
}

// create puts a row where there is none.
func (s *Service) create(tx *store.Tx, row attr.Item, code, text string) error {
	_, err := tx.Put(store.PutItem{Table: s.Table, Item: row, Condition: absent, NoOld: true})
	if fault.Is(err, fault.Conflict) {
		err = fault.New(fault.Conflict, code, "%s", text)
	}
	return err
}

func transact(tx *store.Tx, items []store.WriteItem) error {
	if len(items) == 0 {
		return nil
	}
	return tx.TransactWrite(store.TransactWrite{Items: items})
}

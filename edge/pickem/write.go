package pickem

import (
	"maps"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
)

const exists = "attribute_exists(PK)"

// asRead has a write hold only if a row has what it had of some names when it was read; nil: if there still is none.
func asRead(was attr.Item, names ...string) table.If { return table.Same(was, "PK", names...) }

// update is a change of a row where a condition holds.
func (s *Service) update(k attr.Item, update, condition string, values attr.Item) store.WriteItem {
	return table.Update(s.Table, k, update, table.When(condition, values))
}

// since updates a row that still has what it had of some names when it was read.
func (s *Service) since(tx *store.Tx, was attr.Item, names []string, update string, values attr.Item) error {
	only := asRead(was, names...)
	maps.Copy(only.Values, values)
	_, err := tx.Update(*table.Update(s.Table, key(was["PK"].Str(), was["SK"].Str()), update, only).Update)
	return err
}

// remove takes away a row that still has what it had of some names when it was read.
func (s *Service) remove(was attr.Item, names ...string) store.WriteItem {
	return table.Delete(s.Table, key(was["PK"].Str(), was["SK"].Str()), asRead(was, names...))
}

// put writes a row over one that still has what it had of some names when it was read; nil: over none.
func (s *Service) put(row, was attr.Item, names ...string) store.WriteItem {
	return table.Put(s.Table, row, asRead(was, names...))
}

// create puts a row where there is none.
func (s *Service) create(tx *store.Tx, row attr.Item, code, text string) error {
	_, err := tx.Put(*s.put(row, nil).Put)
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

// partition reads the rows of a partition of the table, the last one first.
func (s *Service) partition(pk string) store.Query {
	return store.Query{Table: s.Table, KeyCondition: "PK = :pk", Descending: true, Params: expr.Params{Values: attr.Item{":pk": attr.S(pk)}}}
}

// indexed reads those of a partition of the index.
func (s *Service) indexed(pk string) store.Query {
	q := s.partition(pk)
	q.Index, q.KeyCondition = s.Index, "GSI_PK = :pk"
	return q
}

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

// asRead returns the condition that a row's named attributes are unchanged since it was read as was; nil means there still is no row.
func asRead(was attr.Item, names ...string) table.If { return table.Same(was, "PK", names...) }

// update returns a conditional update of a row.
func (s *Service) update(k attr.Item, update, condition string, values attr.Item) store.WriteItem {
	return table.Update(s.Table, k, update, table.When(condition, values))
}

// since updates a row if its named attributes are unchanged since it was read as was.
func (s *Service) since(tx *store.Tx, was attr.Item, names []string, update string, values attr.Item) error {
	only := asRead(was, names...)
	maps.Copy(only.Values, values)
	_, err := tx.Update(*table.Update(s.Table, key(was["PK"].Str(), was["SK"].Str()), update, only).Update)
	return err
}

// remove returns the deletion of a row, if its named attributes are unchanged since it was read as was.
func (s *Service) remove(was attr.Item, names ...string) store.WriteItem {
	return table.Delete(s.Table, key(was["PK"].Str(), was["SK"].Str()), asRead(was, names...))
}

// put returns the write of a row over was, if the named attributes of that are unchanged since it was read; nil means there still is no row.
func (s *Service) put(row, was attr.Item, names ...string) store.WriteItem {
	return table.Put(s.Table, row, asRead(was, names...))
}

// create writes a new row. If one exists it returns a Conflict with the given code and text.
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

// partition returns the query of a partition of the table, last row first.
func (s *Service) partition(pk string) store.Query {
	return store.Query{Table: s.Table, KeyCondition: "PK = :pk", Descending: true, Params: expr.Params{Values: attr.Item{":pk": attr.S(pk)}}}
}

// indexed returns the query of a partition of the index, last row first.
func (s *Service) indexed(pk string) store.Query {
	q := s.partition(pk)
	q.Index, q.KeyCondition = s.Index, "GSI_PK = :pk"
	return q
}

package pickem

import (
	"maps"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

const exists = "attribute_exists(PK)"

// since updates a row if its named attributes are unchanged since it was read as was.
func (s *Service) since(tx *store.Tx, was attr.Item, names []string, update string, values attr.Item) error {
	only := s.Same(was, names...)
	maps.Copy(only.Values, values)
	_, err := tx.Update(*s.Update(s.KeyOf(was), update, only).Update)
	return err
}

// create writes a new row. If one exists it returns a Conflict with the given code and text.
func (s *Service) create(tx *store.Tx, row attr.Item, code, text string) error {
	_, err := tx.Put(*s.Create(row).Put)
	if fault.Is(err, fault.Conflict) {
		err = fault.New(fault.Conflict, code, "%s", text)
	}
	return err
}

// partition returns the query of a partition of the table, last row first.
func (s *Service) partition(pk string) store.Query {
	q := s.Under(pk, "")
	q.Descending = true
	return q
}

// indexed returns the query of a partition of the index, last row first.
func (s *Service) indexed(pk string) store.Query {
	q := s.By(s.Index, "GSI_PK", "GSI_SK").Under(pk, "")
	q.Descending = true
	return q
}

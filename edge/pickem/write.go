package pickem

import (
	"maps"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// plan is the work of a transaction. Until its first error, what could not be read is empty.
type plan struct {
	*Service
	table.Plan
}

func (s *Service) plan(tx *store.Tx) *plan { return &plan{s, s.Plan(tx)} }

const exists = "attribute_exists(PK)"

// updateUnchanged updates a row if its named attributes are unchanged since it was read as was.
func (p *plan) updateUnchanged(was attr.Item, names []string, update string, values attr.Item) {
	only := p.IfSame(was, names...)
	maps.Copy(values, only.Values)
	p.Commit(p.Update(p.KeyOf(was), update, table.IfTrue(only.Condition, values)))
}

// create writes a new row. If one exists, the error is a Conflict with the given code and text.
func (p *plan) create(row attr.Item, code, text string) {
	p.Refuse(p.Get(p.KeyOf(row)) != nil, fault.New(fault.Conflict, code, "%s", text))
	p.Commit(p.Create(row))
}

// partition returns the query of a partition of the table, last row first.
func (s *Service) partition(pk string) store.Query {
	q := s.QueryUnder(pk, "")
	q.Descending = true
	return q
}

// indexQuery returns the query of a partition of the index, last row first.
func (s *Service) indexQuery(pk string) store.Query {
	q := s.ByIndex(s.Index, "GSI_PK", "GSI_SK").QueryUnder(pk, "")
	q.Descending = true
	return q
}

package table

import (
	"cmp"
	"iter"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Plan is an application's work on its table in one transaction. It keeps its first error, which Err returns; after it, it reads and
// writes nothing.
type Plan struct {
	Tx     *store.Tx
	Writes []store.WriteItem // collected by Write
	table  string
	err    error
}

// Plan begins the work of a transaction.
func (h Handle) Plan(tx *store.Tx) Plan { return Plan{Tx: tx, table: h.Table} }

// Err returns the first error.
func (p *Plan) Err() error { return p.err }

// Fail records err if it is the first error; it ignores nil.
func (p *Plan) Fail(err error) { p.err = cmp.Or(p.err, err) }

// Refuse calls Fail(why) if is holds.
func (p *Plan) Refuse(is bool, why error) {
	if is {
		p.Fail(why)
	}
}

// Get reads a row; nil if there is none.
func (p *Plan) Get(key attr.Item) (row attr.Item) {
	if p.err == nil {
		row, p.err = p.Tx.Get(p.table, key)
	}
	return row
}

// Rows returns the rows that a query or a scan finds, until an error.
func (p *Plan) Rows(found iter.Seq2[attr.Item, error]) iter.Seq[attr.Item] {
	return func(yield func(attr.Item) bool) {
		if p.err != nil {
			return
		}
		for row, err := range found {
			if p.Fail(err); p.err != nil || !yield(row) {
				return
			}
		}
	}
}

// Read decodes the rows that a query or a scan finds. The list is never nil.
func Read[T any](p *Plan, found iter.Seq2[attr.Item, error], of func(row attr.Item) T) []T {
	all := []T{}
	for row := range p.Rows(found) {
		all = append(all, of(row))
	}
	return all
}

// Write collects a write.
func (p *Plan) Write(w store.WriteItem) { p.Writes = append(p.Writes, w) }

// Commit makes the writes collected, and more, in one transaction.
func (p *Plan) Commit(more ...store.WriteItem) {
	if p.err == nil {
		p.err = Commit(p.Tx, append(p.Writes, more...)...)
	}
	p.Writes = nil
}

// Commit makes writes in one transaction. A single write is sent to the cloud without one, at half the price. Without writes it does
// nothing.
func Commit(tx *store.Tx, writes ...store.WriteItem) error {
	if len(writes) == 0 {
		return nil
	}
	return tx.TransactWrite(store.TransactWrite{Items: writes})
}

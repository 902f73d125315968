package table

import (
	"cmp"
	"errors"
	"iter"

	"github.com/touchline/touchline/internal/fault"
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

// LookFor looks for a row that is missing from what was read, before a refusal for that, so that the cloud can be asked for it. A key that
// no row can have is not looked for.
func (p *Plan) LookFor(key attr.Item) {
	if p.err != nil {
		return
	}
	if _, err := p.Tx.Get(p.table, key); err != nil && !fault.Is(err, fault.Invalid) {
		p.err = err
	}
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

// Count counts rows that a query finds, without decoding them, up to most.
func (p *Plan) Count(q store.Query, most int) (n int) {
	for p.err == nil && n < most {
		q.Limit = most - n
		page, err := p.Tx.QueryEncoded(q, func(attr.Encoded) error { return nil })
		p.Fail(err)
		n += page.Count
		if q.StartKey = page.LastKey; q.StartKey == nil {
			break
		}
	}
	return n
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

// Slice is how many items one transaction of an application writes at most, with its checks. DynamoDB takes 100; one is left for the row of an
// Idempotency-Key.
const Slice = 99

// ErrMore is returned by a consumer that has done a slice of its work: its writes are committed, and it is called again with the same
// records. It must write something each time, so that what is left shrinks. After a crash the work goes on where it was.
var ErrMore = errors.New("there is more to do")

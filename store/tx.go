package store

import (
	"time"

	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/txn"
)

// Tx is a transaction of Update or View. It belongs to the function it was given to: it is used by one goroutine and
// not after the function has returned. Items it gives out are copies and stay.
type Tx struct {
	core *txn.Tx
	s    *Store

	showExpired  bool
	hideInternal bool
	indexesAsOf  time.Time   // zero: as they are
	touched      func(Touch) // nil: nobody counts

	replicator Replicator // nil: nobody is told of the writes
	seen       seen
	compiling  bool // Replicator.Compile runs

	work     *expr.Work // that expressions may cost; nil: as much as it takes
	ahead    *judgement // of a View: what writes would be is noted here
	judged   *judgement // of an Update: what was noted on a snapshot
	recalled int        // calls of it
}

// ShowExpired makes the reads that follow return items past their TTL until they are swept, as DynamoDB does.
func (tx *Tx) ShowExpired() { tx.showExpired = true }

// HideInternal makes the calls that follow treat internal tables (TableSpec.Internal) as if they did not exist.
func (tx *Tx) HideInternal() { tx.hideInternal = true }

// IndexesAsOf has the queries and scans of global indexes that follow see them as they were at an instant, as DynamoDB's
// are behind their tables: items written since are as they were, or not there, and deleted ones still are. It goes as far
// back as the journal does, and its price is one look at each record since. The table itself and its local indexes are
// seen as they are.
func (tx *Tx) IndexesAsOf(at time.Time) { tx.indexesAsOf = at }

// SetOrigin sets the origin of the writes that follow, for the journal. Empty is this node's own application.
func (tx *Tx) SetOrigin(origin string) { tx.core.Origin = origin }

// enterWrite is enter for a change.
func (tx *Tx) enterWrite() error {
	if tx.core.Batch == nil && tx.ahead == nil {
		return txn.ErrReadOnly()
	}
	if tx.compiling {
		return errCompiling()
	}
	return tx.core.Enter()
}

func (tx *Tx) table(name string) (*catalogue.Table, error) {
	t, err := tx.core.Table(name)
	if err == nil && tx.hideInternal && t.Spec.Internal {
		return nil, catalogue.NoTable(name)
	}
	return t, err
}

// Now is the instant of the transaction. It does not move while the transaction runs.
func (tx *Tx) Now() time.Time { return tx.core.Now() }

// Seq is the sequence of the last journal record: of this transaction if it wrote one, else of those it sees. The
// sequence of a record that is not committed yet is given again to another if the transaction fails.
func (tx *Tx) Seq() uint64 { return tx.core.Seq() }

// Side returns a space by its name. Spaces are not created: one that nobody has written to is empty.
func (tx *Tx) Side(name string) Side { return Side{Tx: tx.core, Name: name} }

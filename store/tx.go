package store

import (
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/txn"
)

// Tx is a transaction of Update or View. It belongs to the function it was given to: only one goroutine may use it, and none after the
// function has returned. Items it returns are copies and remain valid.
type Tx struct {
	core *txn.Tx
	s    *Store

	showExpired  bool
	hideInternal bool
	indexesAsOf  time.Time                         // zero: the current state
	touched      func(Touch)                       // nil: nobody is counting
	absent       func(table string, key attr.Item) // nil: nobody asks; see OnAbsent

	replicator Replicator // nil: writes are not replicated
	seen       seen
	compiling  bool // Replicator.Compile runs
	unreadable int  // how many items the application could not decode

	onJudged   func(table string, key attr.Item) // nil: nobody asks
	rehearsing bool                              // a Rehearse: nothing is reported to OnTouch

	work     *expr.Work // budget of the expressions; nil: no limit
	shared   bool       // a ViewShared: each item read is charged to work
	ahead    *judgement // of a View: records what the writes would do
	judged   *judgement // of an Update: what was recorded on a snapshot
	recalled int        // number of calls recalled from it
}

// Writes reports whether the transaction is an Update, which may be undone.
func (tx *Tx) Writes() bool { return tx.core.Batch != nil }

// ShowExpired makes later reads return items past their TTL until they are swept, as DynamoDB does.
func (tx *Tx) ShowExpired() { tx.showExpired = true }

// HideInternal makes later calls treat internal tables (TableSpec.Internal) as if they did not exist.
func (tx *Tx) HideInternal() { tx.hideInternal = true }

// IndexesAsOf makes later queries and scans of global indexes see them as they were at an instant, like DynamoDB's, which lag behind
// their tables: items written since are as they were or missing, and deleted ones are still there. It reaches back as far as the journal,
// and costs one look at each record since. The table itself and its local indexes are current.
func (tx *Tx) IndexesAsOf(at time.Time) { tx.indexesAsOf = at }

// SetOrigin sets the origin of later writes in the journal. Empty means this node's own application.
func (tx *Tx) SetOrigin(origin string) { tx.core.Origin = origin }

// enterWrite is core.Enter for a change.
func (tx *Tx) enterWrite() error {
	if tx.core.Batch == nil && tx.ahead == nil {
		return txn.ErrReadOnly()
	}
	if tx.compiling {
		return errCompiling()
	}
	return tx.core.BeginCall()
}

func (tx *Tx) table(name string) (*catalogue.Table, error) {
	t, err := tx.core.Table(name)
	if err == nil && tx.hideInternal && t.Spec.Internal {
		return nil, catalogue.NoTable(name)
	}
	return t, err
}

// Now returns the time of the transaction. It is constant while the transaction runs.
func (tx *Tx) Now() time.Time { return tx.core.Now() }

// Seq returns the sequence of the last journal record that the transaction sees, including its own. If the transaction fails, the
// sequences of its records are used again by others.
func (tx *Tx) Seq() uint64 { return tx.core.Seq() }

// Side returns the space with the given name. Spaces are not created: one never written to is empty.
func (tx *Tx) Side(name string) Side { return Side{Tx: tx.core, Name: name} }

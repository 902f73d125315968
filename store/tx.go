package store

import (
	"context"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Tx is a transaction of Update or View. It belongs to the function it was given to: it is used by one goroutine and
// not after the function has returned. Items it gives out are copies and stay.
type Tx struct {
	s      *Store
	ctx    context.Context
	btx    *bolt.Tx
	cat    *catalogue
	now    time.Time // zero in a View until it is asked for
	origin string

	showExpired  bool
	hideInternal bool
	indexesAsOf  time.Time   // zero: as they are
	touched      func(Touch) // nil: nobody counts
	lent         bool        // a function has bytes of the snapshot: no other call may come between

	replicator Replicator // nil: nobody is told of the writes
	seen       seen
	compiling  bool // Replicator.Compile runs

	work     *expr.Work // that expressions may cost; nil: as much as it takes
	ahead    *judgement // of a View: what writes would be is noted here
	judged   *judgement // of an Update: what was noted on a snapshot
	recalled int        // calls of it

	batch  *batch  // of an Update
	reader *reader // of a View
	upTo   uint64  // of a View: cat knows all that was done to tables up to this record. The snapshot may be newer

	before savepoint // of the batch, before this transaction
	first  uint64    // sequence of the first record of this transaction
	broken error     // a change was made by half: the whole transaction has to go
	over   bool
}

// Now is the instant of the transaction. It does not move while the transaction runs.
func (tx *Tx) Now() time.Time {
	if tx.now.IsZero() {
		tx.now = tx.s.opts.Now()
	}
	return tx.now
}

// ShowExpired has the reads that follow show items past their TTL until they are swept, as DynamoDB does.
func (tx *Tx) ShowExpired() { tx.showExpired = true }

// HideInternal has the calls that follow find no internal tables (TableSpec.Internal).
func (tx *Tx) HideInternal() { tx.hideInternal = true }

// Context is the context of the Update or View. Within an Update it also carries the mark by which a nested Update is
// recognised and refused: services called from a transaction are given this one.
func (tx *Tx) Context() context.Context {
	if tx.batch == nil {
		return tx.ctx
	}
	return context.WithValue(tx.ctx, insideKey{tx.s}, true)
}

// SetOrigin names who made the writes that follow, for the journal. Empty is this node's own application.
func (tx *Tx) SetOrigin(origin string) { tx.origin = origin }

// Seq is the sequence of the last journal record: of this transaction if it wrote one, else of those it sees. The
// sequence of a record that is not committed yet is given again to another if the transaction fails.
func (tx *Tx) Seq() uint64 {
	if tx.enter() != nil {
		return 0
	}
	defer tx.leave()
	return tx.journalState().last
}

// run calls fn and gives its error, or that of a change that failed by half whatever fn made of it.
func (tx *Tx) run(fn func(*Tx) error) error {
	if err := fn(tx); err != nil {
		return err
	}
	return tx.broken
}

// finish ends the transaction of a member; what a failed one did is undone.
func (tx *Tx) finish(keep bool) {
	tx.over = true
	if !keep {
		tx.batch.rollbackTo(tx.before)
		return
	}
	tx.batch.cat = tx.cat
}

// enter begins a call on the transaction, leave ends it.
func (tx *Tx) enter() error {
	switch {
	case tx.over:
		return errTxOver()
	case tx.lent:
		return errTxLent()
	}
	if tx.reader == nil {
		return tx.broken
	}
	if tx.ctx.Err() != nil {
		return context.Cause(tx.ctx)
	}
	tx.reader.mu.Lock()
	if tx.reader.gone {
		tx.reader.mu.Unlock()
		return fault.New(fault.Unavailable, "read_deadline", "the read took longer than %v", tx.s.opts.ReadDeadline)
	}
	return nil
}

// lend gives a function bytes that lie in the snapshot, which nobody takes away meanwhile.
func (tx *Tx) lend(e attr.Encoded, use func(attr.Encoded) error) error {
	tx.lent = true
	defer func() { tx.lent = false }()
	return use(e)
}

func (tx *Tx) leave() {
	if tx.reader != nil {
		tx.reader.mu.Unlock()
	}
}

// enterWrite is enter for a change.
func (tx *Tx) enterWrite() error {
	if tx.batch == nil && tx.ahead == nil {
		return errReadOnly()
	}
	if tx.compiling {
		return errCompiling()
	}
	return tx.enter()
}

func (tx *Tx) table(name string) (*table, error) {
	if t := tx.cat.tables[name]; t != nil && !(tx.hideInternal && t.spec.Internal) {
		return t, nil
	}
	return nil, errNoTable(name)
}

// bucket returns a bucket that the catalogue says is there.
func (tx *Tx) bucket(name []byte) (*bolt.Bucket, error) {
	var b *bolt.Bucket
	if tx.reader != nil {
		b = tx.reader.bucket(name)
	} else {
		b = tx.btx.Bucket(name)
	}
	if b != nil {
		return b, nil
	}
	return nil, damaged(nil, "bucket %x is missing", name)
}

// breakOff notes that a change was made by half, so that the transaction cannot be committed any more.
func (tx *Tx) breakOff(err error) error {
	if err != nil && tx.broken == nil {
		tx.broken = fmt.Errorf("store: %w", err)
	}
	return tx.broken
}

func decodeItem(e attr.Encoded) (attr.Item, error) {
	it, err := e.Decode()
	if err != nil {
		return nil, damaged(err, "an item cannot be decoded")
	}
	return it, nil
}

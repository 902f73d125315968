package txn

import (
	"context"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/refusal"
)

// ErrTxOver returns the error of a call on a transaction whose function has returned.
func ErrTxOver() error {
	return fault.New(fault.Internal, "tx_over", "a store transaction was used after its function returned")
}

func errTxLent() error {
	return fault.New(fault.Internal, "tx_lent", "a store transaction was used by a function that was reading one of its items")
}

// ErrReadOnly returns the error of a write in a View.
func ErrReadOnly() error {
	return fault.New(fault.Internal, "tx_read_only", "a write in View")
}

// Now returns the time of the transaction. It is constant while the transaction runs.
func (tx *Tx) Now() time.Time {
	if tx.now.IsZero() {
		tx.now = tx.DB.Opts.Now()
	}
	return tx.now
}

// Seq returns the sequence of the last journal record that the transaction sees, including its own. If the transaction fails, the
// sequences of its records are used again by others.
func (tx *Tx) Seq() uint64 {
	if tx.BeginCall() != nil {
		return 0
	}
	defer tx.EndCall()
	return tx.JournalState().Last
}

// run calls fn. It returns fn's error or, if a change was only made in part, the error of that change, whatever fn made of it.
func (tx *Tx) run(fn func(*Tx) error) error {
	if err := fn(tx); err != nil {
		return err
	}
	return tx.broken
}

// finish ends the transaction of a member. Unless keep is set, its changes are undone.
func (tx *Tx) finish(keep bool) {
	tx.over = true
	if !keep {
		tx.Batch.RollbackTo(tx.before)
		return
	}
	tx.Batch.cat = tx.Cat
}

// BeginCall starts a call on the transaction; EndCall ends it.
func (tx *Tx) BeginCall() error {
	switch {
	case tx.over:
		return ErrTxOver()
	case tx.lent:
		return errTxLent()
	}
	if tx.Reader == nil {
		return tx.broken
	}
	if tx.Ctx.Err() != nil {
		return context.Cause(tx.Ctx)
	}
	tx.Reader.Mu.Lock()
	if tx.Reader.gone {
		tx.Reader.Mu.Unlock()
		return fault.New(fault.Unavailable, "read_deadline", "the read took longer than %v", tx.DB.Opts.ReadDeadline)
	}
	return nil
}

// Lend passes bytes of the snapshot to a function. Meanwhile the snapshot cannot end.
func (tx *Tx) Lend(e attr.Encoded, use func(attr.Encoded) error) error {
	tx.lent = true
	defer func() { tx.lent = false }()
	return use(e)
}

// EndCall ends a call started with Enter.
func (tx *Tx) EndCall() {
	if tx.Reader != nil {
		tx.Reader.Mu.Unlock()
	}
}

// Table returns the table with the given name.
func (tx *Tx) Table(name string) (*catalogue.Table, error) {
	if t := tx.Cat.ByName[name]; t != nil {
		return t, nil
	}
	return nil, catalogue.NoTable(name)
}

// Bucket returns a bucket that must exist according to the catalogue.
func (tx *Tx) Bucket(name []byte) (*bolt.Bucket, error) {
	var b *bolt.Bucket
	if tx.Reader != nil {
		b = tx.Reader.bucket(name)
	} else {
		b = tx.Btx.Bucket(name)
	}
	if b != nil {
		return b, nil
	}
	return nil, refusal.DamagedData(nil, "bucket %x is missing", name)
}

// BreakOff records that a change was made only in part: the transaction cannot be committed any more.
func (tx *Tx) BreakOff(err error) error {
	if err != nil && tx.broken == nil {
		tx.broken = fmt.Errorf("store: %w", err)
	}
	return tx.broken
}

// Tx is the part of a transaction that works on the file.
type Tx struct {
	DB     *DB
	Ctx    context.Context //nolint:containedctx // the life of one call
	Btx    *bolt.Tx
	Cat    *catalogue.Tables
	now    time.Time // zero in a View until first used
	Origin string

	Batch  *batch  // of an Update
	Reader *Reader // of a View
	upTo   uint64  // of a View: Cat includes all changes of tables up to this record; the snapshot may be newer

	before savepoint // state of the batch before this transaction
	First  uint64    // sequence of this transaction's first record
	broken error     // a change was made only in part: the whole transaction must be rolled back
	lent   bool      // a function is using bytes of the snapshot: no other call is allowed
	over   bool
}

// enterWrite is Enter for a change.
func (tx *Tx) enterWrite() error {
	if tx.Batch == nil {
		return ErrReadOnly()
	}
	return tx.BeginCall()
}

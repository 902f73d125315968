package txn

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
)

// batch is one bbolt transaction and the members that share it.
type batch struct {
	s       *DB
	btx     *bolt.Tx
	members []*member
	broken  error // an undo failed: the whole batch is rolled back

	// The state of the store after the batch is committed, and what the commit will cost. Undoing a member restores these, except tokens
	// and Grows, which may then say too much.
	cat       *catalogue.Tables
	Journal   format.JournalState
	begun     uint64 // an incarnation that began in the batch; 0: none
	mutations int    // changes of buckets, without undone ones
	bytes     int    // of the keys and values that those changes set
	records   int    // journal records, without undone ones
	tokens    int    // transaction tokens remembered, with undone ones
	Grows     bool   // it has changes other than deletes, adopted items and side spaces
	side      balance
	undo      []UndoEntry
}

func newBatch(s *DB, btx *bolt.Tx) *batch {
	return &batch{s: s, btx: btx, cat: s.Cat.Load(), Journal: *s.Journal.Load()}
}

func (b *batch) newTx(ctx context.Context) *Tx {
	return &Tx{DB: b.s, Ctx: ctx, Btx: b.btx, Cat: b.cat, now: b.s.Opts.Now(), Batch: b, before: b.Savepoint()}
}

// Savepoint returns the current state of the batch.
func (b *batch) Savepoint() savepoint {
	return savepoint{
		cat: b.cat, journal: b.Journal, begun: b.begun, mutations: b.mutations, bytes: b.bytes, records: b.records, undo: len(b.undo),
		side: b.side,
	}
}

// TokenSlice limits the tokens that one commit forgets; see trimSlice.
const TokenSlice = 64

// seal writes what belongs to the batch as a whole: the position of the journal, and slices of trimming and forgetting.
func (b *batch) seal() error {
	if err := b.trim(); err != nil {
		return err
	}
	if err := b.forgetTokens(max(TokenSlice, 2*b.tokens)); err != nil {
		return err
	}
	if b.s.older.Load() {
		if err := b.btx.Bucket(format.BucketMeta).Put(format.MetaFormat, format.EncodeFormat()); err != nil {
			return err
		}
	}
	if b.Journal.Equal(*b.s.Journal.Load()) {
		return nil
	}
	return b.btx.Bucket(format.BucketMeta).Put(format.MetaJournal, b.Journal.Encode())
}

// need returns the most space that the commit can take if no page of the file is free: about four pages for each change, for its leaf, a
// neighbour and their share of the branches above, and twice the data, since pages are left half full.
func (b *batch) need() int {
	page := b.btx.DB().Info().PageSize
	return page*(64+4*b.mutations) + 2*b.bytes
}

// savepoint is the state of a batch before a member runs.
type savepoint struct {
	cat       *catalogue.Tables
	journal   format.JournalState
	begun     uint64
	mutations int
	bytes     int
	records   int
	side      balance
	undo      int
}

// UndoEntry undoes one change of a bucket. bbolt has no savepoints, so this is how a member is removed from a batch.
type UndoEntry struct {
	bucket *bolt.Bucket
	key    []byte
	old    []byte // nil: the key did not exist
	Again  func() error
}

func (e UndoEntry) run() error {
	switch {
	case e.Again != nil:
		return e.Again()
	case e.old == nil:
		return e.bucket.Delete(e.key)
	default:
		return e.bucket.Put(e.key, e.old)
	}
}

// RollbackTo undoes all changes since sp, the last first.
func (b *batch) RollbackTo(sp savepoint) {
	defer func() {
		if r := recover(); r != nil {
			b.broken = fmt.Errorf("undo: %v", r)
		}
	}()
	for i := len(b.undo) - 1; i >= sp.undo; i-- {
		failpoint.Hit(failpoint.UndoStep)
		if err := b.undo[i].run(); err != nil {
			b.broken = fmt.Errorf("undo: %w", err)
			return
		}
	}
	clear(b.undo[sp.undo:])
	b.undo = b.undo[:sp.undo]
	b.cat, b.Journal, b.begun = sp.cat, sp.journal, sp.begun
	b.mutations, b.bytes, b.records, b.side = sp.mutations, sp.bytes, sp.records, sp.side
}

// Set sets a value and records how to undo it. old is the present value, nil if there is none. Like the new value it must not change
// until the commit, which bbolt guarantees for values returned in this transaction.
func (b *batch) Set(bucket *bolt.Bucket, key, value, old []byte) error {
	if err := bucket.Put(key, value); err != nil {
		return err
	}
	b.AddUndo(UndoEntry{bucket: bucket, key: key, old: old}, len(key)+len(value))
	return nil
}

// remove deletes a key whose value is old.
func (b *batch) remove(bucket *bolt.Bucket, key, old []byte) error {
	if err := bucket.Delete(key); err != nil {
		return err
	}
	b.AddUndo(UndoEntry{bucket: bucket, key: key, old: old}, 0)
	return nil
}

func (b *batch) AddUndo(e UndoEntry, bytes int) {
	b.undo = append(b.undo, e)
	b.mutations++
	b.bytes += bytes
}

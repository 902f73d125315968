package backup

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// Copies holds the snapshots of running backups. They are not Views, because a copy of the whole file has a limit of its own.
type Copies struct {
	E      *txn.DB
	mu     sync.Mutex
	open   map[*copySnapshot]time.Time // when each began
	closed bool
}

// copySnapshot is the state of the file at one instant. Its pages are not reused until it ends.
type copySnapshot struct {
	copies *Copies
	meta   pages.Meta
	seq    uint64
	tables int
	forget func() bool // stops watching the context

	mu   sync.Mutex
	btx  *bolt.Tx
	over error // why it ended; nil: it is valid
}

// begin takes a snapshot, which ends at the latest with ctx or at the limit.
func (c *Copies) begin(ctx context.Context) (*copySnapshot, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	btx, err := c.E.Bolt.Begin(false)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return nil, refusal.Closed()
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "store_failed", "the store cannot be read")
	}
	snap := &copySnapshot{copies: c, btx: btx, meta: pages.MetaOf(btx), tables: len(c.E.Cat.Load().ByName)}
	if snap.seq, err = lastSeq(btx); err != nil {
		_ = btx.Rollback()
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = btx.Rollback()
		return nil, refusal.Closed()
	}
	if c.open == nil {
		c.open = map[*copySnapshot]time.Time{}
	}
	c.open[snap] = time.Now()
	limit := c.E.Opts.BackupDeadline
	limited, cancel := context.WithTimeoutCause(ctx, limit, fault.New(fault.Unavailable, "backup_deadline",
		"the copy took longer than %v, during which the store grows", limit))
	stop := context.AfterFunc(limited, func() { snap.release(context.Cause(limited)) })
	snap.forget = func() bool {
		defer cancel()
		return stop()
	}
	return snap, nil
}

// lastSeq reads the last sequence of the journal. It turns bbolt's panic at a damaged page into an error.
func lastSeq(btx *bolt.Tx) (seq uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refusal.Damaged(nil, "%v", r)
		}
	}()
	j, ok := format.DecodeJournalState(btx.Bucket(format.BucketMeta).Get(format.MetaJournal))
	if !ok {
		return 0, refusal.Damaged(nil, "its journal position cannot be read")
	}
	return j.Last, nil
}

// end releases the snapshot. It may be called more than once.
func (snap *copySnapshot) end() {
	snap.forget()
	snap.release(txn.ErrTxOver())
}

func (snap *copySnapshot) release(why error) {
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if snap.over != nil {
		return
	}
	snap.over = why
	_ = snap.btx.Rollback() // fails only if the transaction has ended
	c := snap.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, snap)
}

// ReadAt reads from the snapshot's pages. It fails after the snapshot has ended.
func (snap *copySnapshot) ReadAt(p []byte, at int64) (int, error) {
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if snap.over != nil {
		return 0, snap.over
	}
	return snap.copies.E.Room.F.ReadAt(p, at)
}

// Close ends running copies, because closing the file would wait for them.
func (c *Copies) Close() {
	c.mu.Lock()
	c.closed = true
	running := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, snap := range running {
		snap.release(refusal.Closed())
	}
}

// Fill adds the snapshots of copies to the readers in st.
func (c *Copies) Fill(st *txn.Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, since := range c.open {
		st.OpenReaders++
		st.OldestReader = max(st.OldestReader, time.Since(since))
	}
}

package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// copyChunk is how much is copied at a time. After each writingChunk, writing to disk is started.
const (
	copyChunk    = 256 << 10
	writingChunk = 8 << 20
)

// Copies holds the running copies of a store. Their snapshots are not Views, because a copy of the whole file has a limit of its own.
type Copies struct {
	E      *txn.DB
	mu     sync.Mutex
	open   map[*copying]bool
	closed bool
}

type copying struct {
	began time.Time
	stop  context.CancelCauseFunc
}

// begin counts a copy among the running ones until end is called. The copy's context ends with the store, or at the limit.
func (c *Copies) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, nil, refusal.Closed()
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	}
	limit := c.E.Opts.BackupDeadline
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fault.New(fault.Unavailable, "backup_deadline",
		"the copy took longer than %v, during which the store grows", limit))
	ctx, stop := context.WithCancelCause(ctx)
	this := &copying{began: time.Now(), stop: stop}
	if c.open == nil {
		c.open = map[*copying]bool{}
	}
	c.open[this] = true
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, this)
	}, nil
}

// Close ends running copies at their next write, because closing the file waits for them.
func (c *Copies) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for running := range c.open {
		running.stop(refusal.Closed())
	}
}

// Fill adds the snapshots of copies to the readers in st.
func (c *Copies) Fill(st *txn.Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for running := range c.open {
		st.OpenReaders++
		st.OldestReader = max(st.OldestReader, time.Since(running.began))
	}
}

// CopyTo writes a snapshot of the store to an empty file. Like the file of a store in use, the copy has no free list.
func (c *Copies) CopyTo(ctx context.Context, f *os.File, progress func(done, total int64)) (info Info, err error) {
	ctx, end, err := c.begin(ctx)
	if err != nil {
		return info, err
	}
	defer end()
	began := time.Now()
	w := copyWriter{ctx: ctx, f: f, sum: sha256.New(), progress: progress}
	err = c.E.Bolt.View(func(btx *bolt.Tx) error {
		if info.Seq, err = lastSeq(btx); err != nil {
			return err
		}
		info.Tables = len(c.E.Cat.Load().ByName)
		return w.copy(btx)
	})
	if ctx.Err() != nil {
		return info, context.Cause(ctx)
	}
	if err != nil {
		return info, err
	}
	info.HeldSeconds = time.Since(began).Seconds()
	disk.DropCache(c.E.Room.F)
	info.Node, info.Incarnation = c.E.Node, c.E.Incarnation.Load()
	info.Bytes, info.SHA256 = w.at, hex.EncodeToString(w.sum.Sum(nil))
	return info, nil
}

// lastSeq reads the last sequence of the journal. It turns bbolt's panic at a damaged page into an error.
func lastSeq(btx *bolt.Tx) (seq uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refusal.DamagedData(nil, "%v", r)
		}
	}()
	j, ok := format.DecodeJournalState(btx.Bucket(format.BucketMeta).Get(format.MetaJournal))
	if !ok {
		return 0, refusal.DamagedData(nil, "its journal position cannot be read")
	}
	return j.Last, nil
}

// copyWriter writes a copy until its context ends.
type copyWriter struct {
	ctx      context.Context //nolint:containedctx // the life of one call
	f        *os.File
	sum      hash.Hash
	progress func(done, total int64)
	total    int64
	at       int64
	started  int64 // offset up to which writing to disk has been started
}

func (w *copyWriter) copy(btx *bolt.Tx) error {
	w.total = btx.Size()
	if w.f.Name() != disk.MemoryName {
		if err := disk.RoomFor(filepath.Dir(w.f.Name()), w.total); err != nil {
			return err
		}
	}
	b := bufio.NewWriterSize(w, copyChunk)
	_, unread := btx.WriteTo(b)
	if err := b.Flush(); err != nil {
		return err
	}
	if unread != nil {
		return fault.Wrap(unread, fault.Unavailable, "store_failed", "the store cannot be read: %s", disk.Reason(unread))
	}
	return nil
}

// Write implements io.Writer.
func (w *copyWriter) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	_, _ = w.sum.Write(b) // never fails
	n, err := w.f.Write(b)
	w.at += int64(n)
	if err != nil {
		return n, disk.CannotWrite(w.f.Name(), err)
	}
	if w.at-w.started >= writingChunk {
		disk.StartWriting(w.f, w.started, w.at-w.started)
		w.started = w.at
	}
	if w.progress != nil {
		w.progress(w.at, w.total)
	}
	return n, nil
}

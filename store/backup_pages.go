package store

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/fault"
)

// copyChunk is what is copied at once; writingChunk is when the disk is told to begin.
const (
	copyChunk    = 256 << 10
	writingChunk = 8 << 20
)

// copies are the snapshots that backups hold. They are no Views: a copy of the whole file has a limit of its own.
type copies struct {
	mu     sync.Mutex
	open   map[*copySnapshot]func() time.Duration // the age of each
	closed bool
}

// copySnapshot is the state of the file at one instant. Its pages are not written to until it ends.
type copySnapshot struct {
	store  *Store
	meta   boltMeta
	seq    uint64
	tables int
	forget func() bool // the context's watch

	mu   sync.Mutex
	btx  *bolt.Tx
	over error // why it ended; nil: it stands
}

// begin takes a snapshot that ends by itself when ctx or the limit does.
func (c *copies) begin(ctx context.Context, s *Store) (*copySnapshot, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	btx, err := s.db.Begin(false)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return nil, errClosed()
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "store_failed", "the store cannot be read")
	}
	snap := &copySnapshot{store: s, btx: btx, meta: metaOf(btx), tables: len(s.cat.Load().tables)}
	if snap.seq, err = lastSeq(btx); err != nil {
		_ = btx.Rollback()
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = btx.Rollback()
		return nil, errClosed()
	}
	if c.open == nil {
		c.open = map[*copySnapshot]func() time.Duration{}
	}
	c.open[snap] = stopwatch()
	limit := s.opts.BackupDeadline
	limited, cancel := context.WithTimeoutCause(ctx, limit, fault.New(fault.Unavailable, "backup_deadline",
		"the copy took longer than %v, during which the store grows", limit))
	stop := context.AfterFunc(limited, func() { snap.release(context.Cause(limited)) })
	snap.forget = func() bool {
		defer cancel()
		return stop()
	}
	return snap, nil
}

// lastSeq reads where the journal ends. bbolt panics where a page is no page.
func lastSeq(btx *bolt.Tx) (seq uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged(nil, "%v", r)
		}
	}()
	j, ok := decodeJournalState(btx.Bucket(bucketMeta).Get(metaJournal))
	if !ok {
		return 0, damaged(nil, "its journal position cannot be read")
	}
	return j.last, nil
}

// metaOf describes the file as a transaction sees it.
func metaOf(btx *bolt.Tx) boltMeta {
	size, root := uint64(btx.DB().Info().PageSize), btx.Cursor().Bucket()
	return boltMeta{
		pageSize: size, root: uint64(root.Root()), sequence: root.Sequence(), freelist: boltNoFreelist,
		high: uint64(btx.Size()) / size, txid: uint64(btx.ID()),
	}
}

// end gives the snapshot back; it may be called again.
func (snap *copySnapshot) end() {
	snap.forget()
	snap.release(errTxOver())
}

func (snap *copySnapshot) release(why error) {
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if snap.over != nil {
		return
	}
	snap.over = why
	_ = snap.btx.Rollback() // fails only on a transaction that is over
	c := &snap.store.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, snap)
}

// ReadAt reads the snapshot's pages; it fails once it has ended.
func (snap *copySnapshot) ReadAt(p []byte, at int64) (int, error) {
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if snap.over != nil {
		return 0, snap.over
	}
	return snap.store.room.f.ReadAt(p, at)
}

// close ends the copies that run: the closing of the file would wait for them.
func (c *copies) close() {
	c.mu.Lock()
	c.closed = true
	running := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, snap := range running {
		snap.release(errClosed())
	}
}

// fill counts the snapshots of copies among the readers.
func (c *copies) fill(st *Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, age := range c.open {
		st.OpenReaders++
		st.OldestReader = max(st.OldestReader, age())
	}
}

// snapshotWriter writes a snapshot as a file that was closed in order. A store in use has no free list on disk, without
// which the next Open would walk the whole file, and nobody would know whether the copy hangs together. So the copy is
// walked when it is written, in the page cache, and what the walk did not meet is its free list: it lies behind the
// pages of the snapshot, in as many pages as it may need, so that the first pages can name it before it is known, and
// the checksum be taken on the way.
type snapshotWriter struct {
	ctx      context.Context //nolint:containedctx // the life of one call
	f        *os.File
	sum      io.Writer
	from     io.ReaderAt
	meta     boltMeta // of the copy
	progress func(done, total int64)
	contents func(bucket, key, value []byte) error // judges what was copied; nil: nobody does
	at       int64
	told     int64 // up to where the disk was told to begin
}

// reserveFreelist names the place of the free list.
func (w *snapshotWriter) reserveFreelist() {
	w.meta.freelist = w.meta.high
	bytes := pageHeader + 8*(w.meta.high+1) // every page, and their number
	w.meta.high += (bytes + w.meta.pageSize - 1) / w.meta.pageSize
}

// pages writes the meta pages and all that the snapshot has.
func (w *snapshotWriter) pages() error {
	older := w.meta
	older.txid--
	first, second := w.meta, older // bbolt replaces the older one first: it keeps the even ones in the first page
	if w.meta.txid%2 == 1 {
		first, second = older, w.meta
	}
	if err := w.write(append(first.page(0), second.page(1)...)); err != nil {
		return err
	}
	end := int64(w.meta.freelist * w.meta.pageSize)
	buf := make([]byte, copyChunk)
	for w.at < end {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		part := buf[:min(copyChunk, end-w.at)]
		_, err := w.from.ReadAt(part, w.at)
		switch {
		case err == nil:
		case w.ctx.Err() != nil || fault.KindOf(err) != fault.Internal:
			return err
		default:
			return fault.Wrap(err, fault.Unavailable, "store_failed", "the store cannot be read: %s", reason(err))
		}
		if err := w.write(part); err != nil {
			return err
		}
	}
	return nil
}

func (w *snapshotWriter) write(b []byte) error {
	_, _ = w.sum.Write(b) // never fails
	n, err := w.f.Write(b)
	w.at += int64(n)
	if err != nil {
		return cannotWrite(w.f.Name(), err)
	}
	if w.at-w.told >= writingChunk {
		startWriting(w.f, w.told, w.at-w.told)
		w.told = w.at
	}
	if w.progress != nil {
		w.progress(w.at, w.meta.used())
	}
	return nil
}

// freelist walks the copy and writes the list of its free pages.
func (w *snapshotWriter) freelist() error {
	copied := w.meta
	copied.high = w.meta.freelist // without the list itself
	v := newVerifier(w.f, copied)
	v.contents = w.contents
	if err := v.tree(copied.root, nil, nil, 0); err != nil {
		return damaged(err, "%v", err)
	}
	if err := w.write(freelistPages(w.meta, v.unused())); err != nil {
		return err
	}
	_, err := newVerifier(w.f, w.meta).freelist()
	return err
}

// page encodes a meta page as readMetaPage reads it.
func (m boltMeta) page(id uint64) []byte {
	b := make([]byte, m.pageSize)
	order, body := binary.NativeEndian, b[pageHeader:]
	order.PutUint64(b, id)
	order.PutUint16(b[8:], pageMeta)
	order.PutUint32(body, boltMagic)
	order.PutUint32(body[4:], boltVersion)
	order.PutUint32(body[8:], uint32(m.pageSize))
	order.PutUint64(body[16:], m.root)
	order.PutUint64(body[24:], m.sequence)
	order.PutUint64(body[32:], m.freelist)
	order.PutUint64(body[40:], m.high)
	order.PutUint64(body[48:], m.txid)
	sum := fnv.New64a()
	_, _ = sum.Write(body[:metaSummed])
	order.PutUint64(body[metaSummed:], sum.Sum64())
	return b
}

// freelistPages encodes the free list in the pages that m keeps for it.
func freelistPages(m boltMeta, ids []uint64) []byte {
	n := m.high - m.freelist
	b := make([]byte, n*m.pageSize)
	order := binary.NativeEndian
	order.PutUint64(b, m.freelist)
	order.PutUint16(b[8:], pageFreelist)
	order.PutUint32(b[12:], uint32(n-1))
	at := b[pageHeader:]
	if len(ids) >= manyFree {
		order.PutUint16(b[10:], manyFree)
		order.PutUint64(at, uint64(len(ids)))
		at = at[8:]
	} else {
		order.PutUint16(b[10:], uint16(len(ids)))
	}
	for i, id := range ids {
		order.PutUint64(at[i*8:], id)
	}
	return b
}

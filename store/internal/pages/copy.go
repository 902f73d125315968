package pages

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/refusal"
)

// CopyChunk is how much is copied at a time. After each writingChunk, writing to disk is started.
const (
	CopyChunk    = 256 << 10
	writingChunk = 8 << 20
)

// MetaOf returns the meta page of the file as a transaction sees it.
func MetaOf(btx *bolt.Tx) Meta {
	size, root := uint64(btx.DB().Info().PageSize), btx.Cursor().Bucket()
	return Meta{
		PageSize: size, root: uint64(root.Root()), sequence: root.Sequence(), freelist: boltNoFreelist,
		High: uint64(btx.Size()) / size, txid: uint64(btx.ID()),
	}
}

// SnapshotWriter writes a snapshot as a cleanly closed file. A store in use has no free list on disk; without one, the next Open would
// walk the whole file, and nobody would know whether the copy is consistent. So the copy is walked right after it is written, from the
// page cache, and the pages that the walk does not meet are its free list. The list is placed after the pages of the snapshot, in as many
// pages as it may need, so the meta pages can refer to it before it is known, and the checksum can be computed while writing.
type SnapshotWriter struct {
	Ctx      context.Context //nolint:containedctx // the life of one call
	F        *os.File
	Sum      io.Writer
	From     io.ReaderAt
	Meta     Meta // of the copy
	Progress func(done, total int64)
	Contents func(bucket, key, value []byte) error // checks what was copied; may be nil
	At       int64
	started  int64 // offset up to which writing to disk has been started
}

// ReserveFreelist sets the position of the free list.
func (w *SnapshotWriter) ReserveFreelist() {
	w.Meta.freelist = w.Meta.High
	bytes := pageHeader + 8*(w.Meta.High+1) // every page, and their number
	w.Meta.High += (bytes + w.Meta.PageSize - 1) / w.Meta.PageSize
}

// Pages writes the meta pages and all pages of the snapshot.
func (w *SnapshotWriter) Pages() error {
	older := w.Meta
	older.txid--
	first, second := w.Meta, older // bbolt replaces the older one first, and keeps even transactions in the first page
	if w.Meta.txid%2 == 1 {
		first, second = older, w.Meta
	}
	if err := w.write(append(first.page(0), second.page(1)...)); err != nil {
		return err
	}
	end := int64(w.Meta.freelist * w.Meta.PageSize)
	buf := make([]byte, CopyChunk)
	for w.At < end {
		if w.Ctx.Err() != nil {
			return context.Cause(w.Ctx)
		}
		part := buf[:min(CopyChunk, end-w.At)]
		_, err := w.From.ReadAt(part, w.At)
		switch {
		case err == nil:
		case w.Ctx.Err() != nil || fault.KindOf(err) != fault.Internal:
			return err
		default:
			return fault.Wrap(err, fault.Unavailable, "store_failed", "the store cannot be read: %s", disk.Reason(err))
		}
		if err := w.write(part); err != nil {
			return err
		}
	}
	return nil
}

func (w *SnapshotWriter) write(b []byte) error {
	_, _ = w.Sum.Write(b) // never fails
	n, err := w.F.Write(b)
	w.At += int64(n)
	if err != nil {
		return disk.CannotWrite(w.F.Name(), err)
	}
	if w.At-w.started >= writingChunk {
		disk.StartWriting(w.F, w.started, w.At-w.started)
		w.started = w.At
	}
	if w.Progress != nil {
		w.Progress(w.At, w.Meta.Used())
	}
	return nil
}

// Freelist walks the copy and writes the list of its free pages.
func (w *SnapshotWriter) Freelist() error {
	copied := w.Meta
	copied.High = w.Meta.freelist // without the pages of the list
	v := newVerifier(w.F, copied)
	v.contents = w.Contents
	if err := v.tree(copied.root, nil, nil, 0); err != nil {
		return refusal.Damaged(err, "%v", err)
	}
	if err := w.write(freelistPages(w.Meta, v.unused())); err != nil {
		return err
	}
	_, err := newVerifier(w.F, w.Meta).freelist()
	return err
}

// page encodes a meta page for readMetaPage.
func (m Meta) page(id uint64) []byte {
	b := make([]byte, m.PageSize)
	order, body := binary.NativeEndian, b[pageHeader:]
	order.PutUint64(b, id)
	order.PutUint16(b[8:], pageMeta)
	order.PutUint32(body, boltMagic)
	order.PutUint32(body[4:], boltVersion)
	order.PutUint32(body[8:], uint32(m.PageSize))
	order.PutUint64(body[16:], m.root)
	order.PutUint64(body[24:], m.sequence)
	order.PutUint64(body[32:], m.freelist)
	order.PutUint64(body[40:], m.High)
	order.PutUint64(body[48:], m.txid)
	sum := fnv.New64a()
	_, _ = sum.Write(body[:metaSummed])
	order.PutUint64(body[metaSummed:], sum.Sum64())
	return b
}

// freelistPages encodes the free list into the pages that m reserves for it.
func freelistPages(m Meta, ids []uint64) []byte {
	n := m.High - m.freelist
	b := make([]byte, n*m.PageSize)
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

package housekeeping

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/check"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// A pass over all items starts when the store has been opened, and a day after the previous one started. It reads a share of the file
// each minute, so it takes about an hour, and at most scrubTime of real time in each minute.
const (
	ScrubEvery = 24 * time.Hour
	scrubPace  = time.Minute
	scrubShare = 60
	scrubLeast = 1 << 20 // minimum bytes of a slice
	scrubTime  = 250 * time.Millisecond
	scrubKeys  = 256 // in one transaction
)

// scrubPass is the result of a pass over all items, index entries and journal records.
type scrubPass struct {
	began   time.Time // by Options.Now; zero: no pass
	ended   time.Time // zero: still running
	items   uint64    // verified
	damaged uint64    // damaged items, index entries and journal records
	where   []string  // where they are: "table", "table/index" or "journal"
}

// scrub is the state of the pass over all items. It is only in memory: after a restart a new pass starts.
type scrub struct {
	slice time.Time // when the next slice is due
	parts []scrubPart
	after []byte // key in the first part; nil: at its start

	mu      sync.Mutex // guards what Stats reads
	last    scrubPass  // the last complete pass since Open
	current scrubPass  // the running pass
}

// scrubPart is a bucket to read: the items of a table, one of its indexes, or the journal.
type scrubPart struct {
	bucket []byte
	table  uint32
}

// ScrubStats is store.Store.Scrub.
func (k *Keeper) ScrubStats() txn.ScrubStats {
	w := &k.scrub
	w.mu.Lock()
	defer w.mu.Unlock()
	return txn.ScrubStats{
		Running: !w.current.began.IsZero(), Ended: w.last.ended, Items: w.last.items,
		Damaged: max(w.last.damaged, w.current.damaged), Refused: k.E.Refused.Load(),
		Where: slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.last.where, w.current.where)))),
	}
}

// begin starts or continues a pass if it is time, and reports whether it is.
func (w *scrub) begin(cat *catalogue.Tables, now time.Time) bool {
	if wait := w.slice.Sub(now); wait > 0 && wait <= scrubPace { // a longer wait means that the clock was set back
		return false
	}
	w.slice = now.Add(scrubPace)
	if len(w.parts) > 0 {
		return true
	}
	if wait := w.last.began.Add(ScrubEvery).Sub(now); wait > 0 && wait <= ScrubEvery {
		return false
	}
	for _, id := range cat.IDs() {
		t := cat.ByID[id]
		if t.Dropped {
			continue
		}
		w.parts = append(w.parts, scrubPart{t.Bucket, id})
		for _, ix := range t.Indexes {
			w.parts = append(w.parts, scrubPart{ix.Bucket, id})
		}
	}
	w.parts = append(w.parts, scrubPart{bucket: format.BucketJournal})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = scrubPass{began: now}
	return true
}

// recordProgress records the progress of the pass; nil: the part is complete.
func (w *scrub) recordProgress(to []byte, now time.Time) {
	if w.after = to; to == nil {
		w.parts = w.parts[1:]
	}
	if len(w.parts) > 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current.ended = now
	w.last, w.current = w.current, scrubPass{}
}

// scrubNext is the chore of Housekeep that reads all items, verifies their checksums and index entries, and adds checksums to rows
// without one. It has its own pace, so it never reports that more is due now.
func (k *Keeper) scrubNext(ctx context.Context) (did bool, err error) {
	w := &k.scrub
	if !w.begin(k.E.Cat.Load(), k.E.Opts.Now()) {
		return false, nil
	}
	began, quota := time.Now(), max(scrubLeast, k.E.Room.Size.Load()/scrubShare)
	for len(w.parts) > 0 && quota > 0 && time.Since(began) < scrubTime {
		sl := scrubSlice{part: w.parts[0], after: w.after}
		if err := k.E.RunOnSnapshot(ctx, sl.read); err != nil {
			return false, err
		}
		w.recordFindings(&sl)
		if len(sl.plain) > 0 {
			err := k.sealRows(ctx, sl.part.table, sl.plain)
			if err != nil && !fault.Is(err, fault.Full) { // without space, the rows stay as they were
				return false, err
			}
		}
		w.recordProgress(sl.to, k.E.Opts.Now())
		quota -= int64(sl.bytes)
	}
	return false, nil
}

func (w *scrub) recordFindings(sl *scrubSlice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current.items += sl.items
	w.current.damaged += sl.damaged
	if sl.damaged > 0 && !slices.Contains(w.current.where, sl.where) {
		w.current.where = append(w.current.where, sl.where)
	}
}

// scrubSlice is the part of a bucket read in one snapshot.
type scrubSlice struct {
	part    scrubPart
	after   []byte
	to      []byte // nil: the part is complete
	where   string
	items   uint64
	bytes   int
	damaged uint64
	plain   [][]byte // keys of rows without a checksum
}

// read verifies the next keys of the part.
func (sl *scrubSlice) read(tx *txn.Tx) error {
	if err := tx.BeginCall(); err != nil {
		return err
	}
	defer tx.EndCall()
	look, err := sl.partVerifier(tx)
	if err != nil || look == nil {
		return err
	}
	keys, err := tx.Bucket(sl.part.bucket)
	if err != nil {
		return err
	}
	sl.to = txn.Slice(keys, sl.after, scrubKeys, func(k, v []byte) bool {
		sl.bytes += len(k) + len(v)
		if !look(k, v) {
			sl.damaged++
		}
		return true
	})
	return context.Cause(tx.Ctx) // a canceled look calls rows damaged that it could not verify
}

// partVerifier returns the function that verifies a key and value of the part, or nil if the part is gone or not complete yet.
func (sl *scrubSlice) partVerifier(tx *txn.Tx) (func(k, v []byte) bool, error) {
	if bytes.Equal(sl.part.bucket, format.BucketJournal) {
		sl.where = "journal"
		return func(_, v []byte) bool {
			_, err := format.CheckRecord(v)
			return err == nil
		}, nil
	}
	t := tx.Cat.ByID[sl.part.table]
	if t == nil || t.Dropped {
		return nil, nil
	}
	sl.where = t.Spec.Name
	if bytes.Equal(sl.part.bucket, t.Bucket) {
		return func(k, v []byte) bool { return sl.row(tx, t, k, v) }, nil
	}
	base, err := tx.Bucket(t.Bucket)
	at := slices.IndexFunc(t.Indexes, func(ix *catalogue.Index) bool { return bytes.Equal(ix.Bucket, sl.part.bucket) })
	if err != nil || at < 0 || t.Indexes[at].Fill != nil {
		return nil, err
	}
	ix := t.Indexes[at]
	sl.where += "/" + ix.Spec.Name
	return func(k, v []byte) bool {
		c := check.Checker{Tx: tx}
		return c.Entry(ix, base, k, v) == nil && len(c.Problems) == 0
	}, nil
}

// row verifies an item: its checksum, key, journal record and index entries.
func (sl *scrubSlice) row(tx *txn.Tx, t *catalogue.Table, k, v []byte) bool {
	sl.items++
	c, r := check.Checker{Tx: tx}, format.Row(v)
	if c.Row(t, k, r) != nil || len(c.Problems) > 0 {
		tx.DB.Intact.Forget(r)
		return false
	}
	for _, ix := range t.Indexes {
		if ix.Fill != nil {
			continue
		}
		key, _, err := ix.EntryKey(r.Item(), k)
		if entries, missing := tx.Bucket(ix.Bucket); err != nil || missing != nil || key != nil && entries.Get(key) == nil {
			return false
		}
	}
	if r.Plain() {
		sl.plain = append(sl.plain, slices.Clone(k))
	}
	return true
}

// sealRows adds checksums to rows without one. Their content does not change, so the journal gets no records.
func (k *Keeper) sealRows(ctx context.Context, id uint32, keys [][]byte) error {
	return k.E.Update(ctx, func(tx *txn.Tx) error {
		t := tx.Cat.ByID[id]
		if t == nil || t.Dropped {
			return nil
		}
		bucket, err := tx.Bucket(t.Bucket)
		if err != nil {
			return err
		}
		tx.Batch.Grows = true
		for _, key := range keys {
			r := format.Row(bucket.Get(key))
			if r.CheckVersion() != nil || !r.Plain() { // written or deleted in the meantime
				continue
			}
			if err := tx.BreakOff(tx.Batch.Set(bucket, key, r.WithChecksum(key), r)); err != nil {
				return err
			}
		}
		return nil
	})
}

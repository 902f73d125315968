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

// A pass over all items begins a day after the one before it began, and when the store has been opened. It reads a share
// of the file each minute, so that it takes about an hour, and no more than scrubTime of real time in that minute.
const (
	ScrubEvery = 24 * time.Hour
	scrubPace  = time.Minute
	scrubShare = 60
	scrubLeast = 1 << 20 // bytes of a slice
	scrubTime  = 250 * time.Millisecond
	scrubKeys  = 256 // of one transaction
)

// scrubPass is what one pass over all items, index entries and journal records has found.
type scrubPass struct {
	began   time.Time // by Options.Now; zero: there is none
	ended   time.Time // zero: it runs
	items   uint64    // looked at
	damaged uint64    // items, index entries and journal records that are not what was written
	where   []string  // where these lie: "table", "table/index" or "journal"
}

// scrub is how far the pass over all items has come. It is in memory only: after a restart a new one begins.
type scrub struct {
	slice time.Time // when the next slice is due
	parts []scrubPart
	after []byte // key in the first of them; nil: before all

	mu      sync.Mutex // guards what Stats shows
	last    scrubPass  // the last whole one since Open
	current scrubPass  // the one that runs
}

// scrubPart is a bucket to be read: the items of a table, an index of it, or the journal.
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

// begin starts a pass or goes on with one if it is time, and reports whether it is.
func (w *scrub) begin(cat *catalogue.Tables, now time.Time) bool {
	if wait := w.slice.Sub(now); wait > 0 && wait <= scrubPace { // more: the clock was set back
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

// moved notes how far the pass has come; nil: to the end of the part.
func (w *scrub) moved(to []byte, now time.Time) {
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

// scrubNext is the chore of Housekeep that reads all items, compares them with their checksums and their index entries, and
// gives a checksum to those from files that had none. It has a pace of its own, so that there is never more to do now.
func (k *Keeper) scrubNext(ctx context.Context) (did bool, err error) {
	w := &k.scrub
	if !w.begin(k.E.Cat.Load(), k.E.Opts.Now()) {
		return false, nil
	}
	began, quota := time.Now(), max(scrubLeast, k.E.Room.Size.Load()/scrubShare)
	for len(w.parts) > 0 && quota > 0 && time.Since(began) < scrubTime {
		sl := scrubSlice{part: w.parts[0], after: w.after}
		if err := k.E.Look(ctx, sl.read); err != nil {
			return false, err
		}
		w.note(&sl)
		if len(sl.plain) > 0 {
			err := k.sealRows(ctx, sl.part.table, sl.plain)
			if err != nil && !fault.Is(err, fault.Full) { // without room they are as good as they were
				return false, err
			}
		}
		w.moved(sl.to, k.E.Opts.Now())
		quota -= int64(sl.bytes)
	}
	return false, nil
}

func (w *scrub) note(sl *scrubSlice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current.items += sl.items
	w.current.damaged += sl.damaged
	if sl.damaged > 0 && !slices.Contains(w.current.where, sl.where) {
		w.current.where = append(w.current.where, sl.where)
	}
}

// scrubSlice is what one snapshot shows of a part.
type scrubSlice struct {
	part    scrubPart
	after   []byte
	to      []byte // nil: the part is at its end
	where   string
	items   uint64
	bytes   int
	damaged uint64
	plain   [][]byte // keys of the rows without a checksum
}

// read looks at the next keys of the part.
func (sl *scrubSlice) read(tx *txn.Tx) error {
	if err := tx.Enter(); err != nil {
		return err
	}
	defer tx.Leave()
	look, err := sl.judge(tx)
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
	return nil
}

// judge is what the part's keys and values are judged by; nil: the part is gone, or not complete yet.
func (sl *scrubSlice) judge(tx *txn.Tx) (func(k, v []byte) bool, error) {
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

// row judges an item: by its checksum, its key, its journal record and its index entries.
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

// sealRows gives rows a checksum that have none yet. What is in them stays, and the journal does not tell of it.
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
			if r.Known() != nil || !r.Plain() { // it has been written or deleted meanwhile
				continue
			}
			if err := tx.BreakOff(tx.Batch.Set(bucket, key, r.Sealed(key), r)); err != nil {
				return err
			}
		}
		return nil
	})
}

package txn_test

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// queue is a replicator that keeps an entry for each write, a little longer than its item, and the item as it was before the first of
// them.
type queue struct{}

func (queue) Compile(tx *store.Tx, writes []store.Write) error {
	for _, w := range writes {
		entry := append(binary.BigEndian.AppendUint64(nil, w.Seq), w.New...)
		if err := tx.Side("outbox").Set(binary.BigEndian.AppendUint64(nil, w.Seq), append(entry, make([]byte, 150)...)); err != nil {
			return err
		}
		base, err := tx.Side("shadow").Get(w.RawKey)
		if err != nil || base != nil {
			return err
		}
		if err := tx.Side("shadow").Set(w.RawKey, append([]byte{1}, w.Old...)); err != nil {
			return err
		}
	}
	return nil
}

func (queue) Expire(*store.Tx, *store.TableSpec, attr.Item) (bool, error) { return true, nil }

// settle removes the oldest entry. Every tenth becomes a conflict record; for every fifth the cloud has an item larger than ours.
func settle(t *testing.T, s *store.Store, n int) (more bool, err error) {
	t.Helper()
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		more = false
		var seq, entry []byte
		err := tx.Side("outbox").Each(nil, nil, func(k, v []byte) (bool, error) {
			seq, entry = slices.Clone(k), slices.Clone(v)
			return false, nil
		})
		if err != nil || seq == nil {
			return err
		}
		more = true
		key := storetest.Ball("final", n)
		raw, err := tx.RawKey("balls", key)
		if err != nil {
			return err
		}
		if err := tx.Side("outbox").Delete(seq); err != nil {
			return err
		}
		if n%10 == 0 {
			if err := tx.Side("conflicts").Set(seq, append(entry, make([]byte, 2000)...)); err != nil {
				return err
			}
		}
		if n%5 == 0 {
			if _, err := tx.Adopt("balls", key, storetest.Ball("final", n, "text", strings.Repeat("y", 3000))); err != nil {
				return err
			}
		}
		return tx.Side("shadow").Set(raw, make([]byte, 150)) // the metadata kept for an item without pending writes
	})
	return more, err
}

// drain is a store that is filled and drained.
type drain struct {
	*testing.T
	s       *store.Store
	items   int
	deleted int
	settled int
}

func (d *drain) put(n, size int) error {
	return d.s.Update(d.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", n, "text", strings.Repeat("x", size))})
		return err
	})
}

// untilFull repeats a write until it is refused, and returns the number of successful ones.
func (d *drain) untilFull(write func(n int) error) (n int) {
	for ; n < 5000; n++ {
		err := write(n)
		if fault.Is(err, fault.Full) {
			return n
		}
		if err != nil {
			d.Fatal(err)
		}
	}
	d.Fatal("it is never full")
	return n
}

func (d *drain) delete(n int) error {
	return d.s.Update(d.Context(), func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", n)})
		return err
	})
}

func (d *drain) adopt(n int) error {
	return d.s.Update(d.Context(), func(tx *store.Tx) error {
		_, err := tx.Adopt("balls", storetest.Ball("semi", n), storetest.Ball("semi", n, "text", strings.Repeat("z", 500)))
		return err
	})
}

// note writes what a replicator notes before it sends.
func (d *drain) note(n int) error {
	return d.s.Update(d.Context(), func(tx *store.Tx) error {
		return tx.Side("attempted").Set([]byte{byte(n), byte(n >> 8)}, make([]byte, 100))
	})
}

// fill brings the store to the point where it only accepts settlements, while a View prevents the reuse of all pages that it frees.
func (d *drain) fill() {
	d.items = d.untilFull(func(n int) error { return d.put(n, 2000) })
	if k := d.untilFull(d.adopt); k > 5 {
		d.Errorf("%d items were adopted where none could be put", k)
	}
	d.deleted = d.untilFull(func(n int) error { return d.delete(n) })
	if d.deleted < 3 {
		d.Errorf("%d items could be deleted", d.deleted)
	}
	if n := d.untilFull(d.adopt); n > 2 {
		d.Errorf("%d items were adopted where none could be deleted", n)
	}
	if n := d.untilFull(d.note); n < 20 {
		d.Errorf("%d notes could be taken", n)
	}
}

// settle settles the given number of entries, or all.
func (d *drain) settle(limit int) {
	for ; d.settled < limit; d.settled++ {
		more, err := settle(d.T, d.s, d.settled)
		if err != nil {
			d.Fatalf("entry %d of %d: %v", d.settled, d.items+d.deleted, err)
		}
		if !more {
			return
		}
	}
}

// TestFullStoreDrains: a store that accepts no more writes, not even deletes, because all of them leave entries behind, still removes
// entries, whatever their outcome. Then it accepts writes again.
func TestFullStoreDrains(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{
		NoSync: true, MaxSize: 12 << 20, JournalBytes: 1 << 20, ReadDeadline: time.Hour,
	}, storetest.Balls())
	s.Replicate(queue{})
	d := &drain{T: t, s: s}
	storetest.View(t, s, func(*store.Tx) error {
		d.fill()
		if got := s.Disk(); got.Grow != 0 || got.File != 12<<20 || s.Stats().Refused == 0 {
			t.Errorf("full: %+v", got)
		}
		d.settle(3)
		return nil
	})
	d.settle(1 << 20)
	if d.settled != d.items+d.deleted {
		t.Errorf("%d entries settled, there were %d", d.settled, d.items+d.deleted)
	}
	if got := s.Disk(); got.Share() > 0.6 {
		t.Errorf("drained: %+v, share %.2f", got, got.Share())
	}
	if err := d.put(d.items, 2000); err != nil {
		t.Errorf("a write when all is settled: %v", err)
	}
	t.Logf("%d items, %d deleted, %d settled", d.items, d.deleted, d.settled)
}

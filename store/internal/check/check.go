package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// Problem is a violated guarantee of the file.
type Problem struct {
	Where string `json:"where"` // table, index, journal or file
	What  string `json:"what"`
}

// String returns the problem as one line.
func (p Problem) String() string { return p.Where + ": " + p.What }

// maxProblems ends a check: a file with this many has more than can be listed.
const maxProblems = 100

var errEnough = errors.New("enough problems")

// Checker collects the problems of a file, read through a transaction.
type Checker struct {
	Tx       *txn.Tx
	where    string
	at       func(where string) // gets the name of each part checked; may be nil
	Problems []Problem
}

// say records a problem. Its error ends the check.
func (c *Checker) say(format string, args ...any) error {
	c.Problems = append(c.Problems, Problem{Where: c.where, What: fmt.Sprintf(format, args...)})
	if len(c.Problems) >= maxProblems {
		return errEnough
	}
	return nil
}

// contents checks everything above the level of pages.
func (c *Checker) contents() error {
	if err := c.buckets(); err != nil {
		return err
	}
	for _, id := range c.Tx.Cat.IDs() {
		if t := c.Tx.Cat.ByID[id]; !t.Dropped {
			if err := c.table(t); err != nil {
				return err
			}
		}
	}
	if err := c.sides(); err != nil {
		return err
	}
	c.startPart("tokens")
	if err := c.tokens(); err != nil {
		return err
	}
	c.startPart("journal")
	return c.journal()
}

// startPart starts the check of a part of the file.
func (c *Checker) startPart(where string) {
	c.where = where
	ReportProgress(c.at, where)
}

// buckets compares the buckets of tables and indexes with the catalogue, including those of dropped ones that are not yet gone.
func (c *Checker) buckets() error {
	known := map[string]bool{}
	for _, t := range c.Tx.Cat.ByID {
		if !t.Dropped {
			known[string(t.Bucket)] = true
		}
		for _, ix := range t.Indexes {
			known[string(ix.Bucket)] = true
		}
		for _, l := range t.Leaving {
			known[string(l.Bucket())] = true
		}
	}
	err := c.Tx.Btx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		if known[string(name)] {
			delete(known, string(name))
			return nil
		}
		ours := len(name) == format.BucketNameSize && (name[0] == format.KindTable || name[0] == format.KindIndex)
		if ours && binary.BigEndian.Uint32(name[1:]) < c.Tx.Cat.NextID {
			return c.say("bucket %x belongs to no table", name)
		}
		return nil
	})
	for name := range known {
		if err == nil {
			err = c.say("bucket %x is missing", name)
		}
	}
	return err
}

func (c *Checker) table(t *catalogue.Table) error {
	c.startPart("table " + t.Spec.Name)
	bucket := c.Tx.Btx.Bucket(t.Bucket)
	if bucket == nil {
		return nil // reported by buckets
	}
	err := bucket.ForEach(func(k, v []byte) error { return c.Row(t, k, format.Row(v)) })
	if err != nil {
		return err
	}
	for _, ix := range t.Indexes {
		c.startPart("table " + t.Spec.Name + ", index " + ix.Spec.Name)
		if err := c.index(ix, bucket); err != nil {
			return err
		}
	}
	return nil
}

// Row checks an item: its checksum, key, size and journal record.
func (c *Checker) Row(t *catalogue.Table, key []byte, r format.Row) error {
	if c.Tx.Ctx.Err() != nil {
		return context.Cause(c.Tx.Ctx)
	}
	if err := r.Check(key); err != nil {
		return c.say("row %x: %v", key, err)
	}
	it, err := r.Decode()
	if err != nil {
		return c.say("row %x: %v", key, err)
	}
	if again, err := t.ItemKey(it); err != nil || !bytes.Equal(again, key) {
		return c.say("row %x is under a wrong key: %v", key, err)
	}
	if err := attr.Check(it); err != nil {
		return c.say("row %x: %v", key, err)
	}
	if size := attr.Size(it); size != r.Size() {
		return c.say("row %x records a size of %d, but its item has %d", key, r.Size(), size)
	}
	return c.rowRecord(t, key, r)
}

// rowRecord compares a row with the journal record that wrote it.
func (c *Checker) rowRecord(t *catalogue.Table, key []byte, r format.Row) error {
	j := c.Tx.JournalState()
	if r.Seq() > j.Last {
		return c.say("row %x names record %d, but the last is %d", key, r.Seq(), j.Last)
	}
	if r.Seq() < j.First {
		return nil
	}
	st, err := format.DecodeRecord(c.Tx.Btx.Bucket(format.BucketJournal).Get(format.SeqKey(r.Seq())))
	if err != nil {
		return c.say("row %x: record %d: %v", key, r.Seq(), err)
	}
	if st.Table != t.ID || !bytes.Equal(st.Key, key) || !bytes.Equal(st.Now, r.Item()) {
		return c.say("row %x differs from record %d", key, r.Seq())
	}
	return nil
}

// index compares entries with items, both ways: each entry must have its item, and each item in the index its entry. If all entries are
// valid and there are as many as items, none is missing. In an index being filled, items after UpTo may or may not have entries.
func (c *Checker) index(ix *catalogue.Index, base *bolt.Bucket) error {
	bucket := c.Tx.Btx.Bucket(ix.Bucket)
	if bucket == nil {
		return nil // reported by buckets
	}
	entries := 0
	err := bucket.ForEach(func(k, v []byte) error {
		entries++
		return c.Entry(ix, base, k, v)
	})
	if err != nil {
		return err
	}
	items := 0
	err = base.ForEach(func(k, v []byte) error {
		r := format.Row(v)
		if err := r.CheckVersion(); err != nil {
			return c.say("item %x: %v", k, err)
		}
		key, _, err := ix.EntryKey(r.Item(), k)
		if err != nil {
			return c.say("item %x: %v", k, err)
		}
		switch {
		case key == nil:
		case bucket.Get(key) != nil:
			items++
		case ix.Fill == nil || bytes.Compare(k, ix.Fill.UpTo) <= 0:
			return c.say("item %x has no entry", k)
		}
		return nil
	})
	if err == nil && items != entries {
		err = c.say("%d entries for %d items", entries, items)
	}
	return err
}

// Entry checks that the item of an index entry exists and has the entry's key.
func (c *Checker) Entry(ix *catalogue.Index, base *bolt.Bucket, k, v []byte) error {
	primary, err := ix.PrimaryOf(k, v)
	if err != nil {
		return c.say("entry %x: %v", k, err)
	}
	r := format.Row(base.Get(primary))
	if r == nil || r.CheckVersion() != nil {
		return c.say("entry %x has no item", k)
	}
	want, _, err := ix.EntryKey(r.Item(), primary)
	if err != nil || !bytes.Equal(want, k) {
		return c.say("entry %x does not match its item: %v", k, err)
	}
	return nil
}

// journal checks the records. Those below First are only kept for their image, each for one later record; those of dropped tables may
// also be waiting for ForgetSlice.
func (c *Checker) journal() error {
	j := c.Tx.JournalState()
	kept, wanted := map[uint64]bool{}, map[uint64]bool{}
	var bytes, prev uint64
	err := c.Tx.Btx.Bucket(format.BucketJournal).ForEach(func(k, v []byte) error {
		seq := binary.BigEndian.Uint64(k)
		st, err := format.DecodeRecord(v)
		if err != nil {
			return c.say("record %d: %v", seq, err)
		}
		if seq < j.First {
			return c.checkPastRecord(seq, st.Table, kept)
		}
		if st.Prev != 0 && st.Prev < j.First {
			wanted[st.Prev] = true
		}
		bytes += uint64(len(v))
		err = c.sequence(seq, prev, j)
		prev = seq
		if err != nil {
			return err
		}
		return c.record(k, v)
	})
	if err != nil {
		return err
	}
	if bytes != j.Bytes {
		err = c.say("%d bytes in the records, %d according to the counter", bytes, j.Bytes)
	}
	if err != nil {
		return err
	}
	if err := c.ending(prev, j); err != nil {
		return err
	}
	return c.checkKeptRecords(kept, wanted)
}

// checkKeptRecords checks that each record kept for its image is still needed.
func (c *Checker) checkKeptRecords(kept, wanted map[uint64]bool) error {
	for seq := range kept {
		if !wanted[seq] {
			return c.say("record %d was trimmed but is still there without need", seq)
		}
	}
	return nil
}

// ending compares the last record with the metadata. A restored journal ends before the first record of its incarnation.
func (c *Checker) ending(prev uint64, j format.JournalState) error {
	begun := j.Last&(1<<format.IncarnationBits-1) != 0
	if prev != j.Last && begun && j.First <= j.Last {
		return c.say("ends at %d, the metadata says %d", prev, j.Last)
	}
	return nil
}

// checkPastRecord checks a record below First. If its table exists, it must be needed by a later record.
func (c *Checker) checkPastRecord(seq uint64, table uint32, kept map[uint64]bool) error {
	t := c.Tx.Cat.ByID[table]
	if t == nil {
		return c.say("record %d was trimmed and is about an unknown table", seq)
	}
	if !t.Dropped {
		kept[seq] = true
	}
	return nil
}

func (c *Checker) sequence(seq, prev uint64, j format.JournalState) error {
	newIncarnation := seq&(1<<format.IncarnationBits-1) == 1
	switch {
	case seq > j.Last:
		return c.say("record %d lies after the last, %d", seq, j.Last)
	case prev == 0 && seq != j.First:
		return c.say("begins at %d, the metadata says %d", seq, j.First)
	case prev != 0 && seq != prev+1 && !newIncarnation:
		return c.say("record %d follows %d", seq, prev)
	}
	return nil
}

// record decodes a record as readers do, and checks its images.
func (c *Checker) record(k, v []byte) error {
	bucket := c.Tx.Btx.Bucket(format.BucketJournal)
	r, err := c.Tx.Record(bucket, k, v)
	if err != nil {
		return c.say("record %x: %v", k, err)
	}
	if (r.New == nil) != (r.Op == format.OpDelete) || (r.Op == format.OpDelete && r.Old == nil) {
		return c.say("record %d: a %v without its image", r.Seq, r.Op)
	}
	for _, image := range []attr.Item{r.Old, r.New} {
		for name, v := range r.Key {
			if image != nil && !attr.Equal(image[name], v) {
				return c.say("record %d: an image of another item", r.Seq)
			}
		}
	}
	return nil
}

package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/attr"
)

// Problem is a promise that the file does not keep.
type Problem struct {
	Where string `json:"where"` // table, index, journal or file
	What  string `json:"what"`
}

// String is the problem on one line.
func (p Problem) String() string { return p.Where + ": " + p.What }

// maxProblems ends a check: a file that has this many has more than can be listed.
const maxProblems = 100

var errEnough = errors.New("enough problems")

// Check looks at everything in the file: that bbolt's pages hang together, that every item can be read and lies under
// its key, that the indexes say what the items say, both ways, that the journal is dense, holds both images of every
// record and the state of every item it tells of. It gives the first hundred problems. No write runs meanwhile: on a
// large store in use, check a backup.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	var problems []Problem
	err := s.Update(ctx, func(tx *Tx) error {
		c := checker{tx: tx}
		err := c.run()
		problems = c.problems
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	return problems, err
}

type checker struct {
	tx       *Tx
	where    string
	at       func(where string) // is told what is looked at; may be nil
	problems []Problem
}

// say notes a problem; its error ends the check.
func (c *checker) say(format string, args ...any) error {
	c.problems = append(c.problems, Problem{Where: c.where, What: fmt.Sprintf(format, args...)})
	if len(c.problems) >= maxProblems {
		return errEnough
	}
	return nil
}

func (c *checker) run() error {
	c.look("file")
	if err := c.pages(); err != nil {
		return err
	}
	return c.contents()
}

// contents looks at everything above the pages.
func (c *checker) contents() error {
	if err := c.buckets(); err != nil {
		return err
	}
	for _, id := range c.tx.cat.ids() {
		if t := c.tx.cat.byID[id]; !t.dropped {
			if err := c.table(t); err != nil {
				return err
			}
		}
	}
	if err := c.sides(); err != nil {
		return err
	}
	c.look("tokens")
	if err := c.tokens(); err != nil {
		return err
	}
	c.look("journal")
	return c.journal()
}

// look begins with a part of the file.
func (c *checker) look(where string) {
	c.where = where
	tell(c.at, where)
}

// pages has bbolt look at its own structure. The channel is read to its end: its writer would wait for ever.
func (c *checker) pages() (err error) {
	for problem := range c.tx.btx.Check() {
		if err == nil {
			err = c.say("%v", problem)
		}
	}
	return err
}

// buckets compares the buckets of tables and indexes with the catalogue: what is left of dropped ones is known too.
func (c *checker) buckets() error {
	known := map[string]bool{}
	for _, t := range c.tx.cat.byID {
		if !t.dropped {
			known[string(t.bucket)] = true
		}
		for _, ix := range t.indexes {
			known[string(ix.bucket)] = true
		}
		for _, l := range t.leaving {
			known[string(l.bucket())] = true
		}
	}
	err := c.tx.btx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		if known[string(name)] {
			delete(known, string(name))
			return nil
		}
		ours := len(name) == bucketNameSize && (name[0] == kindTable || name[0] == kindIndex)
		if ours && binary.BigEndian.Uint32(name[1:]) < c.tx.cat.nextID {
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

func (c *checker) table(t *table) error {
	c.look("table " + t.spec.Name)
	bucket := c.tx.btx.Bucket(t.bucket)
	if bucket == nil {
		return nil // buckets has said so
	}
	err := bucket.ForEach(func(k, v []byte) error { return c.row(t, k, row(v)) })
	if err != nil {
		return err
	}
	for _, ix := range t.indexes {
		c.look("table " + t.spec.Name + ", index " + ix.spec.Name)
		if err := c.index(ix, bucket); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) row(t *table, key []byte, r row) error {
	if c.tx.ctx.Err() != nil {
		return context.Cause(c.tx.ctx)
	}
	if err := r.check(key); err != nil {
		return c.say("row %x: %v", key, err)
	}
	it, err := r.decode()
	if err != nil {
		return c.say("row %x: %v", key, err)
	}
	if again, err := t.itemKey(it); err != nil || !bytes.Equal(again, key) {
		return c.say("row %x does not lie under its key: %v", key, err)
	}
	if err := attr.Check(it); err != nil {
		return c.say("row %x: %v", key, err)
	}
	if size := attr.Size(it); size != r.size() {
		return c.say("row %x has a size of %d, its item one of %d", key, r.size(), size)
	}
	return c.rowRecord(t, key, r)
}

// rowRecord compares a row with the journal record that wrote it.
func (c *checker) rowRecord(t *table, key []byte, r row) error {
	j := c.tx.journalState()
	if r.seq() > j.last {
		return c.say("row %x is of record %d, the last is %d", key, r.seq(), j.last)
	}
	if r.seq() < j.first {
		return nil
	}
	st, err := decodeRecord(c.tx.btx.Bucket(bucketJournal).Get(seqKey(r.seq())))
	if err != nil {
		return c.say("row %x: record %d: %v", key, r.seq(), err)
	}
	if st.table != t.id || !bytes.Equal(st.key, key) || !bytes.Equal(st.now, r.item()) {
		return c.say("row %x is not what record %d says", key, r.seq())
	}
	return nil
}

// index compares the entries with the items: each entry has its item, and each item in the index its entry. With no
// entry too many and as many entries as items there is none missing. Of the items that a filling has not come to, any
// may have an entry.
func (c *checker) index(ix *index, base *bolt.Bucket) error {
	bucket := c.tx.btx.Bucket(ix.bucket)
	if bucket == nil {
		return nil // buckets has said so
	}
	entries := 0
	err := bucket.ForEach(func(k, v []byte) error {
		entries++
		return c.entry(ix, base, k, v)
	})
	if err != nil {
		return err
	}
	items := 0
	err = base.ForEach(func(k, v []byte) error {
		r := row(v)
		if err := r.known(); err != nil {
			return c.say("item %x: %v", k, err)
		}
		key, _, err := ix.entryKey(r.item(), k)
		if err != nil {
			return c.say("item %x: %v", k, err)
		}
		switch {
		case key == nil:
		case bucket.Get(key) != nil:
			items++
		case ix.fill == nil || bytes.Compare(k, ix.fill.upTo) <= 0:
			return c.say("item %x has no entry", k)
		}
		return nil
	})
	if err == nil && items != entries {
		err = c.say("%d entries for %d items", entries, items)
	}
	return err
}

func (c *checker) entry(ix *index, base *bolt.Bucket, k, v []byte) error {
	primary, err := ix.primaryOf(k, v)
	if err != nil {
		return c.say("entry %x: %v", k, err)
	}
	r := row(base.Get(primary))
	if r == nil || r.known() != nil {
		return c.say("entry %x has no item", k)
	}
	want, _, err := ix.entryKey(r.item(), primary)
	if err != nil || !bytes.Equal(want, k) {
		return c.say("entry %x is not what its item says: %v", k, err)
	}
	return nil
}

// journal looks at the records. Those below first are there for their image alone, each for one record above; those of a
// dropped table may wait for nobody but forgetSlice.
func (c *checker) journal() error {
	j := c.tx.journalState()
	kept, wanted := map[uint64]bool{}, map[uint64]bool{}
	var bytes, prev uint64
	err := c.tx.btx.Bucket(bucketJournal).ForEach(func(k, v []byte) error {
		seq := binary.BigEndian.Uint64(k)
		st, err := decodeRecord(v)
		if err != nil {
			return c.say("record %d: %v", seq, err)
		}
		if seq < j.first {
			return c.past(seq, st.table, kept)
		}
		if st.prev != 0 && st.prev < j.first {
			wanted[st.prev] = true
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
	if bytes != j.bytes {
		err = c.say("%d bytes in the records, %d according to the counter", bytes, j.bytes)
	}
	if err != nil {
		return err
	}
	if err := c.ending(prev, j); err != nil {
		return err
	}
	return c.kept(kept, wanted)
}

// kept compares the records that were kept for their image with those that want one.
func (c *checker) kept(kept, wanted map[uint64]bool) error {
	for seq := range kept {
		if !wanted[seq] {
			return c.say("record %d is past and kept for nobody", seq)
		}
	}
	return nil
}

// ending compares the last record with the books. A restored journal ends before the first record of its incarnation.
func (c *checker) ending(prev uint64, j journalState) error {
	begun := j.last&(1<<incarnationBits-1) != 0
	if prev != j.last && begun && j.first <= j.last {
		return c.say("ends at %d, the metadata says %d", prev, j.last)
	}
	return nil
}

// past looks at a record that is not shown any more. Of a table that is there it is kept for a record that is.
func (c *checker) past(seq uint64, table uint32, kept map[uint64]bool) error {
	t := c.tx.cat.byID[table]
	if t == nil {
		return c.say("record %d is past and of an unknown table", seq)
	}
	if !t.dropped {
		kept[seq] = true
	}
	return nil
}

func (c *checker) sequence(seq, prev uint64, j journalState) error {
	newIncarnation := seq&(1<<incarnationBits-1) == 1
	switch {
	case seq > j.last:
		return c.say("record %d lies after the last, %d", seq, j.last)
	case prev == 0 && seq != j.first:
		return c.say("begins at %d, the metadata says %d", seq, j.first)
	case prev != 0 && seq != prev+1 && !newIncarnation:
		return c.say("record %d follows %d", seq, prev)
	}
	return nil
}

// record reads a record as its readers do, and looks at the old image.
func (c *checker) record(k, v []byte) error {
	bucket := c.tx.btx.Bucket(bucketJournal)
	r, err := c.tx.record(bucket, k, v)
	if err != nil {
		return c.say("record %x: %v", k, err)
	}
	if (r.New == nil) != (r.Op == OpDelete) || (r.Op == OpDelete && r.Old == nil) {
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

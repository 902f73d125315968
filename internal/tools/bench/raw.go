package main

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt" //nolint:depguard // the floor is bbolt itself

	"github.com/touchline/touchline/internal/tools/measure"
)

// raw is the floor of writes: bbolt with the changes of puts and nothing else. What a put reads from the store (the previous row, the
// state of the journal) raw already knows.
type raw struct {
	db      *bolt.DB
	shuffle *shuffle
	items   []rawItem
	indexes int
	options rawOptions

	first, last uint64 // of the journal
	bytes       uint64
	records     []rawRecord // starting with first
	untrimmed   int         // records written since the last trim
}

type rawOptions struct {
	noJournal bool
	keep      uint64 // bytes of the journal; 0: as in the store
	now       func() time.Time
}

// rawItem is what raw knows of an item.
type rawItem struct {
	seq   uint64 // of the record that wrote it
	entry []byte // its key in the indexes
}

// rawRecord is what raw knows of a journal record.
type rawRecord struct {
	item int
	prev uint64
	size int
}

// Names as in the store: the table gets the first id, the indexes get the next ones.
const (
	rawMeta     = "meta"
	rawJournal  = "journal"
	rawPosition = "journal" // in rawMeta
	rawTable    = "t\x00\x00\x00\x00"
	rawTableID  = 0
	rawFirstSeq = 1<<40 + 1
	rawKeep     = 64 << 20
	rawTrim     = 256

	rawTrimEvery = 64
)

// openRaw creates the floor of a store with the given number of items and indexes, filled by the same changes in as many commits.
func openRaw(ctx context.Context, path string, items, indexes int, o rawOptions) (*raw, error) {
	if o.now == nil {
		o.now = time.Now
	}
	if o.keep == 0 {
		o.keep = rawKeep
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		NoFreelistSync: true, FreelistType: bolt.FreelistMapType, InitialMmapSize: 1 << 30, NoStatistics: true,
	})
	if err != nil {
		return nil, err
	}
	r := &raw{
		db: db, shuffle: newShuffle(items), items: make([]rawItem, items), indexes: indexes, options: o,
		first: rawFirstSeq, last: rawFirstSeq - 1,
	}
	if err := r.fill(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return r, nil
}

func (r *raw) fill(ctx context.Context) error {
	names := []string{rawMeta, rawJournal, rawTable}
	for i := range r.indexes {
		names = append(names, string(r.index(i)))
	}
	err := r.db.Update(func(tx *bolt.Tx) error {
		for _, name := range names {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	for from := 0; from < len(r.items) && err == nil; from += fillBatch {
		var batch []change
		for n := from; n < min(from+fillBatch, len(r.items)); n++ {
			c, err := newChange(n, r.shuffle.first(n))
			if err != nil {
				return err
			}
			batch = append(batch, c)
		}
		if err = r.write(batch, true); err == nil {
			err = ctx.Err()
		}
	}
	return err
}

func (r *raw) index(i int) []byte {
	return binary.BigEndian.AppendUint32([]byte{'i'}, uint32(rawTableID+1+i))
}

// loop returns a side of one goroutine that makes the given number of commits of several puts each.
func (r *raw) loop(commits, puts int) measure.Side {
	var batches [][]change
	return measure.Side{
		Prepare: func() error {
			batches = batches[:0]
			for range commits {
				batch := make([]change, puts)
				for i := range batch {
					var err error
					if batch[i], err = newChange(r.shuffle.next()); err != nil {
						return err
					}
				}
				batches = append(batches, batch)
			}
			return nil
		},
		Run: func() (int, error) {
			for _, batch := range batches {
				if err := r.write(batch, false); err != nil {
					return 0, err
				}
			}
			return commits * puts, nil
		},
	}
}

// write commits the changes, as one transaction in the journal if together is set, or as several that share a commit.
func (r *raw) write(batch []change, together bool) error {
	return r.db.Update(func(tx *bolt.Tx) error {
		table, journal := tx.Bucket([]byte(rawTable)), tx.Bucket([]byte(rawJournal))
		journal.FillPercent = 0.9
		for i := range batch {
			if together {
				batch[i].txn = uint64(i)
			}
			if err := r.put(tx, table, journal, &batch[i]); err != nil {
				return err
			}
		}
		if r.options.noJournal {
			return nil
		}
		if err := r.trim(journal, len(batch)); err != nil {
			return err
		}
		return tx.Bucket([]byte(rawMeta)).Put([]byte(rawPosition), r.position())
	})
}

func (r *raw) put(tx *bolt.Tx, table, journal *bolt.Bucket, c *change) error {
	item := &r.items[c.n]
	r.last++
	if !r.options.noJournal {
		if err := r.log(table, journal, c, item.seq); err != nil {
			return err
		}
	}
	item.seq = r.last
	if err := table.Put(c.key, c.sealed(r.last)); err != nil {
		return err
	}
	if slices.Equal(item.entry, c.entry) {
		return nil
	}
	for i := range r.indexes {
		bucket := tx.Bucket(r.index(i))
		if item.entry != nil {
			if err := bucket.Delete(item.entry); err != nil {
				return err
			}
		}
		if err := bucket.Put(c.entry, c.split); err != nil {
			return err
		}
	}
	item.entry = c.entry
	return nil
}

// log writes the record of a change.
func (r *raw) log(table, journal *bolt.Bucket, c *change, prev uint64) error {
	var old []byte
	if prev != 0 && prev < r.first { // that record is trimmed: this one has the old image itself
		old, prev = table.Get(c.key)[rowHeader:], 0
	}
	record := c.record(r.options.now(), prev, old)
	r.records = append(r.records, rawRecord{item: c.n, prev: prev, size: len(record)})
	r.bytes += uint64(len(record))
	return journal.Put(binary.BigEndian.AppendUint64(nil, r.last), record)
}

// trim removes the oldest records while the journal is too large, once every so many records, like the store.
func (r *raw) trim(journal *bolt.Bucket, written int) error {
	r.untrimmed += written
	if r.untrimmed < rawTrimEvery && r.bytes <= r.options.keep+r.options.keep/16 {
		return nil
	}
	r.untrimmed = 0
	for range max(rawTrim, 2*written) {
		if r.bytes <= r.options.keep {
			return nil
		}
		oldest := r.records[0]
		if oldest.prev != 0 {
			if err := journal.Delete(binary.BigEndian.AppendUint64(nil, oldest.prev)); err != nil {
				return err
			}
		}
		if r.items[oldest.item].seq == r.first { // otherwise a later record refers to it
			if err := journal.Delete(binary.BigEndian.AppendUint64(nil, r.first)); err != nil {
				return err
			}
		}
		r.records = r.records[1:]
		r.first++
		r.bytes -= uint64(oldest.size)
	}
	return nil
}

func (r *raw) position() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 24), r.first)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, r.last), r.bytes)
}

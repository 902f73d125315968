package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"

	bolt "go.etcd.io/bbolt" //nolint:depguard // the floor is bbolt itself

	"github.com/touchline/touchline/internal/tools/measure"
)

// raw is the floor of writes: a file of the store in the hands of bbolt alone. A put changes in it what it changes in the store: a row, a
// journal record and, once a commit, the position of the journal. Their bytes are those of a put that the store has made, under other keys.
type raw struct {
	db      *bolt.DB
	random  *rand.Rand
	journal bool // write the journal, too

	keys                  [][]byte // of all rows
	row, record, position []byte
	seq                   uint64 // of the last record
}

// The buckets of a store with one table, and the key of the journal's position in the first.
const (
	rawMeta     = "meta"
	rawPosition = "journal"
	rawJournal  = "journal"
	rawTable    = "t\x00\x00\x00\x00"
)

// openRaw creates a store with the given number of items, closes it, and opens its file with the store's options.
func openRaw(ctx context.Context, path string, items int) (*raw, error) {
	s, err := openOurs(ctx, path, items, 0)
	if err != nil {
		return nil, err
	}
	// The pattern of all puts: it replaces the last item, so its row and its record are the last ones of their buckets.
	err = s.put(ctx, measure.MakeItem(items-1, ranks-1, 6))
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		NoFreelistSync: true, FreelistType: bolt.FreelistMapType, InitialMmapSize: 1 << 30, NoStatistics: true,
	})
	if err != nil {
		return nil, err
	}
	r := &raw{db: db, random: rand.New(rand.NewPCG(1, 2)), journal: true}
	if err := db.View(r.learn); err != nil {
		measure.Shut(db)
		return nil, err
	}
	return r, nil
}

// learn reads from the file what a put needs.
func (r *raw) learn(tx *bolt.Tx) error {
	seq, record := tx.Bucket([]byte(rawJournal)).Cursor().Last()
	r.seq, r.record = binary.BigEndian.Uint64(seq), bytes.Clone(record)
	r.position = bytes.Clone(tx.Bucket([]byte(rawMeta)).Get([]byte(rawPosition)))
	return tx.Bucket([]byte(rawTable)).ForEach(func(key, row []byte) error {
		r.keys, r.row = append(r.keys, bytes.Clone(key)), bytes.Clone(row)
		return nil
	})
}

// loop returns a side of one goroutine that makes the given number of commits of several puts each.
func (r *raw) loop(commits, puts int) measure.Side {
	return measure.Side{Run: func() (int, error) {
		for range commits {
			if err := r.commit(puts); err != nil {
				return 0, err
			}
		}
		return commits * puts, nil
	}}
}

func (r *raw) commit(puts int) error {
	return r.db.Update(func(tx *bolt.Tx) error {
		table, journal := tx.Bucket([]byte(rawTable)), tx.Bucket([]byte(rawJournal))
		journal.FillPercent = 0.9 // as in the store
		for range puts {
			if err := table.Put(r.anyKey(), r.row); err != nil {
				return err
			}
			if r.seq++; !r.journal {
				continue
			}
			if err := journal.Put(binary.BigEndian.AppendUint64(nil, r.seq), r.record); err != nil {
				return err
			}
		}
		if !r.journal {
			return nil
		}
		return tx.Bucket([]byte(rawMeta)).Put([]byte(rawPosition), r.position)
	})
}

// anyKey returns the key of a random row.
func (r *raw) anyKey() []byte { return r.keys[r.random.IntN(len(r.keys))] }

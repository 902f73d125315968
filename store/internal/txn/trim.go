package txn

import (
	"encoding/binary"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// trimSlice limits the records that one commit trims, so no commit pays for many. A commit that wrote many records may trim twice as
// many, so the journal cannot outgrow its trimming.
const trimSlice = 256

// A commit that trims writes the first pages of the journal in addition to its last. So commits only trim once every trimEvery records or
// every trimAfter.
const (
	trimEvery = 64
	trimAfter = time.Minute
)

// trim removes the oldest records of the journal if they exceed the age or the size in Options and every cursor has passed them. While the
// oldest record lies in a listed stream, the age is at least StreamAge and the size at least StreamBytes. trim runs within commits, so a
// journal without writes is not trimmed.
//
// A record holds its new image, and the next record of the same item refers to it as its old image. So a record that the journal no
// longer shows stays as long as one that refers to it: below First, and it is removed together with that one. For example, if records 4
// and 9 are about one item, trimming 4 only moves First; trimming 9 removes 4, and 9 too unless a later record refers to it.
func (b *batch) trim() error {
	if !b.trimNow() {
		return nil
	}
	slice := max(trimSlice, 2*b.records)
	floor := uint64(0) // not read yet
	for range slice {
		if !b.trimDue() {
			return nil
		}
		if floor == 0 {
			var err error
			if floor, err = cursorFloor(b.btx.Bucket(format.BucketCursors)); err != nil {
				return err
			}
		}
		if b.Journal.First > floor {
			return nil
		}
		if err := b.trimFirst(); err != nil {
			return err
		}
	}
	return nil
}

// trimNow reports whether it is time to trim again, or the journal is well above its size, or the file was full, when every page counts.
func (b *batch) trimNow() bool {
	c, now := b.s.Commits, b.s.Opts.Now()
	c.untrimmed += b.records
	if c.untrimmed < trimEvery && now.Sub(c.trimmed) < trimAfter && !b.outgrown() && !b.s.Meter.LastWasFull.Load() {
		return false
	}
	c.untrimmed, c.trimmed = 0, now
	return true
}

// outgrown reports whether the journal is well above its size.
func (b *batch) outgrown() bool {
	above := func(size int64) bool { return b.Journal.Bytes > uint64(size+size/16) }
	o := &b.s.Opts
	return above(o.JournalBytes) &&
		(above(o.StreamBytes) || !b.cat.IsInStream(b.Journal.First, o.Now()))
}

// trimDue reports whether the first record may be trimmed.
func (b *batch) trimDue() bool {
	j := &b.Journal
	if j.First > j.Last {
		return false
	}
	size, age := b.s.Opts.JournalBytes, b.s.Opts.JournalAge
	if b.cat.IsInStream(j.First, b.s.Opts.Now()) {
		size, age = max(size, b.s.Opts.StreamBytes), max(age, catalogue.StreamAge)
	}
	if j.Bytes > uint64(size) {
		return true
	}
	if j.FirstAt == 0 {
		v := b.btx.Bucket(format.BucketJournal).Get(format.SeqKey(j.First))
		if len(v) < format.RecordHeader {
			return true // trimFirst skips it
		}
		j.FirstAt = int64(binary.BigEndian.Uint64(v[format.RecordAt:]))
	}
	return b.s.Opts.Now().Sub(time.Unix(0, j.FirstAt)) > age
}

// cursorFloor returns the sequence up to which every cursor has read; the highest possible without cursors.
func cursorFloor(cursors *bolt.Bucket) (uint64, error) {
	floor := uint64(math.MaxUint64)
	err := cursors.ForEach(func(k, v []byte) error {
		if len(v) != 8 {
			return refusal.DamagedData(nil, "cursor %q cannot be decoded", k)
		}
		floor = min(floor, binary.BigEndian.Uint64(v))
		return nil
	})
	return floor, err
}

func (b *batch) trimFirst() error {
	bucket := b.btx.Bucket(format.BucketJournal)
	j := &b.Journal
	key := format.SeqKey(j.First)
	v := bucket.Get(key)
	if r, err := format.DecodeRecord(v); err == nil { // a damaged record stays: it is unknown which others need it, and no commit may fail because of it
		if err := b.trimRecord(bucket, key, &r); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.TrimRecord)
	j.Bytes -= uint64(len(v))
	b.mutations += 2
	j.FirstAt = 0
	j.First = j.Next(bucket)
	return nil
}

// trimRecord deletes the record that the first one refers to, and the first one itself if no later record refers to it.
func (b *batch) trimRecord(bucket *bolt.Bucket, key []byte, r *format.StoredRecord) error {
	if r.Prev != 0 {
		if err := bucket.Delete(format.SeqKey(r.Prev)); err != nil {
			return err
		}
	}
	if b.isReferred(b.Journal.First, r) {
		return nil
	}
	return bucket.Delete(key)
}

// isReferred reports whether a later record refers to this one for its old image. That is so unless the image is still the item's present
// state, or the record is a delete or of a table that was forgotten.
func (b *batch) isReferred(seq uint64, r *format.StoredRecord) bool {
	t := b.cat.ByID[r.Table]
	if r.Now == nil || t == nil {
		return false
	}
	bucket := b.btx.Bucket(t.Bucket)
	if bucket == nil {
		return true // dropped table: it is unknown who needs the record; ForgetSlice removes it
	}
	present := format.Row(bucket.Get(r.Key))
	return present == nil || present.Seq() != seq
}

package store

import (
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
)

// Cursor returns how far the reader of that name has come in the journal; false if it is not registered.
func (tx *Tx) Cursor(name string) (seq uint64, ok bool, err error) {
	if err := tx.enter(); err != nil {
		return 0, false, err
	}
	defer tx.leave()
	bucket, err := tx.bucket(bucketCursors)
	if err != nil {
		return 0, false, err
	}
	v := bucket.Get([]byte(name))
	if v == nil {
		return 0, false, nil
	}
	if len(v) != 8 {
		return 0, false, damaged(nil, "cursor %q cannot be decoded", name)
	}
	return binary.BigEndian.Uint64(v), true, nil
}

// maxCursorName is the longest name of a cursor, in bytes.
const maxCursorName = 255

// SetCursor registers a reader of the journal, or moves it: records up to seq have been dealt with and may be trimmed,
// later ones stay. Setting it in the transaction that does the work makes the work happen once.
func (tx *Tx) SetCursor(name string, seq uint64) error {
	if err := tx.enterWrite(); err != nil {
		return err
	}
	defer tx.leave()
	if name == "" || len(name) > maxCursorName {
		return fault.New(fault.Invalid, "validation", "a cursor needs a name, of up to %d bytes", maxCursorName)
	}
	bucket, err := tx.bucket(bucketCursors)
	if err != nil {
		return err
	}
	key := []byte(name)
	return tx.breakOff(tx.batch.set(bucket, key, seqKey(seq), bucket.Get(key)))
}

// DeleteCursor forgets a reader, so that it holds nothing back any more.
func (tx *Tx) DeleteCursor(name string) error {
	if err := tx.enterWrite(); err != nil {
		return err
	}
	defer tx.leave()
	bucket, err := tx.bucket(bucketCursors)
	if err != nil {
		return err
	}
	key := []byte(name)
	old := bucket.Get(key)
	if old == nil {
		return nil
	}
	return tx.breakOff(tx.batch.remove(bucket, key, old))
}

// cursors lists the registered readers.
func cursors(btx *bolt.Tx) map[string]uint64 {
	out := map[string]uint64{}
	c := btx.Bucket(bucketCursors).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(v) == 8 {
			out[string(k)] = binary.BigEndian.Uint64(v)
		}
	}
	return out
}

package txn

import (
	"encoding/binary"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Cursor is store.Tx.Cursor.
func (tx *Tx) Cursor(name string) (seq uint64, ok bool, err error) {
	if err := tx.BeginCall(); err != nil {
		return 0, false, err
	}
	defer tx.EndCall()
	bucket, err := tx.Bucket(format.BucketCursors)
	if err != nil {
		return 0, false, err
	}
	v := bucket.Get([]byte(name))
	if v == nil {
		return 0, false, nil
	}
	if len(v) != 8 {
		return 0, false, refusal.DamagedData(nil, "cursor %q cannot be decoded", name)
	}
	return binary.BigEndian.Uint64(v), true, nil
}

// maxCursorName is the maximum length of a cursor's name, in bytes.
const maxCursorName = 255

// SetCursor is store.Tx.SetCursor.
func (tx *Tx) SetCursor(name string, seq uint64) error {
	if err := tx.enterWrite(); err != nil {
		return err
	}
	defer tx.EndCall()
	if name == "" || len(name) > maxCursorName {
		return fault.New(fault.Invalid, "validation", "a cursor needs a name, of up to %d bytes", maxCursorName)
	}
	bucket, err := tx.Bucket(format.BucketCursors)
	if err != nil {
		return err
	}
	key := []byte(name)
	return tx.BreakOff(tx.Batch.Set(bucket, key, format.SeqKey(seq), bucket.Get(key)))
}

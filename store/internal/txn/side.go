package txn

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/format"
)

// Side is a named space of keys and values beside the tables, for data of the node rather than of an application. It is changed in the
// same transactions as the tables, rolled back with a failed one, and included in backups. It is not in the journal.
type Side struct {
	Tx   *Tx
	Name string
}

// bucket returns the bucket of the space, or nil if nobody has written to it.
func (sd Side) bucket() *bolt.Bucket {
	if sd.Tx.Reader != nil {
		return sd.Tx.Reader.bucket(format.SideBucket(sd.Name))
	}
	return sd.Tx.Btx.Bucket(format.SideBucket(sd.Name))
}

// Get returns a copy of the value of a key, nil if there is none. An existing empty value is not nil.
func (sd Side) Get(key []byte) ([]byte, error) {
	if err := sd.Tx.BeginCall(); err != nil {
		return nil, err
	}
	defer sd.Tx.EndCall()
	b := sd.bucket()
	if b == nil || len(key) == 0 {
		return nil, nil
	}
	v := b.Get(key)
	if v == nil {
		return nil, nil
	}
	return append([]byte{}, v...), nil
}

// Set sets the value of a key. It copies both.
func (sd Side) Set(key, value []byte) error {
	if err := sd.enterWrite(); err != nil {
		return err
	}
	defer sd.Tx.EndCall()
	if len(key) == 0 || len(key) > format.MaxSideKey || len(value) > format.MaxSide || sd.Name == "" || len(sd.Name) > format.MaxSideName {
		return fault.New(fault.Internal, "bad_side", "side %q: a key of %d bytes, a value of %d", sd.Name, len(key), len(value))
	}
	return sd.Tx.BreakOff(sd.set(bytes.Clone(key), append([]byte{}, value...)))
}

func (sd Side) set(key, value []byte) error {
	b := sd.bucket()
	if b == nil {
		var err error
		if b, err = sd.create(); err != nil {
			return err
		}
	}
	old := b.Get(key)
	if old != nil && bytes.Equal(old, value) {
		return nil
	}
	if err := sd.Tx.Batch.Set(b, key, value, old); err != nil {
		return err
	}
	sd.Tx.Batch.side.set(key, value, old)
	failpoint.Hit(failpoint.SideSet)
	return nil
}

// create creates the bucket.
func (sd Side) create() (*bolt.Bucket, error) {
	btx, name := sd.Tx.Btx, format.SideBucket(sd.Name)
	b, err := btx.CreateBucket(name)
	if err != nil {
		return nil, err
	}
	sd.Tx.Batch.AddUndo(UndoEntry{Again: func() error { return btx.DeleteBucket(name) }}, len(name))
	return b, nil
}

// Delete removes a key. A missing key is no error.
func (sd Side) Delete(key []byte) error {
	if err := sd.enterWrite(); err != nil {
		return err
	}
	defer sd.Tx.EndCall()
	b := sd.bucket()
	if b == nil || len(key) == 0 {
		return nil
	}
	old := b.Get(key)
	if old == nil {
		return nil
	}
	key = bytes.Clone(key)
	if err := sd.Tx.BreakOff(sd.Tx.Batch.remove(b, key, old)); err != nil {
		return err
	}
	sd.Tx.Batch.side.remove(key, old)
	return nil
}

// enterWrite is Tx.enterWrite, but also allowed within Compile.
func (sd Side) enterWrite() error {
	if sd.Tx.Batch == nil {
		return ErrReadOnly()
	}
	return sd.Tx.BeginCall()
}

// Each calls fn with the keys that have the given prefix and come after the given key (nil: all), ascending, until fn returns false or an
// error. Key and value are valid only within fn, which must not call the transaction; to change what it finds, collect the keys first.
func (sd Side) Each(prefix, after []byte, fn func(key, value []byte) (more bool, err error)) error {
	if err := sd.Tx.BeginCall(); err != nil {
		return err
	}
	defer sd.Tx.EndCall()
	b := sd.bucket()
	if b == nil {
		return nil
	}
	sd.Tx.lent = true
	defer func() { sd.Tx.lent = false }()
	c := b.Cursor()
	from := prefix
	if bytes.Compare(after, from) > 0 {
		from = after
	}
	k, v := c.Seek(from)
	if after != nil && bytes.Equal(k, after) {
		k, v = c.Next()
	}
	for ; k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if more, err := fn(k, v); err != nil || !more {
			return err
		}
	}
	return nil
}

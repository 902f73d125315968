package store

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
)

// Side is a space of keys and values beside the tables, of a name: what belongs to the node and not to an application.
// It is changed in the same transactions as the tables, undone with a failed one alone, and lies in backups. The journal
// does not tell of it.
type Side struct {
	tx   *Tx
	name string
}

// Limits of a Side, in bytes. A key is never empty.
const (
	maxSideName = 64
	maxSideKey  = 8 << 10
	maxSide     = 32 << 20 // of a value
)

// sidePrefix begins the names of their buckets. It is longer than those of tables and indexes.
const sidePrefix = "side/"

func sideBucket(name string) []byte { return append([]byte(sidePrefix), name...) }

// Side returns a space by its name. There is nothing to make: one that nobody has written to is empty.
func (tx *Tx) Side(name string) Side { return Side{tx: tx, name: name} }

// bucket returns the bucket of the space, nil if nobody has written to it.
func (sd Side) bucket() *bolt.Bucket {
	if sd.tx.reader != nil {
		return sd.tx.reader.bucket(sideBucket(sd.name))
	}
	return sd.tx.btx.Bucket(sideBucket(sd.name))
}

// Get returns a copy of the value of a key, nil if there is none. A value that is there and empty is not nil.
func (sd Side) Get(key []byte) ([]byte, error) {
	if err := sd.tx.enter(); err != nil {
		return nil, err
	}
	defer sd.tx.leave()
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

// Set gives a key a value. Both are copied.
func (sd Side) Set(key, value []byte) error {
	if err := sd.enterWrite(); err != nil {
		return err
	}
	defer sd.tx.leave()
	if len(key) == 0 || len(key) > maxSideKey || len(value) > maxSide || sd.name == "" || len(sd.name) > maxSideName {
		return fault.New(fault.Internal, "bad_side", "side %q: a key of %d bytes, a value of %d", sd.name, len(key), len(value))
	}
	return sd.tx.breakOff(sd.set(bytes.Clone(key), append([]byte{}, value...)))
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
	if err := sd.tx.batch.set(b, key, value, old); err != nil {
		return err
	}
	sd.tx.batch.side.set(key, value, old)
	failpoint.Hit(failpoint.SideSet)
	return nil
}

// create makes the bucket.
func (sd Side) create() (*bolt.Bucket, error) {
	btx, name := sd.tx.btx, sideBucket(sd.name)
	b, err := btx.CreateBucket(name)
	if err != nil {
		return nil, err
	}
	sd.tx.batch.note(undoEntry{again: func() error { return btx.DeleteBucket(name) }}, len(name))
	return b, nil
}

// Delete removes a key. One that is not there is no error.
func (sd Side) Delete(key []byte) error {
	if err := sd.enterWrite(); err != nil {
		return err
	}
	defer sd.tx.leave()
	b := sd.bucket()
	if b == nil || len(key) == 0 {
		return nil
	}
	old := b.Get(key)
	if old == nil {
		return nil
	}
	key = bytes.Clone(key)
	if err := sd.tx.breakOff(sd.tx.batch.remove(b, key, old)); err != nil {
		return err
	}
	sd.tx.batch.side.remove(key, old)
	return nil
}

// enterWrite is Tx.enterWrite, within Compile too.
func (sd Side) enterWrite() error {
	if sd.tx.batch == nil {
		return errReadOnly()
	}
	return sd.tx.enter()
}

// Each calls fn with the keys that begin with prefix and are behind after (nil: all), ascending, until it wants no more
// or fails. Key and value are valid within fn only, which makes no call on the transaction; who wants to change what it
// finds collects the keys first.
func (sd Side) Each(prefix, after []byte, fn func(key, value []byte) (more bool, err error)) error {
	if err := sd.tx.enter(); err != nil {
		return err
	}
	defer sd.tx.leave()
	b := sd.bucket()
	if b == nil {
		return nil
	}
	sd.tx.lent = true
	defer func() { sd.tx.lent = false }()
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

// sides looks at the spaces beside the tables. What is in them is their owners' matter.
func (c *checker) sides() error {
	return c.tx.btx.ForEach(func(name []byte, b *bolt.Bucket) error {
		if !bytes.HasPrefix(name, []byte(sidePrefix)) {
			return nil
		}
		c.look(string(name))
		if len(name) == len(sidePrefix) || len(name) > len(sidePrefix)+maxSideName {
			return c.say("a space with a name of %d bytes", len(name)-len(sidePrefix))
		}
		return b.ForEach(func(k, v []byte) error {
			if len(k) == 0 || v == nil {
				return c.say("key %x is missing, or holds another bucket", k)
			}
			return nil
		})
	})
}

package lease

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/touchline/touchline/store"
)

// sideFences holds what a node has seen of fences, by table and lock.
const sideFences = "fences"

// rememberFor is how far back DynamoDB restores a table (35 days), with some days to spare. A fence is at least its time in milliseconds,
// so one seen earlier is below what the time gives to any lock that is taken now.
const rememberFor = 40 * 24 * time.Hour

// Fences remembers the highest fence that this node has seen of each lock of one table, also over restarts. A table that was restored to an
// earlier time has forgotten its later fences; the node has not.
type Fences struct {
	store *store.Store // nil: in memory only
	table string

	mu    sync.Mutex
	locks map[string]lockFences
}

// lockFences is what was seen of one lock, and how much of that the store has.
type lockFences struct{ seen, stored seenFences }

// seenFences is the highest fences of one lock. That of an item can be above the lock's without either having gone back.
type seenFences struct {
	row  int64 // in the lock's own record
	item int64 // on an item that refused a write
}

func (s seenFences) highest() int64 { return max(s.row, s.item) }

func (s seenFences) union(other seenFences) seenFences {
	return seenFences{row: max(s.row, other.row), item: max(s.item, other.item)}
}

// FencesIn returns the memory of the fences of a table, kept in the node's own store.
func FencesIn(s *store.Store, table string) *Fences {
	return &Fences{store: s, table: table, locks: map[string]lockFences{}}
}

func (f *Fences) sideKey(key string) []byte { return []byte(f.table + "\x00" + key) }

// recall returns what was seen of a lock.
func (f *Fences) recall(ctx context.Context, key string) (seenFences, error) {
	f.mu.Lock()
	known, ok := f.locks[key]
	f.mu.Unlock()
	if ok || f.store == nil {
		return known.seen, nil
	}
	var stored seenFences
	err := f.store.View(ctx, func(tx *store.Tx) (err error) {
		stored, err = f.readStored(tx, key)
		return err
	})
	if err != nil {
		return seenFences{}, err
	}
	return f.combine(key, lockFences{seen: stored, stored: stored}).seen, nil
}

// remember records what was seen of a lock. What could not be stored is kept in memory, and stored with the next.
func (f *Fences) remember(ctx context.Context, key string, saw seenFences) error {
	if _, err := f.recall(ctx, key); err != nil {
		return err
	}
	all := f.combine(key, lockFences{seen: saw})
	if f.store == nil || all.seen == all.stored {
		return nil
	}
	stored := all.seen
	err := f.store.Update(ctx, func(tx *store.Tx) error {
		there, err := f.readStored(tx, key)
		if err != nil {
			return err
		}
		stored = stored.union(there)
		return tx.Side(sideFences).Set(f.sideKey(key), encodeSeen(stored))
	})
	if err != nil {
		return err
	}
	f.combine(key, lockFences{seen: stored, stored: stored})
	return nil
}

// combine adds to what is known of a lock, and returns all of it.
func (f *Fences) combine(key string, more lockFences) lockFences {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.locks[key]
	known.seen = known.seen.union(more.seen)
	known.stored = known.stored.union(more.stored)
	f.locks[key] = known
	return known
}

// readStored returns what the store has of a lock.
func (f *Fences) readStored(tx *store.Tx, key string) (seenFences, error) {
	text, err := tx.Side(sideFences).Get(f.sideKey(key))
	return decodeSeen(text), err
}

// forget removes locks whose fences are all below a number.
func (f *Fences) forget(ctx context.Context, below int64) error {
	if f.store == nil {
		return nil
	}
	return f.store.Update(ctx, func(tx *store.Tx) error {
		side := tx.Side(sideFences)
		var old [][]byte
		err := side.Each([]byte(f.table+"\x00"), nil, func(k, v []byte) (bool, error) {
			if decodeSeen(v).highest() < below {
				old = append(old, bytes.Clone(k))
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		for _, k := range old {
			if err := side.Delete(k); err != nil {
				return err
			}
		}
		return nil
	})
}

func encodeSeen(s seenFences) []byte {
	return binary.AppendVarint(binary.AppendVarint(nil, s.row), s.item)
}

// decodeSeen reads what was stored of a lock. What cannot be read counts as nothing: the time still gives a high fence, and a lock that
// nobody can take would be worse.
func decodeSeen(text []byte) seenFences {
	row, n := binary.Varint(text)
	if n <= 0 {
		return seenFences{}
	}
	item, more := binary.Varint(text[n:])
	if more <= 0 {
		return seenFences{}
	}
	return seenFences{row: row, item: item}
}

package outbox

import (
	"encoding/binary"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// The side buckets of the outbox. Batches lie by lane and sequence, so that each lane reads its own in order from wherever
// it stands, and memory needs no index of them.
const (
	SideOutbox    = "outbox"      // lane, sequence: batch
	sideAttempted = "attempted"   // lane: the batches that may be on their way, of which the outbox knows less than is true
	sideEvents    = "events"      // lock, 0, sequence: fence, group: entries that state of the same lock and fence waits for
	SideFolded    = "folded"      // sequence: that of the batch that the entry was folded into
	SideMeta      = "outbox-meta" // "counts", "lanes", "replay"
)

// The versions of a batch's record: the first has no after.
const (
	unitVersion      = 1
	unitAfterVersion = 2
)

// Get reads a batch; nil: it is not in the outbox any more.
func Get(tx *store.Tx, id ID) (*Batch, error) {
	b, err := tx.Side(SideOutbox).Get(id.Key())
	if err != nil || b == nil {
		return nil, err
	}
	return Decode(id, b)
}

// Decode reads the record of a batch.
func Decode(id ID, b []byte) (*Batch, error) {
	u, err := decode(id, b)
	if err != nil {
		return nil, fault.Wrap(err, fault.Damaged, "outbox", "entry %d of the outbox cannot be read", id.Seq)
	}
	return u, nil
}

// Put stores a new or changed batch.
func Put(tx *store.Tx, u *Batch, t Tally) error {
	b := u.Encode()
	if err := tx.Side(SideOutbox).Set(u.ID.Key(), b); err != nil {
		return err
	}
	entries := int64(0)
	if u.Size == 0 {
		entries = int64(len(u.Entries))
		if err := u.Index(tx, true); err != nil {
			return err
		}
	}
	t.add(u.Table(), entries, int64(len(b)-u.Size))
	u.Size = len(b)
	return nil
}

// Drop removes a batch from the outbox; the caller updates the shadows of its items.
func Drop(tx *store.Tx, u *Batch, t Tally) error {
	if err := tx.Side(SideOutbox).Delete(u.ID.Key()); err != nil {
		return err
	}
	for _, e := range u.Entries {
		for _, seq := range e.Folds {
			if err := tx.Side(SideFolded).Delete(SeqKey(seq)); err != nil {
				return err
			}
		}
	}
	t.add(u.Table(), -int64(len(u.Entries)), -int64(u.Size))
	return u.Index(tx, false)
}

// NoteFolds notes of the sequences that have fallen together into a batch where they are now.
func NoteFolds(tx *store.Tx, u *Batch) error {
	for _, e := range u.Entries {
		for _, seq := range e.Folds {
			if err := tx.Side(SideFolded).Set(SeqKey(seq), SeqKey(u.ID.Seq)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Index keeps the list of entries that state waits for.
func (u *Batch) Index(tx *store.Tx, in bool) error {
	side := tx.Side(sideEvents)
	for _, e := range u.Entries {
		if e.Lock == "" || e.Policy == store.PolicyState {
			continue
		}
		key := append(append([]byte(e.Lock), 0), SeqKey(e.Seq)...)
		var err error
		if in {
			err = side.Set(key, append(SeqKey(uint64(e.Fence)), SeqKey(e.Group)...))
		} else {
			err = side.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// EventsDone reports whether the events of a lock are settled that this node wrote under the fence or a lower one, up to
// those of an Update. A node that has taken its lock again builds on events that it queued under its fence before: whoever
// comes after it sees the state and must find them.
func EventsDone(tx *store.Tx, lock string, fence int64, group uint64) (done bool, err error) {
	done = true
	prefix := append([]byte(lock), 0)
	err = tx.Side(sideEvents).Each(prefix, nil, func(k, v []byte) (bool, error) {
		if len(k) != len(prefix)+8 || len(v) != 16 {
			return true, nil
		}
		// One that was given another number stands behind entries of later groups.
		done = binary.BigEndian.Uint64(v[8:]) > group || int64(binary.BigEndian.Uint64(v)) > fence
		return done, nil
	})
	return done, err
}

package outbox

import (
	"encoding/binary"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Side buckets of the outbox. Batches are ordered by worker and sequence, so that each worker reads its own in order from any
// position, and no index in memory is needed.
const (
	SideOutbox    = "outbox"      // worker, sequence: batch
	sideAttempted = "attempted"   // worker: batches that may be on their way although their outbox record does not say so
	sideEvents    = "events"      // lock, 0, sequence: fence, group: entries that state of the same lock and fence waits for
	SideFolded    = "folded"      // sequence: sequence of the batch that the entry was folded into
	SideMeta      = "outbox-meta" // "counts", "lanes", "replay"
)

// Versions of a batch's record. The first lacks After.
const (
	batchVersion      = 1
	batchAfterVersion = 2
)

// Get reads a batch, or returns nil if it has left the outbox.
func Get(tx *store.Tx, id ID) (*Batch, error) {
	b, err := tx.Side(SideOutbox).Get(id.Key())
	if err != nil || b == nil {
		return nil, err
	}
	return Decode(id, b)
}

// Decode parses the record of a batch.
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

// Drop removes a batch from the outbox. The caller updates the queues of its items.
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

// NoteFolds records which batch the folded sequences are in now.
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

// Index adds the batch's events to the list that state waits for, or removes them.
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

// EventsDone reports whether the events of a lock that this node wrote under this fence or a lower one, up to those of an Update, are
// settled. Lower fences count because a node that took its lock again builds on events queued before: the next holder sees
// the state and must find them.
func EventsDone(tx *store.Tx, lock string, fence int64, group uint64) (done bool, err error) {
	done = true
	prefix := append([]byte(lock), 0)
	err = tx.Side(sideEvents).Each(prefix, nil, func(k, v []byte) (bool, error) {
		if len(k) != len(prefix)+8 || len(v) != 16 {
			return true, nil
		}
		// A renumbered entry may stand behind entries of later groups.
		done = binary.BigEndian.Uint64(v[8:]) > group || int64(binary.BigEndian.Uint64(v)) > fence
		return done, nil
	})
	return done, err
}

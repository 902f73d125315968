package outbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

const (
	// MaxLanes is how many lanes an outbox may have, beside the one for what goes ahead.
	MaxLanes = 64
	// FlagBatch is how many batches are flagged in one transaction.
	FlagBatch = 500
	// ReplayLooks is how many batches that were put back are looked at in a lane: with more the node has not replayed.
	ReplayLooks = 10_000
)

// Each calls fn with the batches of all lanes, each lane's in their order, until it wants no more. fn makes no call on
// the transaction.
func Each(tx *store.Tx, fn func(*Batch) (more bool, err error)) error {
	return tx.Side(SideOutbox).Each(nil, nil, func(k, v []byte) (bool, error) {
		if len(k) != 9 {
			return true, nil
		}
		u, err := Decode(ID{Lane: k[0], Seq: binary.BigEndian.Uint64(k[1:])}, v)
		if err != nil {
			return false, err
		}
		return fn(u)
	})
}

// Between lists the batches with a sequence from..to, of all lanes, at most limit.
func (b *Outbox) Between(tx *store.Tx, from, to uint64, limit int) (out []ID, err error) {
	for lane := range b.Lanes {
		prefix := []byte{uint8(lane)}
		after := ID{Lane: uint8(lane), Seq: from - 1}.Key()
		err = tx.Side(SideOutbox).Each(prefix, after, func(k, _ []byte) (bool, error) {
			seq := binary.BigEndian.Uint64(k[1:])
			if seq > to || len(out) >= limit {
				return false, nil
			}
			out = append(out, ID{Lane: k[0], Seq: seq})
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PendingOf lists the batches of the Update whose last record is seq that are in the outbox, and the Update's first record.
func (b *Outbox) PendingOf(tx *store.Tx, seq uint64) (first uint64, pending []ID, err error) {
	first = seq
	records, err := tx.Journal(seq-1, 1)
	if err != nil {
		return 0, nil, err
	}
	if len(records) > 0 && records[0].Seq == seq {
		first = records[0].Txn
	}
	pending, err = b.Between(tx, first, seq, 100)
	if err != nil || len(pending) > 0 {
		return first, pending, err
	}
	err = tx.Side(SideFolded).Each(nil, SeqKey(first-1), func(k, v []byte) (bool, error) {
		if binary.BigEndian.Uint64(k) > seq {
			return false, nil
		}
		pending = append(pending, ID{Seq: binary.BigEndian.Uint64(v)})
		return len(pending) < 100, nil
	})
	if err != nil {
		return first, nil, err
	}
	for i := range pending {
		found, err := b.Between(tx, pending[i].Seq, pending[i].Seq, 1)
		if err != nil {
			return first, nil, err
		}
		if len(found) == 0 {
			return first, nil, fault.New(fault.Damaged, "outbox", "entry %d was folded into one that is not there", pending[i].Seq)
		}
		pending[i] = found[0]
	}
	return first, pending, nil
}

// NotHeld returns the batches that do not wait for an operator: those that do have a record.
func NotHeld(tx *store.Tx, ids []ID) (out []ID, err error) {
	for _, id := range ids {
		u, err := Get(tx, id)
		if err != nil {
			return nil, err
		}
		if u != nil && !u.Held() {
			out = append(out, id)
		}
	}
	return out, nil
}

// Find returns the batch that holds the entry of a sequence; nil: the entry is settled, or there never was one.
func (b *Outbox) Find(tx *store.Tx, seq uint64) (*Batch, error) {
	for lane := range b.Lanes {
		u, err := findIn(tx, uint8(lane), seq)
		if u != nil || err != nil {
			return u, err
		}
	}
	return nil, nil
}

// findIn is find in one lane. A batch has the sequence of its first entry, and of a transaction at most 99 behind it;
// between those may be batches of their own, that were written in the same Update.
func findIn(tx *store.Tx, lane uint8, seq uint64) (found *Batch, err error) {
	after := ID{Lane: lane, Seq: seq - min(seq, 101)}.Key()
	err = tx.Side(SideOutbox).Each([]byte{lane}, after, func(k, v []byte) (bool, error) {
		id := ID{Lane: k[0], Seq: SeqOf(k)}
		if id.Seq > seq {
			return false, nil
		}
		u, err := Decode(id, v)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.Seq == seq }) {
			found = u
		}
		return found == nil, nil
	})
	return found, err
}

// AllMarked lists the marked batches of all lanes.
func (b *Outbox) AllMarked(tx *store.Tx) (seqs []uint64, err error) {
	for lane := range b.Lanes {
		marked, err := ReadAttempted(tx, uint8(lane))
		if err != nil {
			return nil, err
		}
		seqs = append(seqs, marked...)
	}
	return seqs, nil
}

// FirstWaiting returns the lowest sequence in the outbox, folded ones included.
func FirstWaiting(tx *store.Tx) (uint64, error) {
	first := uint64(math.MaxUint64)
	side := tx.Side(SideOutbox)
	for lane := range MaxLanes + 1 {
		err := side.Each([]byte{uint8(lane)}, nil, func(k, _ []byte) (bool, error) {
			if id, ok := ParseID(k); ok {
				first = min(first, id.Seq)
			}
			return false, nil
		})
		if err != nil {
			return 0, err
		}
	}
	err := tx.Side(SideFolded).Each(nil, nil, func(k, _ []byte) (bool, error) {
		if len(k) == 8 {
			first = min(first, binary.BigEndian.Uint64(bytes.Clone(k)))
		}
		return false, nil
	})
	return first, err
}

// PutBackIn returns the batches of a lane that were put back for a table.
func PutBackIn(tx *store.Tx, lane uint8, table string, through uint64) (units []*Batch, err error) {
	err = tx.Side(SideOutbox).Each([]byte{lane}, nil, func(k, v []byte) (bool, error) {
		id, ok := ParseID(k)
		if !ok || id.Seq > through {
			return !ok, nil
		}
		u, err := Decode(id, v)
		if err == nil && slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.MakesSure() && e.Table == table }) {
			units = append(units, u)
		}
		return err == nil && len(units) < ReplayLooks, err
	})
	return units, err
}

// DeposedBy lists the batches of policy state that were written under a lock with a lower fence.
func DeposedBy(tx *store.Tx, lock string, fence int64) (ids []ID, err error) {
	err = Each(tx, func(u *Batch) (bool, error) {
		if e := u.Entries[0]; e.Lock == lock && e.Fence < fence && e.Policy == store.PolicyState {
			ids = append(ids, u.ID)
		}
		return true, nil
	})
	return ids, err
}

// FlagLost flags some batches behind a place in the outbox and returns the place that it has come to, nil at the end.
func FlagLost(tx *store.Tx, after []byte, below uint64) (next []byte, err error) {
	var ids []ID
	err = tx.Side(SideOutbox).Each(nil, after, func(k, _ []byte) (bool, error) {
		next = append([]byte(nil), k...)
		if id, ok := ParseID(k); ok && id.Seq < below {
			ids = append(ids, id)
		}
		return len(ids) < FlagBatch, nil
	})
	if err != nil {
		return nil, err
	}
	t := Tally{}
	for _, id := range ids {
		u, err := Get(tx, id)
		if err != nil || u == nil {
			return nil, err
		}
		for _, e := range u.Entries {
			e.MarkLost()
		}
		if err := Put(tx, u, t); err != nil {
			return nil, err
		}
	}
	if len(ids) < FlagBatch {
		next = nil
	}
	return next, t.Keep(tx)
}

// LaneOf is the lane of a batch, by its first item; of one that goes ahead it is the last, which has nothing else.
func (b *Outbox) LaneOf(it *Item, ahead bool) uint8 {
	if ahead {
		return b.Express()
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(it.Spec.Name))
	_, _ = h.Write(it.Raw)
	return uint8(h.Sum64() >> 17 % uint64(b.Express()))
}

// Express returns the lane of batches that go ahead.
func (b *Outbox) Express() uint8 { return uint8(b.Lanes - 1) }

// SettledHere returns the last sequence up to which nothing of this node waits.
func SettledHere(ctx context.Context, s *store.Store) (uint64, error) {
	settled := s.Seq() // read first: what is journaled by now is in the outbox of the View
	err := s.View(ctx, func(tx *store.Tx) error {
		waits, err := FirstWaiting(tx)
		if err == nil && waits <= settled {
			settled = waits - 1
		}
		return err
	})
	return settled, err
}

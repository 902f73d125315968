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
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

const (
	// MaxWorkers is the maximum number of workers, besides the one for entries that go ahead.
	MaxWorkers = 64
	// FlagBatch is the number of batches flagged in one transaction.
	FlagBatch = 500
	// ReplayScan bounds the replayed batches examined per worker: with more left, the node has not finished replaying.
	ReplayScan = 10_000
)

// Each calls fn with the batches of all workers, each worker's in order, until fn returns more == false. fn must not use the
// transaction.
func Each(tx *store.Tx, fn func(*Batch) (more bool, err error)) error {
	return tx.Side(SideOutbox).Each(nil, nil, func(k, v []byte) (bool, error) {
		if len(k) != 9 {
			return true, nil
		}
		u, err := Decode(ID{Worker: k[0], Seq: binary.BigEndian.Uint64(k[1:])}, v)
		if err != nil {
			return false, err
		}
		return fn(u)
	})
}

// EachOldest calls fn with the oldest batches of each worker, at most limit of a worker, and reports whether there are more. fn must not use
// the transaction.
func EachOldest(tx *store.Tx, limit int, fn func(*Batch)) (more bool, err error) {
	for worker := range MaxWorkers + 1 {
		n := 0
		err := tx.Side(SideOutbox).Each([]byte{uint8(worker)}, nil, func(k, v []byte) (bool, error) {
			id, ok := ParseID(k)
			if !ok {
				return true, nil
			}
			if n == limit {
				more = true
				return false, nil
			}
			n++
			u, err := Decode(id, v)
			if err == nil {
				fn(u)
			}
			return err == nil, err
		})
		if err != nil {
			return more, err
		}
	}
	return more, nil
}

// WaitingIn lists the batches that wait to write items of a partition, each once. The partition is given by its key attribute.
func WaitingIn(tx *store.Tx, table string, partition attr.Item) (ids []ID, err error) {
	prefix := []byte(table + "\x00")
	for _, v := range partition {
		if prefix, err = attr.AppendKey(prefix, v); err != nil {
			return nil, err
		}
	}
	seen := map[ID]bool{}
	err = tx.Side(SideRemote).Each(prefix, nil, func(_, v []byte) (bool, error) {
		sh, _, _, err := decodeRemoteHead(v)
		if err != nil {
			return false, fault.Wrap(err, fault.Damaged, "shadow", "the replica metadata of an item of %s cannot be read", table)
		}
		for _, p := range sh.Pending {
			if !p.Shared && !seen[p.ID] {
				seen[p.ID] = true
				ids = append(ids, p.ID)
			}
		}
		return true, nil
	})
	return ids, err
}

// BatchesBetween lists at most limit batches of all workers with sequences from..to.
func (b *Outbox) BatchesBetween(tx *store.Tx, from, to uint64, limit int) (out []ID, err error) {
	for worker := range b.Workers {
		prefix := []byte{uint8(worker)}
		after := ID{Worker: uint8(worker), Seq: from - 1}.Key()
		err = tx.Side(SideOutbox).Each(prefix, after, func(k, _ []byte) (bool, error) {
			seq := binary.BigEndian.Uint64(k[1:])
			if seq > to || len(out) >= limit {
				return false, nil
			}
			out = append(out, ID{Worker: k[0], Seq: seq})
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PendingOf lists the batches in the outbox of the Update whose last record is seq, and returns that Update's first record.
func (b *Outbox) PendingOf(tx *store.Tx, seq uint64) (first uint64, pending []ID, err error) {
	first = seq
	records, err := tx.Journal(seq-1, 1)
	if err != nil {
		return 0, nil, err
	}
	if len(records) > 0 && records[0].Seq == seq {
		first = records[0].Txn
	}
	pending, err = b.BatchesBetween(tx, first, seq, 100)
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
		found, err := b.BatchesBetween(tx, pending[i].Seq, pending[i].Seq, 1)
		if err != nil {
			return first, nil, err
		}
		if len(found) == 0 {
			return first, nil, fault.New(fault.Damaged, "outbox", "entry %d was folded into one that is missing", pending[i].Seq)
		}
		pending[i] = found[0]
	}
	return first, pending, nil
}

// NotHeld returns the batches that do not wait for an operator; the others are on record.
func NotHeld(tx *store.Tx, ids []ID) (out []ID, err error) {
	for _, id := range ids {
		u, err := Get(tx, id)
		if err != nil {
			return nil, err
		}
		if u != nil && !u.IsHeld() {
			out = append(out, id)
		}
	}
	return out, nil
}

// Find returns the batch with the entry of a sequence, or nil if the entry is settled or never existed.
func (b *Outbox) Find(tx *store.Tx, seq uint64) (*Batch, error) {
	for worker := range b.Workers {
		u, err := findIn(tx, uint8(worker), seq)
		if u != nil || err != nil {
			return u, err
		}
	}
	return nil, nil
}

// findIn is Find for one worker. A batch has the sequence of its first entry, and a transaction has at most 99 more; between them
// may be other batches that were written in the same Update.
func findIn(tx *store.Tx, worker uint8, seq uint64) (found *Batch, err error) {
	after := ID{Worker: worker, Seq: seq - min(seq, 101)}.Key()
	err = tx.Side(SideOutbox).Each([]byte{worker}, after, func(k, v []byte) (bool, error) {
		id := ID{Worker: k[0], Seq: SeqOf(k)}
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

// AllMarked lists the marked batches of all workers.
func (b *Outbox) AllMarked(tx *store.Tx) (seqs []uint64, err error) {
	for worker := range b.Workers {
		marked, err := ReadAttempted(tx, uint8(worker))
		if err != nil {
			return nil, err
		}
		seqs = append(seqs, marked...)
	}
	return seqs, nil
}

// FirstWaiting returns the lowest sequence in the outbox, including folded ones.
func FirstWaiting(tx *store.Tx) (uint64, error) {
	first := uint64(math.MaxUint64)
	side := tx.Side(SideOutbox)
	for worker := range MaxWorkers + 1 {
		err := side.Each([]byte{uint8(worker)}, nil, func(k, _ []byte) (bool, error) {
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

// PutBackIn returns the batches of a worker that were put back for a table.
func PutBackIn(tx *store.Tx, worker uint8, table string, through uint64) (batches []*Batch, err error) {
	err = tx.Side(SideOutbox).Each([]byte{worker}, nil, func(k, v []byte) (bool, error) {
		id, ok := ParseID(k)
		if !ok || id.Seq > through {
			return !ok, nil
		}
		u, err := Decode(id, v)
		if err == nil && slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.Verifying() && e.Table == table }) {
			batches = append(batches, u)
		}
		return err == nil && len(batches) < ReplayScan, err
	})
	return batches, err
}

// BelowFence lists the batches of policy state written under a lock with a lower fence.
func BelowFence(tx *store.Tx, lock string, fence int64) (ids []ID, err error) {
	err = Each(tx, func(u *Batch) (bool, error) {
		if e := u.Entries[0]; e.Lock == lock && e.Fence < fence && e.Policy == store.PolicyState {
			ids = append(ids, u.ID)
		}
		return true, nil
	})
	return ids, err
}

// FlagLost flags a slice of the batches after a place in the outbox. It returns the place reached, or nil at the end.
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
	return next, t.AddToCounts(tx)
}

// WorkerOf returns the worker of a batch, chosen by its first item. The last worker takes only batches that go ahead.
func (b *Outbox) WorkerOf(it *Item, ahead bool) uint8 {
	if ahead {
		return b.Express()
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(it.Spec.Name))
	_, _ = h.Write(it.Raw)
	return uint8(mixBits(h.Sum64()) % uint64(b.Express()))
}

// mixBits spreads the bits of a hash. In FNV the last byte of a key hardly changes the upper bits, so that counters numbered from 0 to 9 would
// share a few workers.
func mixBits(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd // as in MurmurHash3
	return h ^ h>>33
}

// Express returns the worker for batches that go ahead.
func (b *Outbox) Express() uint8 { return uint8(b.Workers - 1) }

// SettledHere returns the last sequence up to which nothing of this node waits.
func SettledHere(ctx context.Context, s *store.Store) (uint64, error) {
	settled := s.Seq() // read first: everything journaled by now is in the View's outbox
	err := s.View(ctx, func(tx *store.Tx) error {
		waits, err := FirstWaiting(tx)
		if err == nil && waits <= settled {
			settled = waits - 1
		}
		return err
	})
	return settled, err
}

package replica

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Proof is what is known of one entry.
type Proof uint8

// The proofs.
const (
	ProofPending Proof = iota // it waits, or was sent and nobody knows yet
	ProofApplied              // the cloud has it
	ProofRefused              // it ended as a conflict, was superseded, or nobody can tell: see the conflict log
)

// waiters are those who wait for units to be settled. by its sequence.
type waiters struct {
	mu   sync.Mutex
	list map[uint64][]chan struct{}
}

func newWaiters() *waiters { return &waiters{list: map[uint64][]chan struct{}{}} }

// on returns a channel that is closed when a unit is settled. forget ends the interest.
func (w *waiters) on(seq uint64) (ch chan struct{}, forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch = make(chan struct{})
	w.list[seq] = append(w.list[seq], ch)
	return ch, func() { w.forget(seq, ch) }
}

func (w *waiters) forget(seq uint64, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list[seq]
	for i := range list {
		if list[i] == ch {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(w.list, seq)
		return
	}
	w.list[seq] = list
}

// settled notifies those who wait for a unit.
func (w *waiters) settled(seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.list[seq] {
		close(ch)
	}
	delete(w.list, seq)
}

// ended tells those who wait for a unit, or for what has fallen together into it: the application did that, and told nobody.
func (w *waiters) ended(u *unit) {
	w.settled(u.id.seq)
	for _, e := range u.Entries {
		for _, seq := range e.Folds {
			w.settled(seq)
		}
	}
}

// Wait returns when all entries of the Update whose last record is seq are settled: nil if the cloud has them all, else
// a *SettledError with the first conflict. An end of ctx is its error. A sequence that wrote nothing to the cloud is
// settled at once.
func (r *Replica) Wait(ctx context.Context, seq uint64) error {
	for {
		var pending []unitID
		var first uint64
		err := r.store.View(ctx, func(tx *store.Tx) (err error) {
			if first, pending, err = r.pendingOf(tx, seq); err != nil {
				return err
			}
			pending, err = notHeld(tx, pending)
			return err
		})
		if err != nil {
			return err
		}
		if len(pending) == 0 {
			return r.verdict(ctx, first, seq)
		}
		if err := r.waitFor(ctx, pending[0]); err != nil {
			return err
		}
	}
}

// notHeld leaves out the units that wait for an operator: there is a record of each.
func notHeld(tx *store.Tx, ids []unitID) (out []unitID, err error) {
	for _, id := range ids {
		u, err := getUnit(tx, id)
		if err != nil {
			return nil, err
		}
		if u != nil && !u.held() {
			out = append(out, id)
		}
	}
	return out, nil
}

// waitFor waits until a unit is settled, or may have been.
func (r *Replica) waitFor(ctx context.Context, id unitID) error {
	ch, forget := r.waiting.on(id.seq)
	defer forget()
	there := false
	err := r.store.View(ctx, func(tx *store.Tx) error { // it may have been settled before on
		b, err := tx.Side(sideOutbox).Get(id.key())
		there = b != nil
		return err
	})
	if err != nil || !there {
		return err
	}
	r.urge(id)
	look, cancel := context.WithTimeout(ctx, asideWait) // the end of an older image of policy state is told by nobody
	defer cancel()
	select {
	case <-ch:
		return nil
	case <-look.Done():
		return context.Cause(ctx)
	}
}

// pendingOf lists the units of the Update whose last record is seq that are in the outbox, and the Update's first record.
func (r *Replica) pendingOf(tx *store.Tx, seq uint64) (first uint64, pending []unitID, err error) {
	first = seq
	records, err := tx.Journal(seq-1, 1)
	if err != nil {
		return 0, nil, err
	}
	if len(records) > 0 && records[0].Seq == seq {
		first = records[0].Txn
	}
	pending, err = r.unitsBetween(tx, first, seq, 100)
	if err != nil || len(pending) > 0 {
		return first, pending, err
	}
	err = tx.Side(sideFolded).Each(nil, seqKey(first-1), func(k, v []byte) (bool, error) {
		if binary.BigEndian.Uint64(k) > seq {
			return false, nil
		}
		pending = append(pending, unitID{seq: binary.BigEndian.Uint64(v)})
		return len(pending) < 100, nil
	})
	if err != nil {
		return first, nil, err
	}
	for i := range pending {
		found, err := r.unitsBetween(tx, pending[i].seq, pending[i].seq, 1)
		if err != nil {
			return first, nil, err
		}
		if len(found) == 0 {
			return first, nil, fault.New(fault.Damaged, "outbox", "entry %d was folded into one that is not there", pending[i].seq)
		}
		pending[i] = found[0]
	}
	return first, pending, nil
}

// SettledError says that entries that were waited for are settled, and not all of them are in the cloud.
type SettledError struct{ Conflict uint64 }

// Error implements error.
func (*SettledError) Error() string { return "the cloud did not accept the write" }

// Unwrap returns the fault that the edges map.
func (*SettledError) Unwrap() error {
	return fault.New(fault.Conflict, "cloud_refused", "The cloud did not accept the write: see the conflict log.")
}

// verdict looks whether entries that are settled ended in the conflict log.
func (r *Replica) verdict(ctx context.Context, first, last uint64) error {
	var id uint64
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		log, err := openConflicts(tx)
		if err != nil {
			return err
		}
		id, err = log.between(first, last)
		return err
	})
	if err == nil && id != 0 {
		return &SettledError{Conflict: id}
	}
	return err
}

// between is the first record that an entry with one of these sequences is in; 0: there is none.
func (l *conflictLog) between(first, last uint64) (uint64, error) {
	for after := conflictKey('s', first); ; {
		next := uint64(0)
		err := l.side.Each([]byte{'s'}, after, func(k, _ []byte) (bool, error) {
			if len(k) == 17 && binary.BigEndian.Uint64(k[1:]) <= last {
				next, after = binary.BigEndian.Uint64(k[9:]), append([]byte(nil), k...)
			}
			return false, nil
		})
		if err != nil || next == 0 {
			return 0, err
		}
		if id, err := l.unlessLetGo(next); err != nil || id != 0 {
			return id, err
		}
	}
}

// unlessLetGo is the record of a quarantine, or 0 if an operator has let its entries go on under their own numbers: what
// became of them is elsewhere.
func (l *conflictLog) unlessLetGo(id uint64) (uint64, error) {
	c, err := l.get(id)
	if err == nil && c != nil && c.letGo() {
		return 0, nil
	}
	return id, err
}

// letGo reports whether an operator has released a quarantine's entries under their own numbers.
func (c *Conflict) letGo() bool {
	return c.Kind == KindQuarantine && c.State == StateRetried && len(c.NewSeqs) == 0
}

// Proved returns what is known of the entry of one journal record. A record that sent nothing is applied. A quarantined
// entry is refused until an operator lets it go.
func (r *Replica) Proved(ctx context.Context, seq uint64) (p Proof, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		p, err = r.proved(tx, seq)
		return err
	})
	return p, err
}

func (r *Replica) proved(tx *store.Tx, seq uint64) (Proof, error) {
	log, err := openConflicts(tx)
	if err != nil {
		return 0, err
	}
	id, err := log.ofSeq(seq)
	if err == nil && id != 0 {
		id, err = log.unlessLetGo(id)
	}
	if err != nil || id != 0 {
		return ProofRefused, err
	}
	if to, err := tx.Side(sideFolded).Get(seqKey(seq)); err != nil || to != nil {
		return ProofPending, err
	}
	u, err := r.findUnit(tx, seq)
	if err != nil || u != nil {
		return ProofPending, err
	}
	return ProofApplied, nil
}

// findUnit finds the unit that the entry of a sequence is in; nil: it is settled, or there never was one.
func (r *Replica) findUnit(tx *store.Tx, seq uint64) (*unit, error) {
	for lane := range r.lanes {
		u, err := findIn(tx, uint8(lane), seq)
		if u != nil || err != nil {
			return u, err
		}
	}
	return nil, nil
}

// findIn is findUnit in one lane. A unit has the sequence of its first entry, and of a transaction at most 99 behind it;
// between those may be units of their own, that were written in the same Update.
func findIn(tx *store.Tx, lane uint8, seq uint64) (found *unit, err error) {
	after := unitID{lane: lane, seq: seq - min(seq, 101)}.key()
	err = tx.Side(sideOutbox).Each([]byte{lane}, after, func(k, v []byte) (bool, error) {
		id := unitID{lane: k[0], seq: seqOf(k)}
		if id.seq > seq {
			return false, nil
		}
		u, err := readUnit(id, v)
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

package replica

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Proof is the known outcome of one entry.
type Proof uint8

// Values of Proof.
const (
	ProofPending Proof = iota // it waits, or was sent and its outcome is unknown
	ProofApplied              // the cloud has it
	ProofRefused              // a conflict, superseded, or unknown for good: see the conflict log
)

// waiters holds the callers that wait for batches to settle, by sequence.
type waiters struct {
	mu   sync.Mutex
	list map[uint64][]chan struct{}
}

func newWaiters() *waiters { return &waiters{list: map[uint64][]chan struct{}{}} }

// waitFor returns a channel that is closed when a batch settles. forget ends the wait.
func (w *waiters) waitFor(seq uint64) (ch chan struct{}, forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch = make(chan struct{})
	w.list[seq] = append(w.list[seq], ch)
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list[seq] = slices.DeleteFunc(w.list[seq], func(other chan struct{}) bool { return other == ch })
		if len(w.list[seq]) == 0 {
			delete(w.list, seq)
		}
	}
}

// notifySettled notifies the callers that wait for a batch.
func (w *waiters) notifySettled(seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.list[seq] {
		close(ch)
	}
	delete(w.list, seq)
}

// notifyAll notifies the callers that wait for a batch or for an entry folded into it, for which there was no notification.
func (w *waiters) notifyAll(u *outbox.Batch) {
	w.notifySettled(u.ID.Seq)
	for _, e := range u.Entries {
		for _, seq := range e.Folds {
			w.notifySettled(seq)
		}
	}
}

// Wait returns when all entries of the Update whose last record is seq are settled: nil if the cloud has them all, otherwise a
// *SettledError with the first conflict, or the error of ctx. A sequence that wrote nothing to the cloud is settled at once.
func (r *Replica) Wait(ctx context.Context, seq uint64) error {
	for {
		var pending []outbox.ID
		var first uint64
		err := r.store.View(ctx, func(tx *store.Tx) (err error) {
			if first, pending, err = r.box.PendingOf(tx, seq); err != nil {
				return err
			}
			pending, err = outbox.NotHeld(tx, pending)
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

// waitFor waits until a batch is settled, or may have been.
func (r *Replica) waitFor(ctx context.Context, id outbox.ID) error {
	ch, forget := r.waiting.waitFor(id.Seq)
	defer forget()
	there := false
	err := r.store.View(ctx, func(tx *store.Tx) error { // it may have settled before on
		b, err := tx.Side(outbox.SideOutbox).Get(id.Key())
		there = b != nil
		return err
	})
	if err != nil || !there {
		return err
	}
	r.urge(id)
	within, cancel := context.WithTimeout(ctx, asideWait) // an older image of policy state ends without notification
	defer cancel()
	select {
	case <-ch:
		return nil
	case <-within.Done():
		return context.Cause(ctx)
	}
}

// SettledError says that the entries are settled but not all of them are in the cloud.
type SettledError struct{ Conflict uint64 }

// Error implements error.
func (*SettledError) Error() string { return "the cloud did not accept the write" }

// Unwrap returns the fault that the edges map.
func (*SettledError) Unwrap() error {
	return fault.New(fault.Conflict, "cloud_refused", "The cloud did not accept the write: see the conflict log.")
}

// verdict checks whether settled entries ended in the conflict log.
func (r *Replica) verdict(ctx context.Context, first, last uint64) error {
	var id uint64
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		log, err := conflict.Open(tx)
		if err != nil {
			return err
		}
		id, err = log.FirstBetween(first, last)
		return err
	})
	if err == nil && id != 0 {
		return &SettledError{Conflict: id}
	}
	return err
}

// Skew returns how far the cloud's clock is ahead of this machine's, by its last answers; zero before the first.
func (r *Replica) Skew() time.Duration { return r.cloud.Skew() }

// ProofOf returns the known outcome of one journal record's entry. A record that sent nothing counts as applied, a quarantined entry
// as refused until an operator releases it.
func (r *Replica) ProofOf(ctx context.Context, seq uint64) (p Proof, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		p, err = r.proofOf(tx, seq)
		return err
	})
	return p, err
}

func (r *Replica) proofOf(tx *store.Tx, seq uint64) (Proof, error) {
	log, err := conflict.Open(tx)
	if err != nil {
		return 0, err
	}
	id, err := log.OfSeq(seq)
	if err == nil && id != 0 {
		id, err = log.UnlessLetGo(id)
	}
	if err != nil || id != 0 {
		return ProofRefused, err
	}
	if to, err := tx.Side(outbox.SideFolded).Get(outbox.SeqKey(seq)); err != nil || to != nil {
		return ProofPending, err
	}
	u, err := r.box.Find(tx, seq)
	if err != nil || u != nil {
		return ProofPending, err
	}
	return ProofApplied, nil
}

// ConfirmedItem returns an item as the cloud has it, as far as this node knows, without writes waiting to be sent; nil if the cloud has
// none.
func (r *Replica) ConfirmedItem(tx *store.Tx, table string, key attr.Item) (attr.Item, error) {
	spec := r.box.Spec(table)
	if spec == nil {
		return nil, fault.New(fault.NotFound, "no_table", "there is no table %s", table)
	}
	it, err := outbox.ItemOf(tx, spec, key)
	if err != nil {
		return nil, err
	}
	sh, same, err := outbox.ReadRemote(tx, it)
	switch {
	case err != nil || sh == nil:
		return nil, err
	case same:
		return tx.Get(table, key)
	}
	return sh.Known.Item, nil
}

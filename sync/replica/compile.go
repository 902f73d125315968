package replica

import (
	"context"
	"fmt"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Compile implements store.Replicator: it turns the application's writes into outbox entries, in the transaction that makes them. An
// error refuses the writes.
//
// Only hints in memory change here, because the transaction may still be undone.
func (r *Replica) Compile(tx *store.Tx, writes []store.Write) error {
	if err := r.admit(tx, writes); err != nil {
		return err
	}
	return r.box.Compile(tx, writes)
}

// Expire implements store.Replicator. An item past its TTL stays, hidden, as long as the cloud has it. It may be deleted if the
// cloud never had it or no longer has it.
func (r *Replica) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	it, err := outbox.ItemOf(tx, spec, key)
	if err != nil {
		return false, err
	}
	sh, same, err := outbox.ReadRemote(tx, it)
	if err != nil || sh == nil {
		return err == nil, err
	}
	if sh.Known.Item != nil && len(sh.Pending) == 0 {
		r.feed.AskAfter(spec.Name, key)
	}
	return !same && sh.Known.Item == nil && len(sh.Pending) == 0, nil
}

// admit refuses writes for which the budgets have no room. The refusal goes to the writer before anything is journaled: no write is
// accepted and then dropped.
func (r *Replica) admit(tx *store.Tx, writes []store.Write) error {
	all, err := outbox.ReadCounts(tx)
	if err != nil {
		return err
	}
	s := r.levels.State(r.cfg.Budget, all.Total().Entries, all.Total().Bytes)
	if s.Level < flow.LevelRebuildable {
		return nil
	}
	for i := range writes {
		if w := &writes[i]; w.Sends && w.Seq != 0 && !isAdmitted(s.Level, w) {
			return r.levels.Refuse(s)
		}
	}
	return nil
}

// isAdmitted reports whether a write is still accepted at a level.
func isAdmitted(level flow.Level, w *store.Write) bool {
	switch {
	case level < flow.LevelRebuildable:
		return true
	case level < flow.LevelCorrections:
		return w.Spec.Policy != store.PolicyState
	case level < flow.LevelReadOnly:
		return w.Op == store.OpDelete || w.Old != nil && len(w.New) <= len(w.Old)
	}
	return false
}

// Standing says in words what does not move although the cloud can be reached; "": nothing.
func (r *Replica) Standing(ctx context.Context) (what string, err error) {
	st, err := r.Status(ctx)
	return strings.Join(st.Standstill, " "), err
}

// Refusing says which writes are refused now because too much waits for the cloud; "": none.
func (r *Replica) Refusing(ctx context.Context) (what string, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		all, err := outbox.ReadCounts(tx)
		if s := r.levels.State(r.cfg.Budget, all.Total().Entries, all.Total().Bytes); err == nil && s.Level >= flow.LevelRebuildable {
			what = fmt.Sprintf("the queue for the cloud is %.0f %% full (%s): %s", 100*s.Used, s.Which, flow.RefusedAt(s.Level))
		}
		return err
	})
	return what, err
}

package replica

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Compile implements store.Replicator: the application's writes become entries of the outbox, in the transaction that makes
// them. An error refuses the write.
//
// Only hints in memory change here, because the transaction may still be undone.
func (r *Replica) Compile(tx *store.Tx, writes []store.Write) error {
	if err := r.admit(tx, writes); err != nil {
		return err
	}
	return r.box.Compile(tx, writes)
}

// Expire implements store.Replicator: an item past its TTL stays, hidden, as long as the cloud has it. An item that the cloud
// never had, or no longer has, may be deleted.
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

// admit refuses writes that the budgets have no room for. What is refused here is refused to whoever writes, before
// anything is journaled: nothing is accepted and dropped.
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
		if w := &writes[i]; w.Sends && w.Seq != 0 && !admitted(s.Level, w) {
			return r.levels.Refuse(s)
		}
	}
	return nil
}

// admitted reports whether a write may still be taken at a level.
func admitted(level flow.Level, w *store.Write) bool {
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

// Refusing says which writes are refused at the moment because too much waits for the cloud; empty: none.
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

package node

import (
	"context"
	"errors"
	"slices"

	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// WaitSettled waits until the cloud has all writes of a journal record's transaction. refused is the conflict if the cloud refused one of
// them and no application resolved it. The node must have a cloud.
func (n *Node) WaitSettled(ctx context.Context, seq uint64) (refused uint64, err error) {
	err = n.sync.Wait(ctx, seq)
	if settled, ok := errors.AsType[*replica.SettledError](err); ok && settled.Conflict != 0 {
		return n.mergeOutcome(ctx, settled.Conflict, seq)
	}
	return 0, err
}

// mergeOutcome returns the outcome of a wait that ended in conflict id. If that was resolved, it is the conflict of another write of the same
// request, or 0 if the request has taken effect.
func (n *Node) mergeOutcome(ctx context.Context, id, seq uint64) (refused uint64, err error) {
	found, err := n.sync.Conflicts().Find(ctx, id)
	if err != nil || found.State != conflict.StateResolved {
		return id, err
	}
	first := seq
	for _, e := range found.Entries() {
		first = min(first, e.Seq)
	}
	open, _, err := n.sync.Conflicts().List(ctx, conflict.Query{State: conflict.StateOpen})
	if err != nil {
		return 0, err
	}
	for _, other := range open {
		if slices.ContainsFunc(other.Entries(), func(e *intent.Entry) bool { return first <= e.Seq && e.Seq <= seq }) {
			return other.ID, nil
		}
	}
	if all := found.NewSeqs; len(all) > 0 { // the resolution's writes need to settle too
		return n.WaitSettled(ctx, all[len(all)-1])
	}
	return 0, nil
}

package node

import (
	"context"
	"errors"
	"slices"

	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Settled returns when the cloud has all that the transaction of a journal record has written; refused is the conflict, if
// one of its writes became one that no application has answered. The node has a cloud.
func (n *Node) Settled(ctx context.Context, seq uint64) (refused uint64, err error) {
	err = n.sync.Wait(ctx, seq)
	if settled, ok := errors.AsType[*replica.SettledError](err); ok && settled.Conflict != 0 {
		return n.merged(ctx, settled.Conflict, seq)
	}
	return 0, err
}

// merged returns what a wait for the cloud comes to that ended in a conflict, where that has been resolved: the conflict
// of another write of the same request, or 0: what was asked for is there.
func (n *Node) merged(ctx context.Context, id, seq uint64) (refused uint64, err error) {
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
	if all := found.NewSeqs; len(all) > 0 { // they go the way of every write
		return n.Settled(ctx, all[len(all)-1])
	}
	return 0, nil
}

package edge

import (
	"context"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
)

// This file is what the parts of a node need where several nodes share a cloud, and with it the matches.

// took readies the node for work under a lock: what the lock guards is read, and for a match also who is told of it. Else a
// phone that another node has started would be started once more.
func (n *Node) took(ctx context.Context, lock string, fence int64) error {
	id, ok := strings.CutPrefix(lock, cricket.MatchLock(""))
	if !ok {
		return nil // a seat, or a job's: it guards no rows
	}
	if err := n.sync.AwaitCloud(ctx); err != nil {
		return err
	}
	if err := n.sync.TookLease(ctx, lock, fence); err != nil {
		return err
	}
	match := attr.Item{"matchId": attr.S(id)}
	for _, table := range []string{cricket.TableFixtures, cricket.TableFollows, cricket.TableLiveActivities} {
		if err := n.sync.Ensure(ctx, table, match); err != nil {
			return err
		}
	}
	return nil
}

// options are the rules of cricket for this node.
func (p *Parts) options() cricket.Options {
	o := p.Cricket.Alerts.options()
	o.Shared = p.Cloud != nil
	return o
}

// proofs reports the outcome of the claims of alerts to push.
type proofs struct{ replica *replica.Replica }

// Proved implements push.Proofs.
func (p proofs) Proved(ctx context.Context, seq uint64) (push.Proof, error) {
	proof, err := p.replica.Proved(ctx, seq)
	switch {
	case err != nil:
		return push.ProofPending, err
	case proof == replica.ProofApplied:
		return push.ProofApplied, nil
	case proof == replica.ProofRefused:
		return push.ProofRefused, nil
	default:
		return push.ProofPending, nil
	}
}

// rights are the leases of matches as push knows them.
type rights struct {
	pool *lease.Pool
	user *lease.User
}

// Has implements push.Rights.
func (r rights) Has(matchID string) bool { return r.pool.Has(cricket.MatchLock(matchID)) }

// Take implements push.Rights.
func (r rights) Take(ctx context.Context, matchID string) (bool, error) {
	s, err := r.user.Hold(ctx, cricket.MatchLock(matchID))
	return s != nil, err
}

// Leave implements push.Rights. What cannot be given back runs out by itself.
func (r rights) Leave(ctx context.Context, matchID string) {
	_ = r.user.Give(ctx, cricket.MatchLock(matchID))
}

// mirror shows here what the holders of other matches show.
func (n *Node) mirror(ctx context.Context) error {
	m := cricket.Mirror{
		Store: n.store, Clock: n.parts.Clock, Log: n.parts.Log, Node: n.store.Node(),
		Holds: func(id string) bool { return n.pool.Has(cricket.MatchLock(id)) },
	}
	return m.Run(ctx)
}

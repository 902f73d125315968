package cricketapp

import (
	"context"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
)

// proofs reports the outcome of the claims of alerts to push.
type proofs struct{ sync app.Sync }

// Proved implements push.Proofs.
func (p proofs) Proved(ctx context.Context, seq uint64) (push.Proof, error) {
	proof, err := p.sync.Proved(ctx, seq)
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
func (r rights) Has(matchID string) bool { return r.pool.Has(tables.MatchLock(matchID)) }

// Take implements push.Rights.
func (r rights) Take(ctx context.Context, matchID string) (bool, error) {
	s, err := r.user.Hold(ctx, tables.MatchLock(matchID))
	return s != nil, err
}

// Leave implements push.Rights. What cannot be given back runs out by itself.
func (r rights) Leave(ctx context.Context, matchID string) {
	_ = r.user.Give(ctx, tables.MatchLock(matchID))
}

// mirror shows here what the holders of other matches show.
func (a *application) mirror(ctx context.Context) error {
	m := matches.Mirror{
		Store: a.host.Store, Clock: a.host.Clock, Log: a.host.Log, Node: a.host.Node,
		Holds: func(id string) bool { return a.host.Leases.Has(tables.MatchLock(id)) },
	}
	return m.Run(ctx)
}

package cricketapp

import (
	"context"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/sync/lease"
)

// rights implements push.Rights with the leases of matches.
type rights struct {
	pool *lease.Pool
	user *lease.User
}

// Has implements push.Rights.
func (r rights) Has(matchID string) bool { return r.pool.Has(tables.MatchLock(matchID)) }

// Take implements push.Rights.
func (r rights) Take(ctx context.Context, matchID string) (bool, error) {
	s, err := r.user.AcquireShare(ctx, tables.MatchLock(matchID))
	return s != nil, err
}

// Leave implements push.Rights. A lease that cannot be released expires.
func (r rights) Leave(ctx context.Context, matchID string) {
	_ = r.user.ReleaseShare(ctx, tables.MatchLock(matchID))
}

// consumers returns what shows on this node what the holders of other matches show; nothing without other nodes.
func (a *application) consumers() []app.Consumer {
	if a.host.Sync == nil {
		return nil
	}
	m := matches.Mirror{Node: a.host.Node, Holds: func(id string) bool { return a.host.Leases.Has(tables.MatchLock(id)) }}
	return []app.Consumer{{Name: "mirror", Tables: []string{tables.ActiveMatches}, Take: m.ConsumeRecords, Anew: m.CopyAll}}
}

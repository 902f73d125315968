package cricketapp

import (
	"context"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	cricketpage "github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// mostCounted bounds the followers counted for the page of a match that the coordinator does not know.
const mostCounted = 1000

// audienceOf returns the audience of a match as far as this node knows it.
func (a *application) audienceOf(ctx context.Context, matchID string) (out cricketpage.Audience, err error) {
	err = a.host.Store.View(ctx, func(tx *store.Tx) error {
		q := store.Query{Table: tables.Follows, KeyCondition: "matchId = :m", Select: store.SelectCount, Limit: mostCounted}
		q.Values = attr.Item{":m": attr.S(matchID)}
		page, err := tx.Query(q)
		out.Followers = page.Count
		return err
	})
	out.Elsewhere = a.host.Sync != nil
	if err != nil || a.push == nil {
		return out, err
	}
	v, err := a.push.View(ctx, matchID)
	out.Active, out.Pending, out.Reached = v.Sessions[phone.SessionActive], v.Sessions[phone.SessionPending], v.Reached
	out.Followers, out.Elsewhere = max(out.Followers, v.Followers), a.host.Sync != nil && !v.Held
	return out, err
}

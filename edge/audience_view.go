package edge

import (
	"context"

	"github.com/touchline/touchline/edge/cricket"
	cricketpage "github.com/touchline/touchline/httpapi/cricket/page"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// mostCounted is how many followers are counted for a page of a match that the coordinator has not read: it knows the others.
const mostCounted = 1000

// audienceOf returns who follows a match, as far as this node knows.
func (n *Node) audienceOf(ctx context.Context, matchID string) (out cricketpage.Audience, err error) {
	err = n.store.View(ctx, func(tx *store.Tx) error {
		q := store.Query{Table: cricket.TableFollows, KeyCondition: "matchId = :m", Select: store.SelectCount, Limit: mostCounted}
		q.Values = attr.Item{":m": attr.S(matchID)}
		page, err := tx.Query(q)
		out.Followers = page.Count
		return err
	})
	out.Elsewhere = n.sync != nil
	if err != nil || n.push == nil {
		return out, err
	}
	v, err := n.push.View(ctx, matchID)
	out.Active, out.Pending, out.Reached = v.Sessions[cricket.SessionActive], v.Sessions[cricket.SessionPending], v.Reached
	out.Followers, out.Elsewhere = max(out.Followers, v.Followers), n.sync != nil && !v.Held
	return out, err
}

package cricketapp

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
)

// oneSeat are the locks of nodes whose feeds are decks of their own: what one plays, no other can read, so that the
// matches cannot be spread. Whoever has the first seat reads its deck, and the others stand by.
type oneSeat struct{ poll.Leases }

// Hold implements poll.Leases.
func (l oneSeat) Hold(ctx context.Context, key string) (poll.Lease, error) {
	if isSeat(key) && key != tables.FeedSeat(0) {
		return nil, nil //nolint:nilnil // it is not to be had, which nil says
	}
	return l.Leases.Hold(ctx, key)
}

func isSeat(key string) bool {
	return key == tables.FeedLock || len(key) > len(tables.FeedLock) && key[:len(tables.FeedLock)+1] == tables.FeedLock+"#"
}

// replays is the node's deck as the routes for admins know it.
func (a *application) replays() deckRoutes { return deckRoutes{a.Deck, a.reads} }

// askHolder bounds the question who reads the feed.
const askHolder = 2 * time.Second

// reads reports whether what is put on this node's deck is read; else it is fault.Conflict, which says where to go.
func (a *application) reads() error {
	if a.host.Sync == nil || a.poller == nil {
		return nil
	}
	if st := a.poller.Status(); st.Leading || st.Observing {
		return nil
	}
	ctx, cancel := context.WithTimeout(a.host.Work, askHolder)
	defer cancel()
	holder, err := a.host.Leases.Holder(ctx, tables.FeedSeat(0))
	switch {
	case err != nil || holder == "" || holder == a.host.Node:
		return fault.New(fault.Conflict, "not_reading", "This node does not read its feed yet. Try again in a moment.")
	default:
		return fault.New(fault.Conflict, "read_elsewhere", "This node does not read the feed now: start the match at node %s.", holder)
	}
}

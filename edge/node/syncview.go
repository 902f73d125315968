package node

import (
	"cmp"
	"context"
	"time"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/flow"
)

// cloudRoutes serves the replicator's state and its conflicts.
type cloudRoutes struct {
	n *Node
	*conflict.Log
}

// Status implements operator.Sync.
func (c cloudRoutes) Status(ctx context.Context) (operator.SyncStatus, error) {
	return c.n.syncStatus(ctx)
}

// Wait implements operator.Sync.
func (c cloudRoutes) Wait(ctx context.Context, seq uint64) (refused uint64, err error) {
	return c.n.Settled(ctx, seq)
}

// syncStatus is the state of node and cloud as it is shown.
func (n *Node) syncStatus(ctx context.Context) (operator.SyncStatus, error) {
	st, err := n.sync.Status(ctx)
	if err != nil {
		return operator.SyncStatus{}, err
	}
	c := n.parts.Cloud
	out := operator.SyncStatus{
		At: st.At, Configured: true, Cloud: c.Name, Mode: c.Config.Offline, LastError: st.Link.Last, LastAt: st.Link.LastAt,
		Waiting: int(st.Waiting), LagSeconds: st.Lag().Seconds(), Unsynced: st.Oldest, Unanswered: int(st.Unanswered), Doubtful: int(st.Doubtful),
		Tables: st.Tables, Feed: st.Feed, Leases: n.held(), Conflicts: st.Conflicts, Skew: st.Skew.Seconds(), Alarms: st.Alarms(),
		Usage:  st.Usage,
		Replay: st.Replay,
		Budget: st.Budget,
		Node:   st.Node,
	}
	out.State, out.Since = n.syncState(&st)
	out.Prefix, out.Reason, out.Reached = c.Config.Prefix, cmp.Or(st.Node.Stopped, linkReason(&st.Link)), st.Link.Reached
	for i := range st.Lanes {
		if l := st.Lanes[i]; l.Busy || len(l.Parked) > 0 {
			out.Lanes = append(out.Lanes, l)
		}
	}
	return out, nil
}

// linkReason says why there is no cloud where a person has to act; empty: nobody has to.
func linkReason(l *flow.LinkState) string {
	if l.Why == "" {
		return ""
	}
	return l.Why + "; " + l.Do
}

// syncState is how things stand in a word, and since when.
func (n *Node) syncState(st *replica.Status) (state string, since time.Time) {
	switch {
	case st.Node.Stopped != "":
		return "stopped", st.Link.Since
	case !st.Link.Up:
		since = st.Link.Since
		if since.IsZero() {
			since = n.started // nobody was reached yet
		}
		if st.Link.Why != "" {
			return "stopped", since
		}
		return "offline", since
	case st.Waiting > 0:
		return "behind", st.Oldest
	default:
		return "in_step", time.Time{}
	}
}

package node

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
)

// cloudRoutes serves the replicator's state.
type cloudRoutes struct{ n *Node }

// Status implements operator.Sync.
func (c cloudRoutes) Status(ctx context.Context) (operator.SyncStatus, error) {
	return c.n.syncStatus(ctx)
}

// Conflicts implements operator.Sync.
func (c cloudRoutes) Conflicts(ctx context.Context, ask operator.ConflictAsk) (out []operator.Conflict, next uint64, err error) {
	q := conflict.Query{Table: ask.Table, Before: ask.Before, Limit: ask.Limit, State: conflict.StateOpen}
	switch ask.State {
	case "":
	case "all":
		q.State = ""
	default:
		q.State = conflict.State(ask.State)
	}
	found, next, err := c.n.sync.Conflicts().List(ctx, q)
	for _, one := range found {
		out = append(out, c.conflict(one, false))
	}
	return out, next, err
}

// Conflict implements operator.Sync.
func (c cloudRoutes) Conflict(ctx context.Context, id uint64) (operator.Conflict, error) {
	return c.whole(ctx)(c.n.sync.Conflicts().Find(ctx, id))
}

// Decide implements operator.Sync.
func (c cloudRoutes) Decide(ctx context.Context, id uint64, verb string) (operator.Conflict, error) {
	switch verb {
	case "retry":
		return c.whole(ctx)(c.n.sync.Conflicts().Retry(ctx, id))
	case "discard":
		return c.whole(ctx)(c.n.sync.Conflicts().Discard(ctx, id))
	default:
		return operator.Conflict{}, fault.New(fault.NotFound, "not_found", "A conflict can be retried or discarded.")
	}
}

// Wait implements operator.Sync.
func (c cloudRoutes) Wait(ctx context.Context, seq uint64) (refused uint64, err error) {
	return c.n.Settled(ctx, seq)
}

// whole shows a record with its writes and images, but for those that an application keeps secret.
func (c cloudRoutes) whole(ctx context.Context) func(found *conflict.Record, err error) (operator.Conflict, error) {
	return func(found *conflict.Record, err error) (operator.Conflict, error) {
		if err != nil {
			return operator.Conflict{}, err
		}
		secret, err := c.secret(ctx, found)
		out := c.conflict(found, !secret)
		if secret {
			out.Note = "the values are not shown: for now they are their owner's alone"
		}
		return out, err
	}
}

// secret reports whether an item of a record is one whose values its application shows to nobody else.
func (c cloudRoutes) secret(ctx context.Context, r *conflict.Record) (yes bool, err error) {
	err = c.n.store.View(ctx, func(tx *store.Tx) error {
		for _, a := range c.n.parts.Apps {
			rules := a.Cloud().Secret
			for _, e := range r.Entries() {
				if rule := rules[e.Table]; rule != nil && !yes && err == nil {
					yes, err = rule(tx, e.Key)
				}
			}
		}
		return err
	})
	return yes, err
}

// conflict shows a record; in whole with its writes and images.
func (c cloudRoutes) conflict(r *conflict.Record, whole bool) operator.Conflict {
	first := r.Decided[0].Entry
	out := operator.Conflict{
		ID: r.ID, At: r.At, Kind: string(r.Kind), State: string(r.State), Table: first.Table, Key: itemJSON(first.Key),
		WriteID: intent.WriteID(c.n.store.Node(), first.Seq), Policy: string(first.Policy), Code: r.Code, Text: r.Text,
		Writes: len(r.Decided) + len(r.Tail), ClosedAt: r.ClosedAt, Note: r.Note, NewSeqs: r.NewSeqs,
	}
	if !whole {
		return out
	}
	for i := range r.Decided {
		w := c.write(r.Decided[i].Entry)
		w.Met, w.Base = itemJSON(r.Decided[i].Met), itemJSON(r.Decided[i].Base)
		out.Decided = append(out.Decided, w)
	}
	for _, e := range r.Tail {
		out.Tail = append(out.Tail, c.write(e))
	}
	return out
}

func (c cloudRoutes) write(e *intent.Entry) operator.ConflictWrite {
	w := operator.ConflictWrite{
		WriteID: intent.WriteID(c.n.store.Node(), e.Seq), Table: e.Table, Key: itemJSON(e.Key), At: e.At, Op: opName(e.Op), Item: itemJSON(e.Item),
		Update: e.Update, Condition: e.Condition, Values: itemJSON(e.Values), Sent: e.Sent, Fence: e.Fence,
	}
	if len(e.Names) > 0 {
		w.Names, _ = json.Marshal(e.Names) // strings by strings
	}
	return w
}

// itemJSON writes an item as DynamoDB does; nil: there is none.
func itemJSON(it attr.Item) json.RawMessage {
	if it == nil {
		return nil
	}
	return attr.AppendJSON(nil, it)
}

func opName(op store.Op) string {
	switch op {
	case store.OpPut:
		return "put"
	case store.OpUpdate:
		return "update"
	case store.OpDelete:
		return "delete"
	default:
		return "check"
	}
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

package edge

import (
	"context"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// merges are the answers of cricket to writes that the cloud refused.
func merges() map[string]replica.MergeFunc {
	return map[string]replica.MergeFunc{cricket.TableLiveActivities: mergeSession}
}

// mergeSession settles the wish for a session that another node had first, as when a user follows a match on two of them:
// what was wished for is there. A token that came for it here since goes to the session of the other node.
func mergeSession(c replica.MergeCase) (writes []store.WriteItem, ok bool) {
	e := c.Entries[0]
	if len(c.Entries) > 1 || e.Op != store.OpUpdate || !(cricket.Activities{}).Satisfied(e.Condition, e.Params, c.Items[0].Remote) {
		return nil, false
	}
	later := c.Tail
	if len(e.Folds) > 0 { // the token is in the same write
		later = append(later[:0:0], e)
		later = append(later, c.Tail...)
	}
	switch {
	case len(later) == 0:
		return nil, true
	case len(later) > 1 || later[0].Op != store.OpUpdate || later[0] != e && later[0].Condition != "": // for a person
		return nil, false
	}
	u := later[0]
	return []store.WriteItem{{Update: &store.UpdateItem{Table: u.Table, Key: u.Key, Update: u.Update, Params: expr.Params{
		Names: used(u.Update, u.Names), Values: used(u.Update, u.Values),
	}}}}, true
}

// used are those placeholders that a text uses: DynamoDB refuses others.
func used[V any](text string, all map[string]V) map[string]V {
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,=()+-.[]", c) })
	out := map[string]V{}
	for _, w := range words {
		if v, ok := all[w]; ok {
			out[w] = v
		}
	}
	return out
}

// merged returns what a wait for the cloud comes to that ended in a conflict, where that has been resolved: the conflict
// of another write of the same request, or 0: what was asked for is there.
func (c cloudRoutes) merged(ctx context.Context, id, seq uint64) (refused uint64, err error) {
	found, err := c.n.sync.Conflict(ctx, id)
	if err != nil || found.State != replica.StateResolved {
		return id, err
	}
	first := seq
	for _, e := range found.Entries() {
		first = min(first, e.Seq)
	}
	open, _, err := c.n.sync.Conflicts(ctx, replica.ConflictQuery{State: replica.StateOpen})
	if err != nil {
		return 0, err
	}
	for _, other := range open {
		if within(other.Entries(), first, seq) {
			return other.ID, nil
		}
	}
	if n := len(found.NewSeqs); n > 0 { // they go the way of every write
		return c.Wait(ctx, found.NewSeqs[n-1])
	}
	return 0, nil
}

// within reports whether an entry has one of the sequences.
func within(entries []*intent.Entry, first, last uint64) bool {
	for _, e := range entries {
		if first <= e.Seq && e.Seq <= last {
			return true
		}
	}
	return false
}

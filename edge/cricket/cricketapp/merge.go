package cricketapp

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// mergeSession settles a session that another node created first, as when a user follows a match on two nodes:
// the purpose is met. A token that has arrived here since goes to the other node's session.
func mergeSession(c conflict.MergeCase) (writes []store.WriteItem, ok bool) {
	e := c.Entries[0]
	if len(c.Entries) > 1 || e.Op != store.OpUpdate || !(phone.Activities{}).IsSatisfied(e.Condition, e.Params, c.Items[0].Remote) {
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
	case len(later) > 1 || later[0].Op != store.OpUpdate || later[0] != e && later[0].Condition != "": // needs an operator
		return nil, false
	}
	u := later[0]
	return []store.WriteItem{{Update: &store.UpdateItem{Table: u.Table, Key: u.Key, Update: u.Update, Params: expr.Params{
		Names: usedPlaceholders(u.Update, u.Names), Values: usedPlaceholders(u.Update, u.Values),
	}}}}, true
}

// mergeFed settles a refused row of leagues, teams or seasons: somebody has changed it since it was read. What the feed says is written again
// after the next reading, if it may be. Changes of admins that were queued behind it are requested again.
func mergeFed(all, behind []table.Refused, _ func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	if slices.ContainsFunc(all, func(r table.Refused) bool { return !derives(&r) }) {
		return nil, false
	}
	for i := range behind {
		if derives(&behind[i]) {
			continue
		}
		if behind[i].Updates() == "" {
			return nil, false
		}
		writes = append(writes, behind[i].Again...)
	}
	return writes, true
}

// derives reports whether a write makes or changes a row as the feed says.
func derives(r *table.Refused) bool {
	if len(r.Again) == 0 {
		return false
	}
	put := r.Again[0].Put
	return derived.IsUpdate(r.Updates()) || put != nil && !put.Item[derived.By].IsZero()
}

// usedPlaceholders returns the placeholders that a text uses, because DynamoDB refuses unused ones.
func usedPlaceholders[V any](text string, all map[string]V) map[string]V {
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,=()+-.[]", c) })
	out := map[string]V{}
	for _, w := range words {
		if v, ok := all[w]; ok {
			out[w] = v
		}
	}
	return out
}

package matches

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// writeFixture sets what this node knows of a fixture, unless nothing but the time is new. Attributes of others (an
// admin's, another job's) stay.
//
// The sync and admins write the row too, without a lease, so it carries the fence of its ticks under a name of its own: a
// fenced-off holder's late score is refused, and what others have to say is not.
func writeFixture(tx *store.Tx, f Fixture, by Owner) error {
	next, err := f.item()
	if err != nil {
		return err
	}
	old, err := tx.Get(tables.Fixtures, tables.MatchKey(f.MatchID))
	if err != nil || !fixtureNews(old, next) {
		return err
	}
	u := store.UpdateItem{
		Table: tables.Fixtures, Key: tables.MatchKey(f.MatchID), Condition: ownFence, Params: by.fenceParams(),
	}
	u.Names["#f"] = tickFence
	set, remove := []string{"#f = :fence"}, []string{}
	for _, name := range fixtureAttributes(old, next) {
		p := fmt.Sprintf("a%d", len(u.Names))
		u.Names["#"+p] = name
		if value, has := next[name]; has {
			u.Values[":"+p] = value
			set = append(set, "#"+p+" = :"+p)
		} else {
			remove = append(remove, "#"+p)
		}
	}
	u.Update = "SET " + strings.Join(set, ", ")
	if len(remove) > 0 {
		u.Update += " REMOVE " + strings.Join(remove, ", ")
	}
	_, err = tx.Update(u)
	return fencedOff(err, f.MatchID, tickFence)
}

// tickFence is the attribute of a fixture with the fence of the tick that wrote it last.
const tickFence = "tickFence"

// fixtureAttributes are those that a snapshot changes: what it has and the row has otherwise, and what the row has and
// a feed may take back.
func fixtureAttributes(old, next attr.Item) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if name != "matchId" && !attr.Equal(old[name], next[name]) {
			names = append(names, name)
		}
	}
	for _, name := range []string{"toss", "note", "result", "liveUpdatedAt"} {
		if _, has := next[name]; !has && !old[name].IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// fixtureNews reports whether more than the time is new.
func fixtureNews(old, next attr.Item) bool {
	names := fixtureAttributes(old, next)
	return len(names) > 1 || len(names) == 1 && names[0] != "liveUpdatedAt"
}

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

// writeFixture updates the fixture from a tick unless only its time has changed. Attributes of other writers (admins, other jobs) stay.
//
// The sync and admins also write the row, without a lease, so ticks have a fence of their own name: a late score
// from a fenced-off holder is refused, and other writers are not.
func writeFixture(tx *store.Tx, f Fixture, by Owner) error {
	next, err := f.item()
	if err != nil {
		return err
	}
	old, err := tx.Get(tables.Fixtures, tables.MatchKey(f.MatchID))
	if err != nil || !fixtureNews(old, next) {
		return err
	}
	if err := keepFollowers(tx, old, &f); err != nil {
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

// tickFence is the attribute with the fence of the last tick that wrote a fixture.
const tickFence = "tickFence"

// fixtureAttributes lists the attributes to write: those that differ, and those that the row has and the feed no longer does.
func fixtureAttributes(old, next attr.Item) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if name != "matchId" && !attr.Equal(old[name], next[name]) {
			names = append(names, name)
		}
	}
	for _, name := range []string{"toss", "note", "result", "winnerTeamId", "liveUpdatedAt", "archivedAt"} {
		if _, has := next[name]; !has && !old[name].IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// fixtureNews reports whether more than the time has changed.
func fixtureNews(old, next attr.Item) bool {
	names := fixtureAttributes(old, next)
	return len(names) > 1 || len(names) == 1 && names[0] != "liveUpdatedAt"
}

package web

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// gamesInCloud says which rows belong to a match, for the node's list of matches that are not all in the cloud.
func (h *handlers) gamesInCloud() *operator.Games {
	shared := []string{tables.FixtureCache, tables.Fixtures, tables.ActiveMatches, tables.LiveActivities, tables.Follows, tables.Events}
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if !slices.Contains(shared, table) {
				return ""
			}
			return key["matchId"].Str()
		},
		Name: func(tx *store.Tx, id string) (name, href string, err error) {
			name, href = "match "+id, h.pages.At("/matches/"+id)
			item, err := tx.Get(tables.Fixtures, tables.MatchKey(id))
			var fx matches.Fixture
			if err == nil && item != nil && attr.Unmarshal(item, &fx) == nil {
				name = teamNames(&fx)
			}
			return name, href, err
		},
	}
}

// teamNames returns the names of a fixture's teams: "England v New Zealand".
func teamNames(fx *matches.Fixture) string {
	var names []string
	for _, t := range fx.Teams {
		names = append(names, t.Name)
	}
	return strings.Join(names, " v ")
}

package pickem

import (
	"time"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi/page"
)

// scenes returns the pages in each of their states, with fixed data, for the gallery.
func (a *api) scenes() ([]page.Scene, error) {
	return a.look.Scenes(
		page.Scene{Name: "no-event", What: "No event", Kind: "events", Data: map[string]any{}},
		a.scene("open", "An open card", pickem.Upcoming, 0, 0),
		a.scene("partly", "Partly picked", pickem.Upcoming, 1, 0),
		a.scene("late", "A late pick", pickem.Broadcast, 1, 0),
		a.scene("locked", "Locked", pickem.Broadcast, 2, 0),
		a.scene("live", "Live results", pickem.Broadcast, 2, 1),
		a.scene("scored", "Scored, with a tie and a no contest", pickem.Scored, 2, 2),
	)
}

// scene returns a card of two matches. picked and known are how many of them have a pick and a result.
func (a *api) scene(name, what string, state pickem.State, picked, known int) page.Scene {
	lock := time.Date(2100, 3, 4, 0, 0, 0, 0, time.UTC)
	team := func(name string, members ...string) pickem.Team { return pickem.Team{Name: name, Members: members} }
	c := pickem.Card{
		Event: pickem.Event{ID: "2100-03-03-gala", Date: "2100-03-03", Name: "Gala", State: state, StartsAt: lock.Add(time.Hour), LockAt: lock},
		Matches: []pickem.Match{
			{ID: "m1", Details: pickem.Details{Name: "Tag Team", Points: 5, Preshow: true, Teams: []pickem.Team{team("", "Ann", "Bo"), team("The Cys", "Cy")}}},
			{ID: "m2", Details: pickem.Details{Name: "Main Event", Points: 25, Championships: []string{"World"}, Teams: []pickem.Team{team("", "Di"), team("", "Ed")}}},
		},
	}
	c.Matches[1].Teams[0].Champion = true
	for i, result := range []int{1, pickem.NoContest}[:known] {
		c.Matches[i].Result = pickem.Result{Known: true, Team: result}
	}
	mine := pickem.Prediction{Placed: pickem.Placed{Rank: 1, User: "sam", Name: "Sam", Points: 5 * min(known, 1)}, Picks: map[string]int{}}
	for _, m := range c.Matches[:picked] {
		mine.Picks[m.ID] = 1
	}
	other := mine
	other.User, other.Name = "max", "Max with quite a long name"
	c.Mine, c.NotCounted = &mine, state == pickem.Broadcast && picked == 1
	if state != pickem.Upcoming {
		c.Predictions = []pickem.Prediction{mine, other}
	}
	return page.Scene{Name: name, What: what, Kind: "card", Data: a.card(c, lock.Add(-time.Hour))}
}

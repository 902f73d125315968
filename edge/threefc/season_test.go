package threefc

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/store"
)

// BenchmarkStandings reads the table of a season of 30 games of 20 goals.
func BenchmarkStandings(b *testing.B) {
	r := newRig(b)
	r.league()
	if err := r.store.Update(b.Context(), func(tx *store.Tx) error {
		p := &plan{s: r.Service}
		end := stampOf(r.now)
		for g := range 30 {
			game := Game{GameID: fmt.Sprint("g", g), SeasonID: "s", SessionID: "d", LeagueID: "l", GameStartTs: end, Status: Finished, FinishedAt: &end, ThirdLengthMinutes: 20, Thirds: []Third{{1, &end, &end}}}
			add(p, gameKey(game.GameID), entGame, game)
			add(p, sessionGameKey("d", end, game.GameID), entSessionGame, indexOf(&game))
			for n := range 20 {
				goal := Goal{GameID: game.GameID}
				goal.EventID, goal.Moment, goal.Scored = fmt.Sprint("e", n), MomentAt(20, 1, n*60), scored("red", "blue")
				add(p, goalKey(game.GameID, 1, n+1, goal.EventID), entGoal, goal)
			}
		}
		for i := range p.writes {
			if _, err := tx.Put(*p.writes[i].Put); err != nil {
				return err
			}
		}
		return p.err
	}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		table := view(r, func(tx *store.Tx) ([]Standing, error) { return r.Standings(tx, "s", false) })
		if table[0].Played != 30 {
			b.Fatal(table)
		}
	}
}

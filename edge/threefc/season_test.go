package threefc

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
)

// BenchmarkStandings reads the table of a season of 30 games with 20 goals each.
func BenchmarkStandings(b *testing.B) {
	r := newRig(b)
	r.league()
	if err := r.store.Update(b.Context(), func(tx *store.Tx) error {
		p := r.plan(nil)
		end := stampOf(r.now)
		for g := range 30 {
			game := Game{GameID: fmt.Sprint("g", g), SeasonID: "s", SessionID: "d", LeagueID: "l", GameStartTs: end, Status: Finished, FinishedAt: &end, ThirdLengthMinutes: 20, Thirds: []Third{{1, &end, &end}}}
			add(p, gameKey(game.GameID), game)
			add(p, sessionGameKey("d", end, game.GameID), indexOf(&game))
			for n := range 20 {
				goal := Goal{GameID: game.GameID}
				goal.EventID, goal.Moment, goal.Scored = fmt.Sprint("e", n), MomentAt(20, 1, n*60), scored("red", "blue")
				add(p, goalKey(game.GameID, 1, n+1, goal.EventID), goal)
			}
		}
		for i := range p.Writes {
			if _, err := tx.Put(*p.Writes[i].Put); err != nil {
				return err
			}
		}
		return p.Err()
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

// An address belongs to the league that had it first, even if a later league uses the same slug or id. Sessions are ordered by date.
func TestAddressesAndDays(t *testing.T) {
	r := newRig(t)
	slug := func(text string) *string { return &text }
	for _, l := range []League{
		{LeagueID: "m", Name: "Monday", Slug: slug("mon")}, {LeagueID: "a", Name: "A", Slug: slug("mon")}, {LeagueID: "mon", Name: "Another"}, {LeagueID: "z", Name: "0", Slug: slug("a")},
	} {
		r.now = r.now.Add(time.Second)
		r.must(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, boss, l) })
	}
	for text, want := range map[string]string{"mon": "m", "m": "m", "a": "a", "z": "z"} {
		if l := view(r, func(tx *store.Tx) (*League, error) { return r.LeagueNamed(tx, text) }); l.LeagueID != want {
			t.Errorf("%s leads to %s", text, l.LeagueID)
		}
	}
	r.must(func(tx *store.Tx) (Change, error) { return r.CreateSeason(tx, Season{LeagueID: "m", SeasonID: "s"}) })
	for id, date := range map[string]string{"a": "2026-07-11", "b": "2026-07-04", "c": "2026-07-18", "d": "2026-07-04"} {
		r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateSession(tx, Session{SeasonID: "s", SessionID: id, SessionDate: date})
		})
	}
	order := ""
	for _, d := range view(r, func(tx *store.Tx) ([]Session, error) { return r.Sessions(tx, "s") }) {
		order += d.SessionID
	}
	if order != "bdac" {
		t.Errorf("sessions in the order %s", order)
	}
}

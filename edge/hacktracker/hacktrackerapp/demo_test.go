package hacktrackerapp

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// The demo's games are complete and consistent: six are final, with as many runs as were batted in, and one is live.
func TestDemo(t *testing.T) {
	now := time.Date(2026, 6, 1, 18, 0, 0, 0, time.UTC)
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return now }}, hacktracker.Table("demo"))
	d := &demo{rnd: rand.New(rand.NewPCG(demoSeed, 0)), Service: hacktracker.Service{Handle: hacktracker.Rows("demo")}}
	if err := d.fill(t.Context(), &app.Host{Store: s}); err != nil {
		t.Fatal(err)
	}
	if err := s.View(t.Context(), func(tx *store.Tx) error {
		b := d.Open(tx, "demo-ada")
		games, _ := b.GamesOf(d.team, hacktracker.GamesPage{Limit: 100})
		var states []string
		for i := range games {
			box := d.Open(tx, "demo-dora").Box(games[i].ID)
			states = append(states, games[i].Status)
			if box.Differ || len(box.State.Mismatch) > 0 || len(box.State.Doubles) > 0 || box.Totals.PA < 12 {
				t.Errorf("%s: differs %t, mismatch %v, doubles %v, %d PA", games[i].Opponent, box.Differ, box.State.Mismatch, box.State.Doubles, box.Totals.PA)
			}
		}
		if want := []string{"IN_PROGRESS", "FINAL", "FINAL", "FINAL", "FINAL", "FINAL", "FINAL"}; !slices.Equal(states, want) {
			t.Errorf("%v", states)
		}
		stats := b.TeamStats(d.team, "spring")
		if avg := stats.Batting.AVG; len(stats.Players) != 12 || avg.Num*2 < avg.Den || avg.Num*3 > avg.Den*2 || stats.Batting.K*10 > stats.Batting.PA {
			t.Errorf("%d players bat %s with %d K", len(stats.Players), avg, stats.Batting.K)
		}
		return b.Err()
	}); err != nil {
		t.Fatal(err)
	}
	innings := d.inning
	for i := 0; i < 100 && d.inning == innings; i++ {
		now = now.Add(demoPace)
		if err := s.Update(t.Context(), func(tx *store.Tx) error { _, err := d.goOn(d.Open(tx, d.owner)); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if d.inning != innings+1 {
		t.Error("the live game does not continue")
	}
}

// Visitors may take over the live game: while they score, after they have ended it, and when they have deleted it. The demo does not fail
// then, and its plays never contradict theirs.
func TestDemoAmongVisitors(t *testing.T) {
	now := time.Date(2026, 6, 1, 18, 0, 0, 0, time.UTC)
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return now }}, hacktracker.Table("demo"))
	d := &demo{rnd: rand.New(rand.NewPCG(demoSeed, 0)), Service: hacktracker.Service{Handle: hacktracker.Rows("demo")}}
	if err := d.fill(t.Context(), &app.Host{Store: s}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what        string
		after       time.Duration
		visitor     func(b *hacktracker.Book)
		plays, over bool
	}{
		{"nobody else is there", demoPace, func(*hacktracker.Book) {}, true, false},
		{"a visitor scores", demoPace, func(b *hacktracker.Book) {
			up := b.State(d.game)
			b.NewAtBat(d.game, "", now, nil, body(map[string]any{
				"playerId": up.Batter.PlayerID, "battingOrder": up.Batter.BattingOrder, "result": "1B", "inning": up.Inning, "outs": up.Outs,
			}))
		}, false, false},
		{"and thinks", demoYields - demoPace, func(*hacktracker.Book) {}, false, false},
		{"and has gone", 2 * demoPace, func(*hacktracker.Book) {}, true, false},
		{"one ends the game", demoPace, func(b *hacktracker.Book) { b.ChangeGame(d.game, body(map[string]any{"status": hacktracker.Final})) }, false, false},
		{"and starts it again", demoPace, func(b *hacktracker.Book) {
			b.ChangeGame(d.game, body(map[string]any{"status": hacktracker.InProgress}))
		}, true, false},
		{"and deletes it", demoPace, func(b *hacktracker.Book) { b.DeleteGame(d.game) }, false, true},
	} {
		now = now.Add(step.after)
		var before, behind hacktracker.State
		var over bool
		if err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
			b := d.Open(tx, "demo-chidi")
			step.visitor(b)
			before = b.State(d.game).State
			if over, err = d.goOn(d.Open(tx, d.owner)); err == nil && !over {
				behind = b.State(d.game).State
				err = b.Err()
			}
			return err
		}); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if plays := len(behind.Innings) > len(before.Innings); plays != step.plays || over != step.over || len(behind.Mismatch) > 0 {
			t.Errorf("%s: the demo plays on: %t, over: %t, misfits: %v", step.what, plays, over, behind.Mismatch)
		}
	}
}

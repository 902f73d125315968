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

// The demo's games are whole: six are final with as many runs as were batted in, nothing contradicts itself, one is live.
func TestDemo(t *testing.T) {
	now := time.Date(2026, 6, 1, 18, 0, 0, 0, time.UTC)
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return now }}, hacktracker.Table("demo"))
	d := &demo{rnd: rand.New(rand.NewPCG(demoSeed, 0)), Service: hacktracker.Service{Table: "demo"}}
	if err := d.fill(t.Context(), &app.Host{Store: s}); err != nil {
		t.Fatal(err)
	}
	if err := s.View(t.Context(), func(tx *store.Tx) error {
		games, err := d.GamesOf(tx, "demo-ada", d.team)
		if err != nil {
			return err
		}
		var states []string
		for i := range games {
			box, err := d.Box(tx, "demo-dora", games[i].ID)
			if err != nil {
				return err
			}
			states = append(states, games[i].Status)
			if box.Differ || len(box.State.Mismatch) > 0 || len(box.State.Doubles) > 0 || box.Totals.PA < 12 {
				t.Errorf("%s: differs %t, mismatch %v, doubles %v, %d PA", games[i].Opponent, box.Differ, box.State.Mismatch, box.State.Doubles, box.Totals.PA)
			}
		}
		if want := []string{"IN_PROGRESS", "FINAL", "FINAL", "FINAL", "FINAL", "FINAL", "FINAL"}; !slices.Equal(states, want) {
			t.Errorf("%v", states)
		}
		stats, err := d.TeamStats(tx, "demo-ada", d.team, "spring")
		if avg := stats.Batting.AVG; len(stats.Players) != 12 || avg.Num*2 < avg.Den || avg.Num*3 > avg.Den*2 || stats.Batting.K*10 > stats.Batting.PA {
			t.Errorf("%d players bat %s with %d K", len(stats.Players), avg, stats.Batting.K)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	innings := d.inning
	for range 100 {
		if d.inning > innings {
			break
		}
		if err := s.Update(t.Context(), func(tx *store.Tx) error { return d.step(tx, now) }); err != nil {
			t.Fatal(err)
		}
	}
	if d.inning != innings+1 {
		t.Error("the live game does not go on")
	}
}

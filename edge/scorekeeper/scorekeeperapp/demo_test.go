package scorekeeperapp

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// The demo has 60 days of games of a team of eight, and everybody can play today's word.
func TestDemoIsFilled(t *testing.T) {
	table, now := scorekeeper.Table("scorekeeper-demo"), time.Date(2026, 2, 2, 10, 30, 0, 0, time.UTC)
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return now }}, table)
	if err := fill(t.Context(), &app.Host{Store: s}, table.Name); err != nil {
		t.Fatal(err)
	}
	service := &scorekeeper.Service{Handle: scorekeeper.Rows(table.Name)}
	err := s.View(t.Context(), func(tx *store.Tx) error {
		today := tx.Now().UTC().Format(scorekeeper.Day)
		for _, u := range app.DemoUsers(demoPlayers) {
			user, name := u.Subject, u.Name
			h, err := service.History(tx, user)
			if err != nil {
				return err
			}
			if h.Total < demoDays*3/4 || h.Total > demoDays || h.Won < h.Total/2 || h.Games[0].Date >= today {
				t.Errorf("%s: %d games, %d won, the last on %s", name, h.Total, h.Won, h.Games[0].Date)
			}
			if v, err := service.Game(tx, user, today); err != nil || v.Moves != 0 {
				t.Errorf("%s today: %+v, %v", name, v, err)
			}
			ids, err := service.TeamsOf(tx, user)
			if err != nil || len(ids) != 1 {
				t.Errorf("%s is in %v, %v", name, ids, err)
			}
		}
		puzzles, err := service.Puzzles(tx, "", "")
		if len(puzzles) != demoDays+13 {
			t.Errorf("%d puzzles", len(puzzles))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

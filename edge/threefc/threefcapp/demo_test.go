package threefcapp

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// The demo has four finished games and a live one. In the live game the second scorer's goals of six minutes arrive late, with the times of
// their taps. If people finish the third, the demo leaves the game to them and logs nothing.
func TestDemo(t *testing.T) {
	kickOff := time.Date(2026, 6, 1, 18, 0, 0, 0, time.UTC)
	c := clock.NewStepped(kickOff)
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: c.Now}, threefc.Table("demo"))
	d := &demo{rnd: rand.New(rand.NewPCG(demoSeed, 0))}
	d.Service = threefc.Service{Handle: threefc.Rows("demo"), Skew: func() time.Duration { return d.ahead }}
	if err := s.Update(t.Context(), d.fill); err != nil {
		t.Fatal(err)
	}
	goals := func() (all []threefc.Goal) {
		if err := s.View(t.Context(), func(tx *store.Tx) error {
			b, err := d.Board(tx, "demo-game-5")
			if err == nil {
				all = b.Goals
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if err := s.View(t.Context(), func(tx *store.Tx) error {
		table, err := d.Standings(tx, "demo-season", false)
		if err == nil && (len(table) != 3 || table[0].Played != demoGames) {
			t.Errorf("%+v", table)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if n := len(goals()); n != 0 || len(d.code) != 8 {
		t.Errorf("%d goals at the start", n)
	}
	defer c.Join()()
	ctx, cancel := context.WithCancel(t.Context())
	var log strings.Builder
	host := &app.Host{Store: s, Clock: c, Log: slog.New(slog.NewTextHandler(&log, nil))}
	done := make(chan error, 1)
	go func() { done <- d.live(ctx, host) }()
	wait.Until(t, "goals that arrive late", func() bool {
		late := 0
		for _, g := range goals() {
			made, err := time.Parse(time.RFC3339, g.CreatedAt)
			if err != nil {
				t.Fatal(err)
			}
			if made.Sub(kickOff)-time.Duration(g.ElapsedSeconds)*time.Second > demoPace {
				late++
			}
		}
		return late >= 2
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	people := threefc.Service{Handle: threefc.Rows("demo")}
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		c, err := people.FinishThird(tx, demoLive, 1, people.Now(tx))
		if err == nil {
			err = tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.live(t.Context(), host); err != nil || log.Len() > 0 {
		t.Error(err, log.String())
	}
}

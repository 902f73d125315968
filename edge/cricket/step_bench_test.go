package cricket_test

import (
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// BenchmarkStep is one step of the rules at the end of a Test, a one-day final and a T20.
func BenchmarkStep(b *testing.B) {
	for _, id := range []string{"1086066", "1144530", "1192877"} {
		b.Run(id, func(b *testing.B) {
			m, err := replay.Load(id)
			if err != nil {
				b.Fatal(err)
			}
			at := clock.NewStepped(m.End())
			srv := httptest.NewServer(replay.NewFeed(m, at, "demo", 0))
			defer srv.Close()
			feed, err := sportmonks.New(sportmonks.Config{BaseURL: srv.URL + "/api/v2.0", Token: "demo", Clock: at})
			if err != nil {
				b.Fatal(err)
			}
			r, err := feed.Fixture(b.Context(), id, true)
			if err != nil {
				b.Fatal(err)
			}
			var keys []string
			for _, c := range cricket.Detect(&cricket.State{}, &r.Snapshots[0]) {
				if c.Key != "" {
					keys = append(keys, c.Key)
				}
			}
			st := cricket.State{Seen: cricket.SeenKeys(nil).WithKeys(keys...)}
			b.ReportMetric(float64(len(r.Snapshots[0].Balls)), "balls")
			b.ReportAllocs()
			for b.Loop() {
				cricket.Step(st, &r.Snapshots[0], cricket.Options{}, at.Now())
			}
		})
	}
}

// BenchmarkTick is the whole tick, with its transaction, when only the note changes, at the end of the same matches.
func BenchmarkTick(b *testing.B) {
	for _, id := range []string{"1086066", "1144530", "1192877"} {
		b.Run(id, func(b *testing.B) {
			m, err := replay.Load(id)
			if err != nil {
				b.Fatal(err)
			}
			at := clock.NewStepped(m.End())
			srv := httptest.NewServer(replay.NewFeed(m, at, "demo", 0))
			defer srv.Close()
			feed, err := sportmonks.New(sportmonks.Config{BaseURL: srv.URL + "/api/v2.0", Token: "demo", Clock: at})
			if err != nil {
				b.Fatal(err)
			}
			r, err := feed.Fixture(b.Context(), id, true)
			if err != nil {
				b.Fatal(err)
			}
			now := at.Now()
			db := storetest.OpenWith(b, filepath.Join(b.TempDir(), "store.db"),
				store.Options{NoSync: true, Now: func() time.Time { return now }}, tables.All()...)
			service := matches.NewService(db, cricket.Options{})
			s := r.Snapshots[0]
			tick := func(d time.Duration) {
				now = now.Add(d)
				if _, err := service.Tick(b.Context(), &s, matches.Owner{Node: "n", Fence: 1}); err != nil {
					b.Fatal(err)
				}
			}
			for range 60 { // until all held events are recorded
				tick(6 * time.Second)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Note += "."
				if len(s.Note) > 100 {
					s.Note = ""
				}
				tick(time.Millisecond)
			}
		})
	}
}

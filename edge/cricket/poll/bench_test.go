package poll_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// timed is a service that measures its ticks.
type timed struct {
	*matches.Service
	clock  clock.Clock
	until  time.Time
	cancel context.CancelFunc
	ticks  []time.Duration
}

func (s *timed) Tick(ctx context.Context, snap *cricket.Snapshot, by matches.Owner) (cricket.State, error) {
	began := time.Now()
	st, err := s.Service.Tick(ctx, snap, by)
	s.ticks = append(s.ticks, time.Since(began))
	if !s.clock.Now().Before(s.until) {
		s.cancel()
	}
	return st, err
}

// bare is a feed whose snapshots lack the raw text, so that nothing is cached.
type bare struct{ *sportmonks.Client }

func (b bare) Livescores(ctx context.Context, balls bool) (sportmonks.Reading, error) {
	r, err := b.Client.Livescores(ctx, balls)
	all := make([]cricket.Snapshot, len(r.Snapshots))
	for i := range all {
		all[i] = r.Snapshots[i]
		all[i].Raw = nil
	}
	r.Snapshots = all
	return r, err
}

// The cost of a live match's tick, with and without its reply being cached: an hour of a T20, with synced writes.
func BenchmarkTickBesideTheCache(b *testing.B) {
	for _, cached := range []bool{false, true} {
		name := "without"
		if cached {
			name = "with"
		}
		b.Run(name, func(b *testing.B) {
			var all time.Duration
			var ticks []time.Duration
			var kept int64
			for b.Loop() {
				s, took, status := playHour(b, cached)
				ticks, all, kept = append(ticks, s.ticks...), all+took, kept+status.Cached
			}
			if perHour := kept / int64(b.N); cached != (perHour > 10) { // the list of fixtures is cached in any case
				b.Fatalf("%d replies were cached", kept)
			}
			slices.Sort(ticks)
			b.ReportMetric(float64(ticks[len(ticks)/2].Microseconds()), "µs/tick") // the median, because a disk's times vary
			b.ReportMetric(float64(len(ticks))/float64(b.N), "ticks/hour")
			b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "ms/hour")
			b.ReportMetric(float64(kept)/float64(b.N), "cached/hour")
		})
	}
}

func playHour(b *testing.B, cached bool) (*timed, time.Duration, poll.Status) {
	b.Helper()
	m, err := replay.Load("1192877")
	if err != nil {
		b.Fatal(err)
	}
	c := clock.NewStepped(m.Start())
	db, err := store.Open(filepath.Join(b.TempDir(), "store.db"), store.Options{Now: c.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.Define(b.Context(), tables.All()...); err != nil {
		b.Fatal(err)
	}
	srv := httptest.NewServer(replay.NewFeed(m, c, "demo", 0))
	defer srv.Close()
	client, err := sportmonks.New(sportmonks.Config{BaseURL: srv.URL + "/api/v2.0", Token: "demo", Clock: c})
	if err != nil {
		b.Fatal(err)
	}
	var feed poll.Feed = client
	if !cached {
		feed = bare{client}
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	s := &timed{Service: matches.NewService(db, cricket.Options{}), clock: c, until: m.Start().Add(time.Hour), cancel: cancel}
	leave := c.Join()
	defer leave()
	p := poll.New(poll.Config{
		Node: "bench", Feed: feed, Leases: locks{1}, Match: s, Data: db, Clock: c,
		Log: slog.New(slog.DiscardHandler), Leagues: []string{poll.AllLeagues},
	})
	began := time.Now()
	if err := p.Run(ctx); err != nil {
		b.Fatal(err)
	}
	return s, time.Since(began), p.Status()
}

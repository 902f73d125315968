package poll_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

var errLost = errors.New("the lock is another node's")

// locks grants every lock, always with the same fence.
type locks struct{ fence int64 }

func (l locks) Hold(context.Context, string) (poll.Lease, error) { return l, nil }

func (l locks) Holder(context.Context, string) (string, error) { return "", nil }

func (l locks) Fence() int64 { return l.fence }

func (l locks) Deadline() time.Time { return time.Time{} }

func (l locks) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (l locks) RaiseFence(context.Context, int64) error { return errLost }

func (l locks) Release(context.Context) error { return nil }

// node is a poller on a store file, which can be run several times.
type node struct {
	t     *testing.T
	match *replay.Match
	path  string
	id    string
	fence int64
	wrap  func(poll.Matches) poll.Matches              // wraps the service, unless nil
	feed  func(clock.Clock, http.Handler) http.Handler // wraps the replay
	shown cricket.Display                              // at the end of the last run
}

func newNode(t *testing.T, id string) *node {
	t.Helper()
	m, err := replay.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	return &node{
		t: t, match: m, id: id, path: filepath.Join(t.TempDir(), "touchline.db"),
		feed: func(_ clock.Clock, replay http.Handler) http.Handler { return replay },
	}
}

// run polls from where the match was left until stop returns true, and returns the match's state and events.
func (n *node) run(stop func(cricket.State, time.Time) bool) (cricket.State, []cricket.Event) {
	n.t.Helper()
	n.fence++
	var now clock.Clock = clock.NewStepped(n.match.Start())
	db, err := store.Open(n.path, store.Options{NoSync: true, Now: func() time.Time { return now.Now() }})
	if err != nil {
		n.t.Fatal(err)
	}
	defer db.Close()
	if err := db.Define(n.t.Context(), tables.All()...); err != nil {
		n.t.Fatal(err)
	}
	service := matches.NewService(db, cricket.Options{})
	if st, found, err := service.State(n.t.Context(), n.id); err != nil {
		n.t.Fatal(err)
	} else if found {
		now = clock.NewStepped(st.LastTickAt)
	}
	srv := httptest.NewServer(n.feed(now, replay.NewFeed(n.match, now, "demo", 0)))
	defer srv.Close()
	feed, err := sportmonks.New(sportmonks.Config{BaseURL: srv.URL + "/api/v2.0", Token: "demo", Clock: now})
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(n.t.Context())
	defer cancel()
	watched := &until{Service: service, stop: stop, now: now, cancel: cancel}
	leave := now.Join()
	defer leave()
	var matches poll.Matches = watched
	if n.wrap != nil {
		matches = n.wrap(matches)
	}
	p := poll.New(poll.Config{
		Node: "test", Feed: feed, Leases: locks{n.fence}, Match: matches, Data: db, Clock: now,
		Log: slog.New(slog.DiscardHandler), Reference: feed, Budgets: feed, Leagues: []string{poll.AllLeagues},
	})
	if err := p.Run(ctx); err != nil {
		n.t.Fatal(err)
	}
	events, err := service.Events(n.t.Context(), n.id)
	if err != nil {
		n.t.Fatal(err)
	}
	if n.shown, err = service.Display(n.t.Context(), n.id); err != nil {
		n.t.Fatal(err)
	}
	return watched.state, events
}

// until is a service that ends the run after a tick for which stop returns true.
type until struct {
	*matches.Service
	stop   func(cricket.State, time.Time) bool
	now    clock.Clock
	cancel context.CancelFunc
	state  cricket.State
}

func (u *until) Tick(ctx context.Context, s *cricket.Snapshot, by matches.Owner) (cricket.State, error) {
	st, err := u.Service.Tick(ctx, s, by)
	u.state = st
	if u.stop(st, u.now.Now()) {
		u.cancel()
	}
	return st, err
}

func ended(st cricket.State, _ time.Time) bool { return st.Status == cricket.ActiveEnded }

// cleanRuns are matches polled from start to end, each run by the first test that needs it. They must not be changed.
var cleanRuns sync.Map

func cleanRun(t *testing.T, id string) (cricket.State, []cricket.Event) {
	t.Helper()
	once, _ := cleanRuns.LoadOrStore(id, sync.OnceValues(func() (cricket.State, []cricket.Event) { return newNode(t, id).run(ended) }))
	return once.(func() (cricket.State, []cricket.Event))()
}

// A node that is stopped and restarted after random ticks finds and announces the same as one that is not.
func TestRestartsChangeNothing(t *testing.T) {
	const id = "1343760"
	wantState, wantEvents := cleanRun(t, id)
	if wantState.Result != "Malawi won by 10 wickets" || len(wantEvents) == 0 {
		t.Fatalf("the clean run says %q with %d events", wantState.Result, len(wantEvents))
	}
	seeds, longest := uint64(4), 60
	if testing.Short() {
		seeds, longest = 1, 150
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := newNode(t, id)
		var state cricket.State
		var events []cricket.Event
		restarts := 0
		for state.Status != cricket.ActiveEnded {
			ticks := 1 + rng.IntN(longest)
			state, events = n.run(func(st cricket.State, now time.Time) bool {
				ticks--
				return ticks == 0 || ended(st, now)
			})
			restarts++
		}
		if diff := cmp.Diff(wantEvents, events); diff != "" {
			t.Errorf("seed %d, %d restarts: events (-clean +restarted):\n%s", seed, restarts, diff)
		}
		if state.Result != wantState.Result {
			t.Errorf("seed %d: result %q, want %q", seed, state.Result, wantState.Result)
		}
	}
}

// failing refuses every third tick.
type failing struct {
	poll.Matches
	ticks int
}

func (f *failing) Tick(ctx context.Context, s *cricket.Snapshot, by matches.Owner) (cricket.State, error) {
	f.ticks++
	if f.ticks%3 == 0 {
		return cricket.State{}, errRefused
	}
	return f.Matches.Tick(ctx, s, by)
}

var errRefused = errors.New("there is no room")

// A snapshot whose tick failed is ticked again at the next poll, although the feed reports no change.
func TestFailedTickIsRepeated(t *testing.T) {
	_, want := cleanRun(t, "1343760")
	n := newNode(t, "1343760")
	n.wrap = func(m poll.Matches) poll.Matches { return &failing{Matches: m} }
	state, got := n.run(ended)
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".At" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("events (-clean +failing):\n%s", diff)
	}
	if state.Result != "Malawi won by 10 wickets" {
		t.Errorf("result %q", state.Result)
	}
}

// A fenced-off node's writes are refused because of its successor's fence.
func TestFencedOffNodeIsRefused(t *testing.T) {
	n := newNode(t, "1343760")
	n.fence = 7
	half := n.match.Start().Add(10 * time.Minute)
	state, before := n.run(func(_ cricket.State, now time.Time) bool { return now.After(half) })
	shown := n.shown
	n.fence = 3 // the old holder comes back
	_, after := n.run(func(_ cricket.State, now time.Time) bool { return now.After(half.Add(10 * time.Minute)) })
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the fenced-off node changed events (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(shown, n.shown); diff != "" {
		t.Errorf("the fenced-off node changed the display (-before +after):\n%s", diff)
	}
	if state.Status != cricket.ActiveLive {
		t.Errorf("the match is %s", state.Status)
	}
}

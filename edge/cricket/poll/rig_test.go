package poll_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/machine"
	"github.com/touchline/touchline/store"
)

// midday returns the time at which the rig's clock begins.
func midday() time.Time { return time.Date(2026, 10, 9, 12, 0, 0, 0, time.UTC) }

// call is a request to the feed.
type call struct {
	at   time.Time
	what string // list, fixture 7, fixtures, ...
}

// script is a feed whose answers the test defines.
type script struct {
	clock clock.Clock

	list     func(now time.Time) []cricket.Snapshot // nil: none
	fixture  func(id string, now time.Time) (cricket.Snapshot, error)
	fixtures func(now time.Time) []cricket.Snapshot
	leagues  []reference.LeagueRecord
	budgets  map[sportmonks.Endpoint]sportmonks.Budget
	listErr  func(now time.Time) error
	health   func(now time.Time) map[sportmonks.Endpoint]sportmonks.Health

	mu    sync.Mutex
	calls []call
	last  string // the list as last sent
}

func (f *script) note(what string, args ...any) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	f.calls = append(f.calls, call{now, fmt.Sprintf(what, args...)})
	return now
}

// asked returns the times of the requests for something, since midday.
func (f *script) asked(what string) (at []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.what == what {
			at = append(at, c.at.Sub(midday()))
		}
	}
	return at
}

func (f *script) Livescores(_ context.Context, balls bool) (sportmonks.Reading, error) {
	what := "list"
	if balls {
		what = "list with balls"
	}
	now := f.note("%s", what)
	if f.listErr != nil {
		if err := f.listErr(now); err != nil {
			return sportmonks.Reading{}, err
		}
	}
	r := sportmonks.Reading{At: now}
	if f.list != nil {
		r.Snapshots = f.list(now)
	}
	body := what
	for i := range r.Snapshots {
		r.Snapshots[i].Raw = fmt.Appendf(nil, `{"id":%s,"status":%q,"note":%q,"runs":%v}`,
			r.Snapshots[i].MatchID, r.Snapshots[i].Status, r.Snapshots[i].Note, r.Snapshots[i].Innings)
		body += string(r.Snapshots[i].Raw)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Unchanged = body == f.last
	f.last = body
	return r, nil
}

func (f *script) Fixture(ctx context.Context, id string, _ bool) (sportmonks.Reading, error) {
	now := f.note("fixture %s", id)
	if sportmonks.IsFinal(ctx) {
		f.note("final %s", id)
	}
	if f.fixture == nil {
		return sportmonks.Reading{}, fault.New(fault.NotFound, "none", "no such match")
	}
	s, err := f.fixture(id, now)
	if err != nil {
		return sportmonks.Reading{}, err
	}
	return sportmonks.Reading{At: now, Snapshots: []cricket.Snapshot{s}}, nil
}

func (f *script) LoadScores(context.Context) error { return nil }

func (f *script) Fixtures(_ context.Context, from, to time.Time) ([]cricket.Snapshot, error) {
	now := f.note("fixtures")
	if f.fixtures == nil {
		return nil, nil
	}
	all := f.fixtures(now)
	return slices.DeleteFunc(all, func(s cricket.Snapshot) bool { return s.StartsAt.Before(from) || s.StartsAt.After(to) }), nil
}

func (f *script) Leagues(context.Context) ([]reference.LeagueRecord, error) {
	f.note("leagues")
	return f.leagues, nil
}

func (f *script) Seasons(context.Context) ([]reference.SeasonRecord, error) {
	f.note("seasons")
	return []reference.SeasonRecord{{SeasonID: "1715", LeagueID: "3", Name: "2026"}}, nil
}

func (f *script) Teams(context.Context) ([]reference.TeamRecord, error) {
	f.note("teams")
	return []reference.TeamRecord{{TeamID: "1", Name: "Pakistan", Code: "PAK"}, {TeamID: "39", Name: "Sri Lanka", Code: "SL"}}, nil
}

func (f *script) Squad(_ context.Context, team, season string) ([]reference.SquadPlayer, error) {
	f.note("squad %s %s", team, season)
	if team == "39" {
		return nil, fault.New(fault.NotFound, "none", "no squad")
	}
	return []reference.SquadPlayer{{ID: "270", Name: "Sahibzada Farhan"}}, nil
}

func (f *script) Budgets() map[sportmonks.Endpoint]sportmonks.Budget { return f.budgets }

func (f *script) Budget(e sportmonks.Endpoint) sportmonks.Budget { return f.budgets[e] }

func (f *script) RestsUntil(e sportmonks.Endpoint) time.Time {
	if until := f.Health()[e].Until; until.After(f.clock.Now()) {
		return until
	}
	return time.Time{}
}

func (f *script) Health() map[sportmonks.Endpoint]sportmonks.Health {
	if f.health == nil {
		return nil
	}
	return f.health(f.clock.Now())
}

// fleetLocks are locks that expire after a term on the test's clock. A holder renews its lock with each Hold.
type fleetLocks struct {
	clock clock.Clock
	term  time.Duration

	mu   sync.Mutex
	held map[string]*fleetLease
}

type fleetLease struct {
	locks *fleetLocks
	key   string
	node  string
	fence int64
	until time.Time
}

func newFleetLocks(c clock.Clock) *fleetLocks {
	return &fleetLocks{clock: c, term: 90 * time.Second, held: map[string]*fleetLease{}}
}

// of returns the locks as a node sees them.
func (l *fleetLocks) of(node string) poll.Leases { return nodeLocks{l, node} }

type nodeLocks struct {
	*fleetLocks
	node string
}

func (l nodeLocks) Hold(_ context.Context, key string) (poll.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	have := l.held[key]
	switch {
	case have == nil:
		have = &fleetLease{locks: l.fleetLocks, key: key, node: l.node, fence: 1}
	case have.node == l.node && now.Before(have.until):
	case now.Before(have.until):
		return nil, nil
	default:
		have = &fleetLease{locks: l.fleetLocks, key: key, node: l.node, fence: have.fence + 1}
	}
	have.until = now.Add(l.term)
	l.held[key] = have
	return have, nil
}

func (l nodeLocks) Holder(_ context.Context, key string) (string, error) { return l.holder(key), nil }

func (l *fleetLease) Fence() int64 { return l.fence }

func (l *fleetLease) Deadline() time.Time { return l.until }

func (l *fleetLease) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (l *fleetLease) RaiseFence(context.Context, int64) error { return errLost }

func (l *fleetLease) Release(context.Context) error {
	l.locks.mu.Lock()
	defer l.locks.mu.Unlock()
	l.until = time.Time{}
	return nil
}

// holder returns the holder of a lock.
func (l *fleetLocks) holder(key string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have := l.held[key]; have != nil && l.clock.Now().Before(have.until) {
		return have.node
	}
	return ""
}

// rig is a poller on a store in memory, a stepped clock and a scripted feed.
type rig struct {
	t       *testing.T
	clock   *clock.Stepped
	store   *store.Store
	service *matches.Service
	feed    *script
	locks   *fleetLocks
	ticks   *ticks
	config  poll.Config

	meanwhile func()               // runs beside the pollers of a run
	began     func([]*poll.Poller) // is called with them before they run; nil: no call

	writer atomic.Pointer[machine.Clock] // whose clock the store reads; nil: the rig's
}

// ticks is a service that records its ticks.
type ticks struct {
	*matches.Service
	clock clock.Clock
	fail  func(id string, now time.Time) error
	clean func(id string, now time.Time)
	mu    sync.Mutex
	at    map[string][]time.Duration
	by    map[string][]string
}

func (s *ticks) Tick(ctx context.Context, snap *cricket.Snapshot, by matches.Owner) (cricket.State, error) {
	now := s.clock.Now()
	if s.fail != nil {
		if err := s.fail(snap.MatchID, now); err != nil {
			return cricket.State{}, err
		}
	}
	s.mu.Lock()
	s.at[snap.MatchID] = append(s.at[snap.MatchID], now.Sub(midday()))
	s.by[snap.MatchID] = append(s.by[snap.MatchID], by.Node)
	s.mu.Unlock()
	return s.Service.Tick(ctx, snap, by)
}

func (s *ticks) CleanUp(ctx context.Context, id string, by matches.Owner) error {
	if s.clean != nil {
		s.clean(id, s.clock.Now())
	}
	return s.Service.CleanUp(ctx, id, by)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	c := clock.NewStepped(midday())
	r := &rig{t: t, clock: c}
	s, err := store.OpenMemory(store.Options{Now: func() time.Time {
		if m := r.writer.Load(); m != nil {
			return m.Wall()
		}
		return c.Wall()
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Define(t.Context(), tables.All()...); err != nil {
		t.Fatal(err)
	}
	r.store, r.service, r.feed, r.locks = s, matches.NewService(s, cricket.Options{}), &script{clock: c}, newFleetLocks(c)
	r.ticks = &ticks{Service: r.service, clock: c, at: map[string][]time.Duration{}, by: map[string][]string{}}
	r.config = poll.Config{
		Node: "a", Feed: r.feed, Leases: r.locks.of("a"), Match: r.ticks, Data: s, Clock: c,
		Log: slog.New(slog.DiscardHandler), Leagues: []string{poll.AllLeagues},
	}
	return r
}

// run polls until a time after midday, with one poller per life, or without lives one with the rig's configuration. Pollers
// whose life has an end stop then.
func (r *rig) run(until time.Duration, lives ...life) []*poll.Poller {
	r.t.Helper()
	if len(lives) == 0 {
		lives = []life{{config: r.config}}
	}
	var all []*poll.Poller
	var done sync.WaitGroup
	var leaves []func()
	for range lives {
		leaves = append(leaves, r.clock.Join(), r.clock.Join())
	}
	for _, l := range lives {
		all = append(all, poll.New(l.config))
	}
	if r.began != nil {
		r.began(all)
	}
	if r.meanwhile != nil {
		leave := r.clock.Join()
		done.Go(func() {
			defer leave()
			r.meanwhile()
		})
	}
	for i, l := range lives {
		p := all[i]
		ctx, cancel := context.WithCancel(r.t.Context())
		end := until
		if l.until != 0 {
			end = l.until
		}
		done.Go(func() {
			defer leaves[2*i]()
			_ = r.clock.Wait(ctx, midday().Add(end), nil)
			cancel()
		})
		done.Go(func() {
			defer leaves[2*i+1]()
			if l.from != 0 {
				_ = r.clock.Wait(ctx, midday().Add(l.from), nil)
			}
			if err := p.Run(ctx); err != nil {
				r.t.Error(err)
			}
		})
	}
	done.Wait()
	return all
}

// life is a poller's configuration, with the times since midday between which it runs.
type life struct {
	config      poll.Config
	from, until time.Duration // zero: the run's
}

func (r *rig) do(f func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), f); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) state(id string) (st cricket.State, found bool) {
	r.t.Helper()
	st, found, err := r.service.State(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return st, found
}

// match returns a snapshot of a league's match. After the start it has a score, whose update time grows with the runs.
func match(id int, league int64, status cricket.Status, runs int) cricket.Snapshot {
	s := cricket.Snapshot{
		MatchID: fmt.Sprint(id), Status: status, Type: "T20I", Overs: 20, StartsAt: midday(), SeasonID: 1715,
		League: cricket.League{ID: league, Name: fmt.Sprintf("League %d", league), Code: fmt.Sprintf("L%d", league)},
		Teams:  [2]cricket.Team{{ID: 1, Name: "Pakistan", Code: "PAK"}, {ID: 39, Name: "Sri Lanka", Code: "SL"}},
	}
	if phase, _ := status.Phase(); phase != cricket.PhasePrematch {
		s.Innings = []cricket.Innings{{No: 1, TeamID: 1, Runs: runs, Overs: "5.0", UpdatedAt: midday().Add(time.Duration(runs) * time.Second)}}
	}
	return s
}

// gaps returns the intervals between consecutive times, without those that begin before from.
func gaps(at []time.Duration, from time.Duration) (out []time.Duration) {
	for i := 1; i < len(at); i++ {
		if at[i-1] >= from {
			out = append(out, at[i]-at[i-1])
		}
	}
	return out
}

// contextUntil returns a context that ends at a time after midday, for a poller that the test runs itself, and joins the
// caller's goroutine to the clock until the returned function is called.
func contextUntil(r *rig, end time.Duration) (context.Context, context.CancelFunc) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	own, stopper := r.clock.Join(), r.clock.Join()
	var done sync.WaitGroup
	done.Go(func() {
		defer stopper()
		_ = r.clock.Wait(ctx, midday().Add(end), nil)
		cancel()
	})
	return ctx, func() {
		cancel()
		own()
		done.Wait()
	}
}

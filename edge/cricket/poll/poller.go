package poll

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
)

// The intervals of the poller.
const (
	liveEvery   = 2500 * time.Millisecond // a match is in play
	idleEvery   = 5 * time.Second         // none is
	stumpsEvery = time.Minute             // all have closed for the day
	syncEvery   = time.Minute             // fixtures ahead, and toss and line-ups of the next ones
	soon        = 45 * time.Minute        // before its start a match is registered
	syncBack    = 12 * time.Hour          // a late start is still looked for that long
	syncAhead   = 24 * time.Hour
)

// Feed is what the poller asks of the feed.
type Feed interface {
	// Livescores reads all matches in play; Unchanged says that the answer is the one before.
	Livescores(ctx context.Context, balls bool) (sportmonks.Reading, error)
	// Fixture reads one match, in play or not.
	Fixture(ctx context.Context, id string, balls bool) (sportmonks.Reading, error)
	// LoadScores reads the catalogue of what a ball can be, for balls that come with its number alone.
	LoadScores(ctx context.Context) error
	// Fixtures lists the matches that start in a span of time.
	Fixtures(ctx context.Context, from, to time.Time) ([]cricket.Snapshot, error)
}

// Lease is the right to write what a lock guards.
type Lease interface {
	// Fence grows with every holder; it goes into everything written.
	Fence() int64
	// Deadline is when the lease ends unless it is renewed, in real time.
	Deadline() time.Time
	// Context ends when the lease does.
	Context(parent context.Context) (context.Context, context.CancelFunc)
	// RaiseFence sets the fence above one that refused a write, if the lock is still this node's.
	RaiseFence(ctx context.Context, above int64) error
	// Release gives the lock back at once.
	Release(ctx context.Context) error
}

// Leases are the locks of the fleet.
type Leases interface {
	// Hold takes the lock, or gives the lease of it that this node has; nil while another node holds it.
	Hold(ctx context.Context, key string) (Lease, error)
}

// Matches is the domain behind the poller: *cricket.Service.
type Matches interface {
	// Tick takes a reading into its match under the owner's fence; *cricket.DeposedError where the match has a higher.
	Tick(ctx context.Context, s *cricket.Snapshot, by cricket.Owner) (cricket.State, error)
	// Touch notes that a match is watched although nothing changed.
	Touch(ctx context.Context, id string, by cricket.Owner) error
	// Active lists the matches that are registered and have not ended.
	Active(ctx context.Context) ([]cricket.State, error)
}

// Config is what a Poller is made of.
type Config struct {
	Node   string
	Feed   Feed
	Leases Leases
	Match  Matches
	Clock  clock.Clock
	Log    *slog.Logger
}

// Poller polls the feed and takes each reading into its match.
type Poller struct {
	Config

	watched map[string]*watch // matches that have not ended
	ended   map[string]bool

	scored   bool              // the catalogue of scores has been read
	reported map[string]string // unit of work to its error that was logged last

	mu     sync.Mutex
	status Status
}

// watch is a match that this node looks after.
type watch struct {
	id      string
	state   cricket.State
	lease   Lease
	owed    bool      // the newest reading has not been taken in
	touched time.Time // last write or touch
	absent  int       // readings in a row that did not have it
	asked   time.Time // last reading of its own
	final   int       // readings of its own since the result
}

// New makes a poller.
func New(c Config) *Poller {
	return &Poller{Config: c, watched: map[string]*watch{}, ended: map[string]bool{}, reported: map[string]string{}}
}

// Run polls until ctx ends. The caller has joined the clock for it.
func (p *Poller) Run(ctx context.Context) error {
	if err := p.recover(ctx); err != nil {
		return err
	}
	defer p.forget()
	now := p.Clock.Now()
	nextPoll, nextSync := now, now
	for {
		if !now.Before(nextSync) {
			p.report(ctx, "sync", p.sync(ctx, now))
			nextSync = later(nextSync.Add(syncEvery), now)
		}
		if !now.Before(nextPoll) {
			p.report(ctx, "poll", p.poll(ctx, now))
			nextPoll = later(nextPoll.Add(p.interval()), now)
		}
		if err := p.Clock.Wait(ctx, earlier(nextPoll, nextSync), nil); err != nil {
			return nil
		}
		now = p.Clock.Now()
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// recover takes up the matches of an earlier life of this node, or of another.
func (p *Poller) recover(ctx context.Context) error {
	active, err := p.Match.Active(ctx)
	if err != nil {
		return err
	}
	for _, st := range active {
		p.watched[st.MatchID] = &watch{id: st.MatchID, state: st}
	}
	return nil
}

// interval is how long the next poll may wait.
func (p *Poller) interval() time.Duration {
	stumps := len(p.watched) > 0
	for _, w := range p.watched {
		switch w.state.MatchPhase {
		case cricket.PhaseStumps:
		case cricket.PhaseLive:
			return liveEvery
		default:
			stumps = false
		}
		if len(w.state.Pending) > 0 {
			return liveEvery
		}
	}
	if stumps {
		return stumpsEvery
	}
	return idleEvery
}

// poll reads the live matches, and those it misses one by one.
func (p *Poller) poll(ctx context.Context, now time.Time) error {
	lease, err := p.Leases.Hold(ctx, cricket.FeedLock)
	if err != nil || lease == nil {
		return err
	}
	ctx, cancel := lease.Context(ctx)
	defer cancel()
	r, err := p.Feed.Livescores(ctx, true)
	p.note(now, r, err)
	if err != nil {
		return err
	}
	for _, w := range p.watched {
		w.absent++
	}
	var errs []error
	for i := range r.Snapshots {
		s := &r.Snapshots[i]
		if p.ended[s.MatchID] {
			continue
		}
		w := p.watchOf(s.MatchID)
		w.absent = 0
		errs = append(errs, p.take(ctx, w, skewed(s, r), r.Unchanged, now))
	}
	for _, w := range p.watched {
		if w.absent >= absentPolls && w.state.Status == cricket.ActiveLive {
			errs = append(errs, p.follow(ctx, w, now))
		}
	}
	return errors.Join(errs...)
}

// skewed gives a match of a reading with the clock of its feed. Readings are shared and stay as they are.
func skewed(s *cricket.Snapshot, r sportmonks.Reading) *cricket.Snapshot {
	own := *s
	own.Skew = r.Skew
	return &own
}

func (p *Poller) watchOf(id string) *watch {
	w := p.watched[id]
	if w == nil {
		w = &watch{id: id}
		p.watched[id] = w
	}
	return w
}

// take takes a reading into its match, if this node holds the match's lease.
func (p *Poller) take(ctx context.Context, w *watch, s *cricket.Snapshot, unchanged bool, now time.Time) error {
	w.owed = w.owed || !unchanged
	lease, err := p.Leases.Hold(ctx, cricket.MatchLock(w.id))
	if err != nil {
		return err
	}
	w.lease = lease
	if lease == nil {
		w.owed = true // an observer: the holder writes
		return nil
	}
	held, cancel := lease.Context(ctx)
	defer cancel()
	by := cricket.Owner{Node: p.Node, Fence: lease.Fence()}
	if !w.owed && w.state.Quiet() {
		if now.Sub(w.touched) < cricket.TouchEvery {
			return nil
		}
		w.touched = now
		return p.Match.Touch(held, w.id, by)
	}
	st, err := p.Match.Tick(held, s, by)
	if deposed, ok := errors.AsType[*cricket.DeposedError](err); ok {
		// A record of the lock that was deleted by hand begins below the fence of the match. Whoever still holds the
		// lock raises it and goes on; who does not has lost the lease by asking.
		if err := lease.RaiseFence(held, deposed.Fence); err != nil {
			return err
		}
		by.Fence = lease.Fence()
		st, err = p.Match.Tick(held, s, by)
	}
	if err != nil {
		return err
	}
	w.state, w.touched, w.owed = st, now, false
	if st.Status == cricket.ActiveEnded {
		p.end(ctx, w)
	}
	return nil
}

// end lets a match go.
func (p *Poller) end(ctx context.Context, w *watch) {
	p.ended[w.id] = true
	delete(p.watched, w.id)
	if w.lease != nil {
		p.report(ctx, "release", w.lease.Release(ctx))
	}
}

// forget has the status say that nothing is watched any more. The leases go back when their manager ends.
func (p *Poller) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Matches = nil
}

// report logs the error of a unit of work; the next poll tries again. The same error again is not news: a full disk
// would else be filled by its log.
func (p *Poller) report(ctx context.Context, what string, err error) {
	last := p.reported[what]
	switch {
	case ctx.Err() != nil:
	case err == nil && last != "":
		delete(p.reported, what)
		p.Log.Info("cricket " + what + " works again")
	case err != nil && err.Error() != last:
		p.reported[what] = err.Error()
		p.Log.Error("cricket "+what, "err", err)
	}
}

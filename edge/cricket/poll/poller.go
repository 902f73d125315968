package poll

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
)

// Feed is the part of the feed about matches.
type Feed interface {
	// Livescores reads all matches in play. Reading.Unchanged reports that the answer equals the previous one.
	Livescores(ctx context.Context, balls bool) (sportmonks.Reading, error)
	// Fixture reads one match, in play or not.
	Fixture(ctx context.Context, id string, balls bool) (sportmonks.Reading, error)
	// LoadScores reads the catalogue of scores, for balls that only have a score's number.
	LoadScores(ctx context.Context) error
	// Fixtures lists the matches that start between from and to.
	Fixtures(ctx context.Context, from, to time.Time) ([]cricket.Snapshot, error)
}

// Reference is the part of the feed about leagues and teams.
type Reference interface {
	// Leagues lists the leagues, without the settings of admins.
	Leagues(ctx context.Context) ([]reference.LeagueRecord, error)
	// Seasons lists the seasons of all leagues.
	Seasons(ctx context.Context) ([]reference.SeasonRecord, error)
	// Teams lists the teams.
	Teams(ctx context.Context) ([]reference.TeamRecord, error)
	// Squad returns the players of a team in a season; fault.NotFound if the feed has none.
	Squad(ctx context.Context, teamID, seasonID string) ([]reference.SquadPlayer, error)
}

// Budgets reports the limits and health of the feed's client.
type Budgets interface {
	// Budget returns an endpoint's budget for the running hour, with times of loops; zero for an endpoint that is not read.
	Budget(endpoint sportmonks.Endpoint) sportmonks.Budget
	// RestsUntil returns until when an endpoint is resting, by the time of loops; zero: it is not.
	RestsUntil(endpoint sportmonks.Endpoint) time.Time
	// Budgets returns the budgets of the running hour by endpoint.
	Budgets() map[sportmonks.Endpoint]sportmonks.Budget
	// Health returns which endpoints are resting, and why.
	Health() map[sportmonks.Endpoint]sportmonks.Health
}

// Lease is the right to write what a lock protects.
type Lease interface {
	// Fence grows with every holder, and is part of every write.
	Fence() int64
	// Deadline returns when the lease ends unless it is renewed, in real time.
	Deadline() time.Time
	// Context returns a context that ends with the lease.
	Context(parent context.Context) (context.Context, context.CancelFunc)
	// RaiseFence raises the fence above one that refused a write, if this node still holds the lock.
	RaiseFence(ctx context.Context, above int64) error
	// Release releases the lock at once.
	Release(ctx context.Context) error
}

// Leases are the locks of the fleet. Calls are never concurrent.
type Leases interface {
	// Hold takes the lock or returns this node's lease; nil while another node holds it.
	Hold(ctx context.Context, key string) (Lease, error)
	// Holder returns the node that holds the lock, as far as can be seen without taking it; "" if none does.
	Holder(ctx context.Context, key string) (node string, err error)
}

// Cloud is what the poller needs of the cloud besides locks; sync/replica implements it.
type Cloud interface {
	// Ensure fetches items that may exist only in the cloud into the store.
	Ensure(ctx context.Context, table string, keys ...attr.Item) error
}

// Matches is the domain behind the poller; *matches.Service implements it.
type Matches interface {
	// Tick applies a snapshot to its match under the owner's fence; *matches.FencedOffError if the match has a higher one.
	Tick(ctx context.Context, s *cricket.Snapshot, by matches.Owner) (cricket.State, error)
	// Touch records that a match is being polled although nothing changed.
	Touch(ctx context.Context, id string, by matches.Owner) error
	// Active lists the matches that are registered and have not ended.
	Active(ctx context.Context) ([]cricket.State, error)
	// Register makes a match one that is about to start, if it has no row or one that is idle or waits for another time.
	Register(ctx context.Context, id string, by matches.Owner) (st cricket.State, registered bool, err error)
	// CleanUp ends a match for good, with everything that belongs to it.
	CleanUp(ctx context.Context, id string, by matches.Owner) error
}

// AllLeagues in Config.Leagues stands for every league.
const AllLeagues = "*"

// Config configures a Poller.
type Config struct {
	Node   string
	Feed   Feed
	Leases Leases
	Match  Matches
	Data   *store.Store // reference tables, fixtures and cached replies
	Clock  clock.Clock
	Log    *slog.Logger

	Reference Reference // nil: leagues and teams are not synced
	// Readings is where leagues and teams that were read go, with the rules of their rows. Nil: it is the poller's own.
	Readings *reference.Readings
	// Whole reports whether sources of those rows have been read whole from the cloud, and has them read. Nil: they always are.
	Whole     func(sources []derived.Source) (bool, error)
	Budgets   Budgets // nil: calls are not limited
	OwnBudget bool    // the feed's token is used by this node only: otherwise calls are divided among the polling nodes
	Cloud     Cloud   // nil: everything is in the store
	Ahead     Leases  // for caching matches that are not polled, outside the live loop; nil: they are not cached
	// Observe lets the node continue for its own readers while the locks cannot be reached. Nil: it stops.
	Observe *matches.Service
	// Leagues are the codes of the leagues that are active when first seen; AllLeagues for every league. For a
	// league with a row in cricket-leagues the row decides.
	Leagues []string
	// Knows reports whether the feed has a match, if that is certain: an unknown match is ended at once. Nil for a
	// feed that may lack a match for a while.
	Knows func(id string) bool
}

// Poller polls the feed and applies its answers.
type Poller struct {
	Config
	live, reference []*job
	again           *clock.Signal // wakes the live loop: new fixtures or leagues
	synced          atomic.Bool   // set with it: run the orchestrator now
	woken           atomic.Bool   // set with it: read the live list now
	anew            *clock.Signal // wakes the reference loop
	stale           atomic.Bool   // set with it: sync everything now

	// Owned by the live loop.
	watched  map[string]*watch // matches that have not ended, and those with final reads to come
	ended    map[string]bool
	list     *reading // the last answer of the live list
	gens     map[string]int
	slot     slot
	assigned map[string]string    // match to the node that should poll it
	cached   map[string]cacheable // replies to be cached, by match
	swept    bool                 // leftovers of earlier runs have been cleaned up

	observing bool // the locks cannot be reached: nothing is written that other nodes read

	// Owned by the reference loop.
	squads []squad   // still to be read
	scored bool      // the catalogue of scores has been read
	wideAt time.Time // when the fixtures of the next weeks were last read

	holds chan struct{} // serializes calls of Leases: full during a call

	mu     sync.Mutex
	status Status
	jobs   map[string]JobStatus
	names  naming
	calls  map[sportmonks.Endpoint]time.Time
}

// New returns a Poller.
func New(c Config) *Poller {
	if c.Readings == nil {
		c.Readings = reference.NewReadings()
	}
	p := &Poller{
		Config: c, holds: make(chan struct{}, 1), again: clock.NewSignal(), anew: clock.NewSignal(),
		watched: map[string]*watch{}, ended: map[string]bool{}, gens: map[string]int{},
		jobs: map[string]JobStatus{}, cached: map[string]cacheable{},
		calls: map[sportmonks.Endpoint]time.Time{},
	}
	p.live = []*job{
		{name: "seat", due: each(slotEvery), run: p.slotted(p.giveAway), seeks: true},
		{name: "orchestrator", due: p.orchestrateDue, run: p.slotted(p.orchestrate), seeks: true, eager: true},
		{name: "marquee", due: p.marqueeDue, run: p.slotted(p.marquee)},
		{name: "score", due: p.scoreDue, run: p.slotted(p.score), seeks: true},
		{name: "stand-in", due: p.aloneDue(p.isStandIn), run: p.slotted(p.readAlone(p.isStandIn))},
		{name: "prematch", due: p.aloneDue(isPrematch), run: p.slotted(p.readAlone(isPrematch))},
		{name: "reconcile", due: p.aloneDue(hasLeft), run: p.reconcile},
		{name: "cache", due: p.cacheDue, run: p.cache, seeks: true, eager: true},
		{name: "cleanup", due: p.cleanupDue, run: p.slotted(p.cleanup)},
	}
	p.reference = []*job{
		{name: "leagues", due: each(referenceEvery), run: p.exclusive(p.syncLeagues), rare: true},
		{name: "fixtures", due: p.fixturesDue, run: p.exclusive(p.syncFixtures)},
		{name: "scores", due: p.scoresDue, run: p.loadScores},
		{name: "teams", due: p.teamsDue, run: p.exclusive(p.syncTeams), rare: true},
	}
	if c.Reference == nil {
		p.reference = p.reference[1:3]
	}
	return p
}

// Run polls until ctx ends. The caller must have joined the clock.
func (p *Poller) Run(ctx context.Context) error {
	if err := p.recover(ctx); err != nil {
		return err
	}
	defer p.forget()
	var beside sync.WaitGroup
	leave := p.Clock.Join()
	beside.Go(func() {
		defer leave()
		p.loop(ctx, p.reference, p.anew, p.freshen, func(*job) bool { return true })
	})
	p.loop(ctx, p.live, p.again, p.publish, func(j *job) bool { return j.seeks || p.observing || p.slot.lease != nil })
	beside.Wait()
	return nil
}

// recover adopts the matches of earlier runs and of other nodes.
func (p *Poller) recover(ctx context.Context) error {
	if err := p.rename(ctx); err != nil {
		return err
	}
	return p.adopt(ctx)
}

// takeLock takes a lock; the lease is nil if another node holds it.
func (p *Poller) takeLock(ctx context.Context, key string) (Lease, error) {
	select {
	case p.holds <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.holds }()
	return p.Leases.Hold(ctx, key)
}

// holder returns the node that holds a lock.
func (p *Poller) holder(ctx context.Context, key string) (string, error) {
	select {
	case p.holds <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-p.holds }()
	return p.Leases.Holder(ctx, key)
}

// ensure fetches missing items that may exist only in the cloud.
func (p *Poller) ensure(ctx context.Context, table string, missing func(tx *store.Tx) ([]attr.Item, error)) error {
	if p.Cloud == nil {
		return nil
	}
	var keys []attr.Item
	err := p.Data.View(ctx, func(tx *store.Tx) (err error) {
		keys, err = missing(tx)
		return err
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	return p.Cloud.Ensure(ctx, table, keys...)
}

// CheckNow makes the poller check everything now, because the feed has other matches than before. It may be called concurrently.
func (p *Poller) CheckNow() {
	p.woken.Store(true)
	p.stale.Store(true)
	p.anew.Set()
	p.runOrchestrator()
}

// freshen restarts the reference jobs if the feed has changed.
func (p *Poller) freshen() {
	if !p.stale.Swap(false) {
		return
	}
	p.squads = nil
	for _, j := range p.reference {
		j.last, j.again = time.Time{}, time.Time{}
	}
}

// runOrchestrator makes the orchestrator run now.
func (p *Poller) runOrchestrator() {
	p.synced.Store(true)
	p.again.Set()
}

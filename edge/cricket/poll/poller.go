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
)

// Feed is what the poller asks of the feed about matches.
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

// Reference is what the poller asks of the feed about the rest.
type Reference interface {
	// Leagues lists the leagues, without what admins say of them.
	Leagues(ctx context.Context) ([]reference.LeagueRecord, error)
	// Seasons lists the seasons of all leagues.
	Seasons(ctx context.Context) ([]reference.SeasonRecord, error)
	// Teams lists the teams.
	Teams(ctx context.Context) ([]reference.TeamRecord, error)
	// Squad returns the players of a team in a season; fault.NotFound where the feed has none.
	Squad(ctx context.Context, teamID, seasonID string) ([]reference.SquadPlayer, error)
}

// Budgets is how the feed's client stands.
type Budgets interface {
	// Budget returns what is left of an endpoint's calls of the running hour; the zero value for one that is not read.
	Budget(endpoint sportmonks.Endpoint) sportmonks.Budget
	// RestsUntil returns until when an endpoint is left alone; zero: it is asked.
	RestsUntil(endpoint sportmonks.Endpoint) time.Time
	// Budgets returns what is left of the calls of the running hour, by endpoint.
	Budgets() map[sportmonks.Endpoint]sportmonks.Budget
	// Health returns which endpoints are left alone, and why.
	Health() map[sportmonks.Endpoint]sportmonks.Health
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

// Leases are the locks of the fleet. They are asked by one goroutine at a time.
type Leases interface {
	// Hold takes the lock, or gives the lease of it that this node has; nil while another node holds it.
	Hold(ctx context.Context, key string) (Lease, error)
	// Holder returns which node holds the lock, as far as that can be seen without taking it; "" if none does.
	Holder(ctx context.Context, key string) (node string, err error)
}

// Cloud is what the poller needs of the cloud besides the locks: sync/replica has it.
type Cloud interface {
	// Ensure reads items into the store that may be in the cloud alone.
	Ensure(ctx context.Context, table string, keys ...attr.Item) error
}

// Matches is the domain behind the poller: *matches.Service.
type Matches interface {
	// Tick takes a reading into its match under the owner's fence; *matches.FencedOffError where the match has a higher.
	Tick(ctx context.Context, s *cricket.Snapshot, by matches.Owner) (cricket.State, error)
	// Touch notes that a match is watched although nothing changed.
	Touch(ctx context.Context, id string, by matches.Owner) error
	// Active lists the matches that are registered and have not ended.
	Active(ctx context.Context) ([]cricket.State, error)
	// Register makes the row of a match that is about to start, if it has none.
	Register(ctx context.Context, id string, by matches.Owner) (registered bool, err error)
	// CleanUp ends a match for good, and what hangs on it.
	CleanUp(ctx context.Context, id string, by matches.Owner) error
}

// AllLeagues in Config.Leagues stands for every league.
const AllLeagues = "*"

// Config is what a Poller is made of.
type Config struct {
	Node   string
	Feed   Feed
	Leases Leases
	Match  Matches
	Data   *store.Store // of the reference tables, fixtures and cached replies
	Clock  clock.Clock
	Log    *slog.Logger

	Reference Reference // nil: leagues and teams are not synced
	Budgets   Budgets   // nil: calls cost nothing
	OwnBudget bool      // the feed's token is this node's alone: else its calls are divided among the nodes that poll
	Cloud     Cloud     // nil: what is not in the store is nowhere
	Ahead     Leases    // for rows of matches that nobody polls, which are written beside the live loop; nil: none are
	// Observe has the node go on reading for its own readers while the locks cannot be reached. Nil: it stops.
	Observe *matches.Service
	// Leagues are the codes of the leagues that are active from the first time the feed names them; AllLeagues for
	// every one. A league that has a row in cricket-leagues is active if the row says so.
	Leagues []string
	// Knows reports whether the feed has a match, where that can be told for certain: one that it has not is ended at
	// once. Nil for a feed that may have forgotten a match for a while.
	Knows func(id string) bool
}

// Poller asks the feed and takes its answers in.
type Poller struct {
	Config
	live, reference []*job
	again           *clock.Signal // wakes the live loop: there are new fixtures or leagues
	synced          atomic.Bool   // with it: the orchestrator is to look now
	woken           atomic.Bool   // with it: the live list is to be read now
	anew            *clock.Signal // wakes the reference loop
	stale           atomic.Bool   // with it: everything is to be synced now
	toCache         *clock.Signal

	// Of the live loop alone.
	watched  map[string]*watch // matches that have not ended, and those whose last reads are not done
	ended    map[string]bool
	list     *reading // the last answer of the live list
	gens     map[string]int
	slot     slot
	assigned map[string]string // which node is to look after each match
	swept    bool              // what an earlier life may have left has been cleaned up

	observing bool // the locks cannot be reached: nothing is written that others read

	// Of the reference loop alone.
	squads []reference.TeamSeasonRecord // still to be read
	scored bool                         // the catalogue of scores has been read
	wideAt time.Time                    // when fixtures of the next weeks were read last

	holds sync.Mutex // one Hold at a time

	mu     sync.Mutex
	status Status
	jobs   map[string]JobStatus
	names  naming
	cached map[string]cacheable // replies that are to be cached, by match
	calls  map[sportmonks.Endpoint]time.Time
}

// New makes a poller.
func New(c Config) *Poller {
	p := &Poller{
		Config: c, again: clock.NewSignal(), anew: clock.NewSignal(), toCache: clock.NewSignal(),
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

// Run polls until ctx ends. The caller has joined the clock for it.
func (p *Poller) Run(ctx context.Context) error {
	if err := p.recover(ctx); err != nil {
		return err
	}
	defer p.forget()
	var beside sync.WaitGroup
	for _, loop := range []func(context.Context){
		func(ctx context.Context) {
			p.loop(ctx, p.reference, p.anew, p.freshen, func(*job) bool { return true })
		},
		p.keepReplies,
	} {
		leave := p.Clock.Join()
		beside.Go(func() {
			defer leave()
			loop(ctx)
		})
	}
	p.loop(ctx, p.live, p.again, p.show, func(j *job) bool { return j.seeks || p.observing || p.slot.lease != nil })
	beside.Wait()
	return nil
}

// recover takes up the matches of an earlier life of this node, or of another.
func (p *Poller) recover(ctx context.Context) error {
	if err := p.rename(ctx); err != nil {
		return err
	}
	return p.adopt(ctx)
}

// hold takes a lock or tells that it is another's, by nil.
func (p *Poller) hold(ctx context.Context, key string) (Lease, error) {
	p.holds.Lock()
	defer p.holds.Unlock()
	return p.Leases.Hold(ctx, key)
}

// holder returns which node holds a lock.
func (p *Poller) holder(ctx context.Context, key string) (string, error) {
	p.holds.Lock()
	defer p.holds.Unlock()
	return p.Leases.Holder(ctx, key)
}

// ensure has items here that may be in the cloud alone.
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

// Wake has the poller look at everything now: the feed has other matches than a moment ago. It may be called by anyone
// at any time.
func (p *Poller) Wake() {
	p.woken.Store(true)
	p.stale.Store(true)
	p.anew.Set()
	p.look()
}

// freshen has the reference jobs begin anew where the feed has changed.
func (p *Poller) freshen() {
	if !p.stale.Swap(false) {
		return
	}
	p.squads = nil
	for _, j := range p.reference {
		j.last = time.Time{}
		j.done()
	}
}

// look has the orchestrator look now.
func (p *Poller) look() {
	p.synced.Store(true)
	p.again.Set()
}

package cricketapp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// replayRig plays one match: a node with an in-memory store, a stepped clock, a feed in this process, and a push service with phones.
type replayRig struct {
	*ReplayConfig
	match    *replay.Match
	id       string
	clock    *clock.Stepped
	store    *store.Store
	feed     *sportmonks.Client
	phones   *sandbox.Sandbox
	audience *audience
	pushes   *pushLedger
	words    toldWords

	node     *played
	halt     func() // stops the node's work
	failed   context.CancelCauseFunc
	restarts []time.Time // times of restarts to come
}

func newReplayRig(c *ReplayConfig, m *replay.Match) (*replayRig, error) {
	r := &replayRig{ReplayConfig: c, match: m, id: m.Info().ID, clock: clock.NewStepped(m.Start()), pushes: newPushLedger()}
	var err error
	if r.feed, err = r.newFeed(); err != nil {
		return nil, err
	}
	if r.store, err = store.OpenMemory(store.Options{Now: r.clock.Now, JournalBytes: demoJournal}); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(c.Faults, uint64(len(r.id))))
	span := m.End().Sub(m.Start())
	for range c.Restarts {
		r.restarts = append(r.restarts, m.Start().Add(time.Duration(random.Float64()*float64(span))))
	}
	slices.SortFunc(r.restarts, time.Time.Compare)
	return r, nil
}

// newFeed returns the client of a feed, with faults if configured.
func (r *replayRig) newFeed() (*sportmonks.Client, error) {
	random := rand.New(rand.NewPCG(r.Faults, 1)) // retry waits are the same in every run
	var mu sync.Mutex
	return readInside(replay.NewFeed(r.match, r.clock, demoToken, r.Faults), sportmonks.Config{
		Token: demoToken, Clock: r.clock, Logger: r.Log,
		Random: func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return random.Float64()
		},
	})
}

// play runs the match to its end and returns its report.
func (r *replayRig) play(asked context.Context) (report *ReplayReport, err error) {
	ctx, cancel := context.WithCancelCause(asked)
	defer cancel(nil)
	r.failed = cancel
	var end func() error // ends the push service, which outlives the node
	if r.phones, end, err = sandbox.Start(sandbox.Config{Clock: r.clock, Seed: r.id, LogSize: ledgerSize, Logger: r.Log}); err != nil {
		return nil, errors.Join(err, r.store.Close())
	}
	defer func() { err = errors.Join(err, end(), r.store.Close()) }()
	r.audience = &audience{store: r.store, phones: r.phones, match: r.id, service: func() *matches.Service { return r.node.cricket }}
	if err := r.audience.switchOn(replayPhones(r.Phones)); err != nil {
		return nil, err
	}
	leave := r.clock.Join()
	defer leave()
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	err = r.watch(ctx)
	r.halt()
	if err != nil {
		return nil, errors.Join(cmp.Or(asked.Err(), context.Cause(ctx), err), r.node.Close())
	}
	report, err = r.report(ctx)
	return report, errors.Join(err, r.node.Close())
}

func replayPhones(n int) []sandbox.Phone {
	var out []sandbox.Phone
	for i := range n {
		name := fmt.Sprintf("phone-%d", i+1)
		out = append(out, sandbox.Phone{Name: name, Model: "iPhone 16", UserID: "user-" + name, DeviceID: name})
	}
	return out
}

// start builds the node from the store and starts it.
func (r *replayRig) start(ctx context.Context) error {
	var feed poll.Feed = r.feed
	if r.NoBalls {
		feed = withoutBalls{r.feed}
	}
	var err error
	r.node, err = openPlayed(ctx, "", node.Parts{Clock: r.clock, Speed: "max", Log: r.Log, Store: r.store},
		&Settings{Mount: "/" + name, Leagues: []string{poll.AllLeagues}}, Outside{Feed: feed, Sender: toSandbox(r.phones, r.Log)})
	if err != nil {
		return err
	}
	r.halt = r.node.Begin(ctx, r.failed)
	return nil
}

// longestReplay is how long after the feed's last change a match may take to end.
const longestReplay = longAfter + time.Hour

// watch runs until the match is over and every phone has been notified. It records the pushes, and restarts the node when due.
func (r *replayRig) watch(ctx context.Context) error {
	return r.audience.attend(ctx, r.clock, func(over bool) (next time.Time, err error) {
		r.pushes.addPushes(r.phones)
		if err := r.words.readJournal(ctx, r.store); err != nil {
			return next, err
		}
		now := r.clock.Now()
		r.reportProgress(now)
		if over {
			return next, nil
		}
		if now.After(r.match.End().Add(longestReplay)) {
			return next, fault.New(fault.Unavailable, "match_lost", "the node never saw the end of the match")
		}
		return r.restartWhenDue(ctx, now)
	})
}

// reportProgress reports the progress of the match.
func (r *replayRig) reportProgress(now time.Time) {
	if r.Progress != nil {
		whole := r.match.End().Sub(r.match.Start())
		r.Progress(title(r.match.Info()), min(1, float64(now.Sub(r.match.Start()))/float64(whole)))
	}
}

// restartWhenDue discards poller, coordinator and service when due, and rebuilds them from the store. Time stands still
// meanwhile, because the caller has joined the clock. It returns the time of the next restart, zero if there is none.
func (r *replayRig) restartWhenDue(ctx context.Context, now time.Time) (next time.Time, err error) {
	if len(r.restarts) > 0 && !now.Before(r.restarts[0]) {
		r.restarts = r.restarts[1:]
		r.halt()
		if err := errors.Join(r.node.Close(), r.start(ctx)); err != nil {
			return next, err
		}
	}
	if len(r.restarts) > 0 {
		next = r.restarts[0]
	}
	return next, nil
}

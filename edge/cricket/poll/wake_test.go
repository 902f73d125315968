package poll_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// playing scripts a feed that lists match 7 in play until the given time, and does not know it from then on.
func (r *rig) playing(taken time.Duration) {
	at := midday().Add(taken)
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		if !now.Before(at) {
			return nil
		}
		return []cricket.Snapshot{match(7, 3, "1st Innings", int(now.Sub(midday())/time.Second))}
	}
	r.config.Knows = func(string) bool { return r.clock.Now().Before(at) }
}

// during returns a function that runs a poller until a time after midday, and calls f once, at from.
func (r *rig) during(from time.Duration, f func(p *poll.Poller)) (until func(time.Duration)) {
	r.t.Helper()
	p := poll.New(r.config)
	return func(end time.Duration) {
		r.t.Helper()
		ctx, stop := contextUntil(r, end)
		defer stop()
		leave := r.clock.Join()
		go func() {
			defer leave()
			if r.clock.Wait(ctx, midday().Add(from), nil) == nil {
				f(p)
			}
		}()
		if err := p.Run(ctx); err != nil {
			r.t.Error(err)
		}
	}
}

// expectGone fails the test unless the match is over everywhere.
func (r *rig) expectGone() {
	r.t.Helper()
	st, found := r.state("7")
	if !found || st.Status != cricket.ActiveEnded {
		r.t.Errorf("the match is %q", st.Status)
	}
	if n := r.followers(); n != 0 {
		r.t.Errorf("%d followers", n)
	}
	r.do(func(tx *store.Tx) error {
		f, err := matches.Fixtures{}.Get(tx, "7")
		if f.Phase != cricket.PhaseNoNews || f.ArchivedAt.IsZero() || !f.LiveUpdatedAt.IsZero() {
			r.t.Errorf("the fixture: %+v", f)
		}
		return err
	})
	d, err := r.service.Display(r.t.Context(), "7")
	if err != nil || d.Phase != cricket.PhaseNoNews || d.Status != "No more news" || d.Equation != "" {
		r.t.Errorf("the display: %+v, %v", d, err)
	}
	if asked := r.feed.asked("fixture 7"); len(asked) > 0 {
		r.t.Errorf("a match that is known to be gone was requested: %v", asked)
	}
}

// If a feed that knows its matches removes one, it is over at once, for followers, lists and displays.
func TestTakenAway(t *testing.T) {
	r := newRig(t)
	r.playing(5 * time.Minute)
	r.follow(3)
	r.during(5*time.Minute, (*poll.Poller).CheckNow)(5*time.Minute + time.Second)
	r.expectGone()
}

// The same for a match removed while the node was down, and for one that was not registered yet.
func TestTakenAwayMeanwhile(t *testing.T) {
	r := newRig(t)
	r.playing(5 * time.Minute)
	r.follow(3)
	r.run(4 * time.Minute)
	next := r.config
	r.run(6*time.Minute+time.Second, life{config: next, from: 6 * time.Minute})
	r.expectGone()

	r = newRig(t)
	r.config.Knows = func(string) bool { return false }
	s := scheduled(7, 3, time.Minute)
	r.do(func(tx *store.Tx) error { _, err := matches.Fixtures{}.Sync(tx, &s); return err })
	r.run(time.Second)
	r.do(func(tx *store.Tx) error {
		f, err := matches.Fixtures{}.Get(tx, "7")
		if f.Phase != cricket.PhaseNoNews || f.ArchivedAt.IsZero() {
			t.Errorf("the fixture: %+v", f)
		}
		return err
	})
	if _, found := r.state("7"); found {
		t.Error("it was registered")
	}
}

// A match that the feed no longer knows is not an error of a job, and is not requested once it has ended.
func TestUnknownMatchIsNoError(t *testing.T) {
	r := newRig(t)
	r.playing(5 * time.Minute)
	r.config.Knows = nil
	r.feed.fixture = func(string, time.Time) (cricket.Snapshot, error) {
		return cricket.Snapshot{}, fault.New(fault.NotFound, "gone", "gone")
	}
	p := r.run(50 * time.Minute)[0]
	for _, j := range p.Status().Jobs {
		if j.Failed > 0 {
			t.Errorf("%s failed %d times: %s", j.Name, j.Failed, j.LastError)
		}
	}
	st, _ := r.state("7")
	asked := r.feed.asked("fixture 7")
	if last := asked[len(asked)-1]; st.Status != cricket.ActiveEnded || last > 37*time.Minute {
		t.Errorf("%s, last requested at %s", st.Status, last)
	}
}

// CheckNow, called after a change of the feed, makes the poller read the list, fixtures, leagues and teams at once.
func TestWake(t *testing.T) {
	r := newRig(t)
	r.config.Reference = r.feed
	begun := midday().Add(100 * time.Second)
	r.feed.fixtures = func(now time.Time) []cricket.Snapshot {
		if now.Before(begun) {
			return nil
		}
		return []cricket.Snapshot{scheduled(7, 3, 101*time.Second)}
	}
	r.feed.fixture = func(string, time.Time) (cricket.Snapshot, error) { return scheduled(7, 3, 101*time.Second), nil }
	r.during(100*time.Second, (*poll.Poller).CheckNow)(101 * time.Second)
	for _, what := range []string{"list", "fixtures", "leagues", "teams", "fixture 7"} {
		soon := 0
		for _, call := range r.feed.calls {
			if strings.HasPrefix(call.what, what) && !call.at.Before(begun) && call.at.Before(begun.Add(600*time.Millisecond)) {
				soon++
			}
		}
		if soon == 0 {
			t.Errorf("%s was not requested: %v", what, r.feed.calls)
		}
	}
	if st, _ := r.state("7"); st.Status != cricket.ActiveIdle {
		t.Errorf("the match is %q", st.Status)
	}
}

package poll_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
)

// second returns the configuration of another node of the same fleet.
func (r *rig) second() poll.Config {
	c := r.config
	c.Node, c.Leases = "b", r.locks.of("b")
	return c
}

func (r *rig) inPlay() {
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		return []cricket.Snapshot{match(1, 3, "1st Innings", int(now.Sub(midday())/time.Second))}
	}
}

// When a node dies, the other takes its match over: after its lease has expired and its tick has stood still for 20 s.
func TestTakeover(t *testing.T) {
	r := newRig(t)
	r.inPlay()
	died := 5 * time.Minute
	all := r.run(15*time.Minute, life{config: r.config, until: died}, life{config: r.second(), from: 10 * time.Second})
	at, by := r.ticks.at["1"], r.ticks.by["1"]
	first := slices.Index(by, "b")
	if first < 1 || slices.Contains(by[first:], "a") {
		t.Fatalf("ticked by %v", by)
	}
	if at[first-1] < died-10*time.Second {
		t.Errorf("the first node ticked last at %s", at[first-1])
	}
	// The lease lasts 90 s from its last renewal; the orchestrator runs every 30 s.
	if silence := at[first] - at[first-1]; silence < 20*time.Second || silence > 2*time.Minute+5*time.Second {
		t.Errorf("taken over after %s", silence)
	}
	if n := all[1].Status().Takeovers; n != 1 {
		t.Errorf("%d takeovers counted", n)
	}
	st, _ := r.state("1")
	if st.InstanceID != "b" || st.Status != cricket.ActiveLive {
		t.Errorf("the match is %s, ticked by %s", st.Status, st.InstanceID)
	}
}

// A match whose lock is free is not taken over while its row is fresh.
func TestNoTakeoverOfFreshRows(t *testing.T) {
	r := newRig(t)
	r.inPlay()
	r.run(time.Minute + time.Second) // node a ends between two ticks: one that is cut off would be counted, but not written
	lease, err := r.locks.of("a").Hold(t.Context(), tables.MatchLock("1"))
	if err != nil {
		t.Fatal(err)
	}
	feed, err := r.locks.of("a").Hold(t.Context(), tables.FeedLock)
	if err != nil {
		t.Fatal(err)
	}
	_ = lease.Release(t.Context())
	_ = feed.Release(t.Context())
	r.run(3*time.Minute, life{config: r.second()})
	first := slices.Index(r.ticks.by["1"], "b")
	if first < 1 {
		t.Fatalf("ticked by %v", r.ticks.by["1"])
	}
	if silence := r.ticks.at["1"][first] - r.ticks.at["1"][first-1]; silence < 20*time.Second {
		t.Errorf("taken over after %s", silence)
	}
}

// A node that loses its slot releases its matches, so that others can take them.
func TestStandByReleasesMatches(t *testing.T) {
	r := newRig(t)
	r.inPlay()
	taken := false
	r.ticks.fail = func(_ string, now time.Time) error {
		if now.Sub(midday()) >= time.Minute && !taken { // in the middle of a tick other nodes take all slots
			taken = true
			r.locks.mu.Lock() // another loop of the poller may call Hold right now
			defer r.locks.mu.Unlock()
			for no := range 8 {
				key := tables.FeedSlot(no)
				r.locks.held[key] = &fleetLease{
					locks: r.locks, key: key, node: fmt.Sprint("c", no), fence: 9, until: midday().Add(time.Hour),
				}
			}
		}
		return nil
	}
	p := r.run(2 * time.Minute)[0]
	if got := r.locks.holder(tables.MatchLock("1")); got != "" {
		t.Errorf("the match's lock is still held by %q", got)
	}
	at := r.ticks.at["1"]
	if last := at[len(at)-1]; last > time.Minute+5*time.Second {
		t.Errorf("ticked at %s", last)
	}
	if n := len(r.feed.asked("list with balls")); n > 30 {
		t.Errorf("the list was read without a slot, %d times in all", n)
	}
	if p.Status().Leading {
		t.Error("the status says that the node leads")
	}
}

// Two nodes die and come back at random. The match is ticked by one of them at a time, until its end.
func TestNodesComeAndGo(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := newRig(t)
		r.finishing()
		rng := rand.New(rand.NewPCG(seed, 7))
		var lives []life
		for i, c := range []poll.Config{r.config, r.second()} {
			at := time.Duration(i) * time.Second
			for at < 90*time.Minute {
				end := at + time.Duration(1+rng.IntN(12))*time.Minute
				lives = append(lives, life{config: c, from: at, until: end})
				at = end + time.Duration(1+rng.IntN(240))*time.Second
			}
			lives = append(lives, life{config: c, from: at})
		}
		r.run(2*time.Hour, lives...)
		st, _ := r.state("7")
		if st.Status != cricket.ActiveEnded || st.Result != "Pakistan won by 10 runs" {
			t.Errorf("seed %d: %s, %q", seed, st.Status, st.Result)
		}
		at, by := r.ticks.at["7"], r.ticks.by["7"]
		if !slices.IsSorted(at) {
			t.Errorf("seed %d: ticks out of order", seed)
		}
		for i := 1; i < len(at); i++ {
			if by[i] != by[i-1] && at[i]-at[i-1] < 30*time.Second {
				t.Errorf("seed %d: %s ticked %s after %s", seed, by[i], at[i]-at[i-1], by[i-1])
			}
		}
		r.store.Close()
	}
}

// A job's errors are counted and shown in the status, until the job succeeds again.
func TestStatusOfJobs(t *testing.T) {
	r := newRig(t)
	r.inPlay()
	r.feed.listErr = func(now time.Time) error {
		if d := now.Sub(midday()); d > time.Minute && d < 140*time.Second {
			return errors.New("the feed is down")
		}
		return nil
	}
	r.config.Budgets = r.feed
	var during, after poll.Status
	p := poll.New(r.config)
	r.ticks.fail = func(_ string, now time.Time) error {
		if d := now.Sub(midday()); d > 3*time.Minute && after.Polls == 0 {
			after = p.Status()
		}
		return nil
	}
	r.feed.fixtures = func(now time.Time) []cricket.Snapshot {
		if d := now.Sub(midday()); d == 2*time.Minute {
			during = p.Status()
		}
		return nil
	}
	ctx, cancel := contextUntil(r, 4*time.Minute)
	defer cancel()
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
	job := func(s poll.Status, name string) (out poll.JobStatus) {
		for _, j := range s.Jobs {
			if j.Name == name {
				out = j
			}
		}
		return out
	}
	if j := job(during, "marquee"); j.LastError != "the feed is down" || j.Failed < 20 || during.LastError == "" {
		t.Errorf("during the outage: %+v, %q", j, during.LastError)
	}
	if j := job(after, "marquee"); j.LastError != "" || j.Runs < 60 || j.LastRun.IsZero() || j.NextRun.IsZero() {
		t.Errorf("after the outage: %+v", j)
	}
	want := []poll.Held{{
		MatchID: "1", Fence: 1, Owner: "a", Status: "live", Phase: cricket.PhaseLive, Listed: true, Closely: true,
		From: sportmonks.Livescores, Next: job(after, "marquee").NextRun,
		LastTickAt: after.Matches[0].LastTickAt, SilentSince: after.Matches[0].SilentSince, Deadline: after.Matches[0].Deadline,
	}}
	if diff := cmp.Diff(want, after.Matches); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
	if age := midday().Add(3 * time.Minute).Sub(after.Matches[0].LastTickAt); age > 15*time.Second {
		t.Errorf("ticked %s ago", age)
	}
	if after.Polls < 70 || after.Failed < 20 || !after.Leading {
		t.Errorf("after the outage: %+v", after)
	}
}

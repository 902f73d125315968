package poll_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
)

func (r *rig) node(name string) poll.Config {
	c := r.config
	c.Node, c.Leases, c.Feed = name, r.locks.of(name), &nodeFeed{script: r.feed}
	return c
}

// nodeFeed is the feed as seen by one node's client: Unchanged refers to that node's last answer.
type nodeFeed struct {
	*script
	last string
}

func (f *nodeFeed) Livescores(ctx context.Context, balls bool) (sportmonks.Reading, error) {
	r, err := f.script.Livescores(ctx, balls)
	body := fmt.Sprint(balls)
	for i := range r.Snapshots {
		body += string(r.Snapshots[i].Raw)
	}
	r.Unchanged, f.last = body == f.last, body
	return r, err
}

// slate scripts a list of n matches in play, each with a new score every ten seconds.
func (r *rig) slate(n int) {
	r.feed.list = func(now time.Time) (all []cricket.Snapshot) {
		for i := range n {
			all = append(all, match(100+i, 3, "1st Innings", int(now.Sub(midday())/(10*time.Second))))
		}
		return all
	}
}

// ticked counts the matches that each node ticked within a span since midday.
func (r *rig) ticked(from, to time.Duration) map[string]int {
	out := map[string]int{}
	for _, id := range sortedKeys(r.ticks.at) {
		seen := map[string]bool{}
		for i, at := range r.ticks.at[id] {
			if by := r.ticks.by[id][i]; at >= from && at <= to && !seen[by] {
				seen[by] = true
				out[by]++
			}
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Three nodes share the matches evenly, although one was first and took them all; then no match moves. When one dies, the
// others take its matches over soon after its leases have expired.
func TestMatchesAreShared(t *testing.T) {
	n := slateSize()
	r := newRig(t)
	r.slate(n)
	died := 10 * time.Minute
	all := r.run(20*time.Minute, life{config: r.node("a")},
		life{config: r.node("b"), from: 2 * time.Minute}, life{config: r.node("c"), from: 2 * time.Minute, until: died})
	if got := r.ticked(time.Minute, 2*time.Minute-time.Second); got["a"] != n {
		t.Errorf("alone: %v", got)
	}
	for _, span := range [][2]time.Duration{{5 * time.Minute, 7 * time.Minute}, {7 * time.Minute, died - time.Second}} {
		if got := r.ticked(span[0], span[1]); got["a"] != n/3 || got["b"] != n/3 || got["c"] != n/3 {
			t.Errorf("from %s to %s: %v", span[0], span[1], got)
		}
	}
	if got := r.ticked(15*time.Minute, 20*time.Minute); got["a"] != n/2 || got["b"] != n/2 || len(got) != 2 {
		t.Errorf("after one has died: %v", got)
	}
	r.handedOver(died)
	if st := all[0].Status(); st.GivenAway < int64(n*2/3) || st.Takeovers == 0 {
		t.Errorf("status %+v", st)
	}
}

// slateSize returns how many matches the nodes share: 30, or 6 with -short.
func slateSize() int {
	if testing.Short() {
		return 6
	}
	return 30
}

// handedOver checks that every match was ticked without long gaps, by whichever node, and moved at most twice.
func (r *rig) handedOver(died time.Duration) {
	r.t.Helper()
	for _, id := range sortedKeys(r.ticks.at) {
		at, by := r.ticks.at[id], r.ticks.by[id]
		changes := 0
		for i := 1; i < len(at); i++ {
			gap, most := at[i]-at[i-1], 20*time.Second
			if by[i] != by[i-1] {
				changes++
				if at[i] > died {
					most = 90*time.Second + 45*time.Second // the term of the rig's locks
				}
			}
			if gap > most {
				r.t.Errorf("match %s: %s between %s by %s and %s by %s", id, gap, at[i-1], by[i-1], at[i], by[i])
			}
		}
		if changes > 2 {
			r.t.Errorf("match %s changed hands %d times: %v", id, changes, slices.Compact(by))
		}
	}
}

// Two nodes join shortly after each other, so that matches may move first to one and then on to the other. No match is without
// a node for long, and the shares become even.
func TestTwoNodesJoin(t *testing.T) {
	n := slateSize()
	all := []time.Duration{200 * time.Millisecond, 7 * time.Second, 2 * time.Second, 4900 * time.Millisecond}
	if testing.Short() {
		all = all[:2]
	}
	for _, later := range all {
		r := newRig(t)
		r.slate(n)
		first, end := 2*time.Minute-100*time.Millisecond, 4*time.Minute
		r.run(end, life{config: r.node("a")}, life{config: r.node("b"), from: first}, life{config: r.node("c"), from: first + later})
		r.handedOver(end)
		if got := r.ticked(3*time.Minute, end); got["a"] != n/3 || got["b"] != n/3 || got["c"] != n/3 {
			t.Errorf("%s later: %v", later, got)
		}
	}
}

// A fence is raised after the cloud refused a write under the lower one. The feed's next answer is then written even if it has
// nothing new.
func TestRewrittenUnderARaisedFence(t *testing.T) {
	r := newRig(t)
	r.feed.list = func(time.Time) []cricket.Snapshot { return []cricket.Snapshot{match(100, 3, "1st Innings", 7)} }
	raised := 2 * time.Minute
	r.meanwhile = func() {
		_ = r.clock.Wait(t.Context(), midday().Add(raised+time.Millisecond), nil)
		r.locks.mu.Lock()
		defer r.locks.mu.Unlock()
		r.locks.held[tables.MatchLock("100")].fence = 50
	}
	r.run(3 * time.Minute)
	var after []time.Duration
	for _, at := range r.ticks.at["100"] {
		if at > raised {
			after = append(after, at)
		}
	}
	if len(after) != 1 || after[0] > raised+time.Minute {
		t.Errorf("ticked at %v", after)
	}
}

// Nodes that start together with a full list share the matches evenly within two minutes.
func TestColdStartTogether(t *testing.T) {
	n := slateSize()
	r := newRig(t)
	r.slate(n)
	r.run(4*time.Minute, life{config: r.node("a")}, life{config: r.node("b"), from: time.Second}, life{config: r.node("c"), from: time.Second})
	if got := r.ticked(2*time.Minute, 4*time.Minute); got["a"] != n/3 || got["b"] != n/3 || got["c"] != n/3 {
		t.Errorf("ticked %v", got)
	}
}

// The feed's budget is per token: the calls of several nodes together stay within it, and each match is ticked often enough.
// With -short the window has 20 minutes and a third of the calls.
func TestNodesShareTheBudget(t *testing.T) {
	r := newRig(t)
	matches, hour := 6, time.Hour
	if testing.Short() {
		matches, hour = 3, 20*time.Minute
	}
	r.slate(matches)
	end := hour - time.Second
	most := int(hour / (2 * time.Second))
	limited := func(name string) poll.Config {
		c := r.node(name)
		c.Budgets = limitedTo{r, most, hour}
		return c
	}
	r.run(end, life{config: limited("a")}, life{config: limited("b"), from: time.Second}, life{config: limited("c"), from: time.Second})
	asked := len(r.feed.asked("list")) + len(r.feed.asked("list with balls"))
	if asked > most {
		t.Errorf("%d calls, %d are allowed", asked, most)
	}
	for id, at := range r.ticks.at {
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; at[i-1] > 5*time.Minute && gap > 21*time.Second { // the score changes every ten
				t.Errorf("match %s was without a tick from %s for %s", id, at[i-1], gap)
			}
		}
	}
}

// limitedTo is the budget that all nodes share until the server resets it: most calls, and a ninth of them as the reserve.
type limitedTo struct {
	r    *rig
	most int
	hour time.Duration
}

func (l limitedTo) Budgets() map[sportmonks.Endpoint]sportmonks.Budget {
	used := len(l.r.feed.asked("list")) + len(l.r.feed.asked("list with balls"))
	reserve := l.most / 9
	return map[sportmonks.Endpoint]sportmonks.Budget{sportmonks.Livescores: {
		Limit: l.most + reserve, Used: used, Remaining: l.most + reserve - used, Reserve: reserve, Reset: midday().Add(l.hour),
	}}
}

func (l limitedTo) Budget(e sportmonks.Endpoint) sportmonks.Budget { return l.Budgets()[e] }

func (l limitedTo) RestsUntil(sportmonks.Endpoint) time.Time { return time.Time{} }

func (l limitedTo) Health() map[sportmonks.Endpoint]sportmonks.Health { return nil }

// Each slot has one node. A node without a slot stands by and does not call the feed.
func TestStandBy(t *testing.T) {
	r := newRig(t)
	r.slate(3)
	for no := range 8 {
		if _, err := r.locks.of(fmt.Sprint("c", no)).Hold(t.Context(), tables.FeedSlot(no)); err != nil {
			t.Fatal(err)
		}
	}
	p := r.run(80 * time.Second)[0] // within the term of their leases
	if n := len(r.feed.asked("list")) + len(r.feed.asked("list with balls")); n != 0 || p.Status().Seat != 0 {
		t.Errorf("%d calls, seat %d", n, p.Status().Seat)
	}
}

// cutLocks are locks that cannot be reached for a while.
type cutLocks struct {
	poll.Leases
	r        *rig
	from, to time.Duration
}

var errCut = errors.New("the locks cannot be reached")

func (l cutLocks) Hold(ctx context.Context, key string) (poll.Lease, error) {
	if d := l.r.clock.Now().Sub(midday()); d >= l.from && d < l.to {
		return nil, errCut
	}
	return l.Leases.Hold(ctx, key)
}

// While the locks cannot be reached a strict node stops; an observing one continues for its own readers and
// writes nothing that other nodes read. Both continue normally afterwards.
func TestLocksAway(t *testing.T) {
	from, to := 2*time.Minute, 4*time.Minute
	for _, observe := range []bool{false, true} {
		r := newRig(t)
		r.slate(1)
		c := r.config
		c.Leases = cutLocks{r.config.Leases, r, from, to}
		if observe {
			c.Observe = r.service
		}
		var during cricket.Display
		var state cricket.State
		r.meanwhile = func() {
			_ = r.clock.Wait(t.Context(), midday().Add(to-time.Second), nil)
			during, _ = r.service.Display(t.Context(), "100")
			state, _, _ = r.service.State(t.Context(), "100")
		}
		p := r.run(6*time.Minute, life{config: c})[0]
		for _, at := range r.ticks.at["100"] {
			if at > from && at < to {
				t.Errorf("observe %t: ticked at %s", observe, at)
			}
		}
		if last := r.ticks.at["100"][len(r.ticks.at["100"])-1]; last < 5*time.Minute {
			t.Errorf("observe %t: not ticked after %s", observe, last)
		}
		runs, age := during.Teams[0].Runs, midday().Add(to-time.Second).Sub(state.LastTickAt)
		if observe != (runs >= 22) || age < to-from-10*time.Second {
			t.Errorf("observe %t: the display shows %d runs, the state is %s old", observe, runs, age)
		}
		if n := p.Status().Observed; (n > 0) != observe || p.Status().Observing {
			t.Errorf("observe %t: %d observed", observe, n)
		}
		if d, err := r.service.Display(t.Context(), "100"); err != nil || d.Teams[0].Runs < 35 {
			t.Errorf("observe %t: at the end %+v, %v", observe, d.Teams, err)
		}
	}
}

// A match that another node has ended stays ended, although the list still has it.
func TestEndedByAnotherNode(t *testing.T) {
	r := newRig(t)
	r.slate(1)
	r.run(time.Minute)
	r.do(func(tx *store.Tx) error { return nil })
	if err := r.service.CleanUp(t.Context(), "100", matches.Owner{Node: "a", Fence: 99}); err != nil {
		t.Fatal(err)
	}
	before := len(r.ticks.at["100"])
	r.run(5*time.Minute, life{config: r.second()})
	if n := len(r.ticks.at["100"]); n != before {
		t.Errorf("ticked %d times after its end", n-before)
	}
}

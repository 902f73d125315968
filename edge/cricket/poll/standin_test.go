package poll_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// restingList makes the live list rest for a while, as the feed's client does.
func restingList(r *rig, from, until time.Duration, state sportmonks.State) {
	end := midday().Add(until)
	r.config.Budgets = r.feed
	r.feed.health = func(now time.Time) map[sportmonks.Endpoint]sportmonks.Health {
		if now.Before(midday().Add(from)) || !now.Before(end) {
			return nil
		}
		return map[sportmonks.Endpoint]sportmonks.Health{sportmonks.Livescores: {State: state, Until: end}}
	}
	r.feed.listErr = func(now time.Time) error {
		if now.Before(midday().Add(from)) || !now.Before(end) {
			return nil
		}
		return &sportmonks.Error{Endpoint: sportmonks.Livescores, Until: end, Fault: fault.New(fault.Throttled, sportmonks.CodeThrottled, "429")}
	}
}

// While the live list is resting, its matches are requested singly, every ten seconds; afterwards the list is requested again.
func TestStandIn(t *testing.T) {
	for _, state := range []sportmonks.State{sportmonks.StateResting, sportmonks.StateOpen, sportmonks.StateRefused, sportmonks.StateBroke} {
		t.Run(string(state), func(t *testing.T) {
			r := newRig(t)
			const from, until = 2 * time.Minute, 7 * time.Minute
			play := func(id int) cricket.Snapshot {
				return match(id, 3, "1st Innings", int(r.clock.Now().Sub(midday())/time.Second))
			}
			r.feed.list = func(time.Time) []cricket.Snapshot { return []cricket.Snapshot{play(1), play(2)} }
			r.feed.fixture = func(id string, _ time.Time) (cricket.Snapshot, error) { return play(int(id[0] - '0')), nil }
			restingList(r, from, until, state)
			r.run(until + time.Minute)
			for _, at := range r.feed.asked("list with balls") {
				if at > from+marqueePace && at < until {
					t.Errorf("the list was requested at %v", at)
				}
			}
			for _, id := range []string{"1", "2"} {
				asked := r.feed.asked("fixture " + id)
				if len(asked) < 28 || len(asked) > 30 || asked[len(asked)-1] >= until {
					t.Errorf("match %s was read singly at %v", id, asked)
				}
				for _, gap := range gaps(r.ticks.at[id], time.Minute) {
					if gap > 15*time.Second {
						t.Errorf("match %s was not ticked for %v", id, gap)
					}
				}
			}
			if st, _ := r.state("1"); st.PreviousScore[0].Runs < 470 {
				t.Errorf("the list is not read again: %+v", st.PreviousScore)
			}
		})
	}
}

// A match that begins while the list is resting is found by its own record.
func TestStandInOfAMatchThatBegins(t *testing.T) {
	r := newRig(t)
	play := func(string, time.Time) (cricket.Snapshot, error) {
		s := match(1, 3, "NS", 0)
		if since := r.clock.Now().Sub(midday()); since >= 5*time.Minute {
			s = match(1, 3, "1st Innings", int(since/time.Second))
		}
		s.StartsAt = midday().Add(5 * time.Minute)
		return s, nil
	}
	r.feed.fixture = play
	r.feed.fixtures = func(now time.Time) []cricket.Snapshot {
		s, _ := play("1", now)
		return []cricket.Snapshot{s}
	}
	restingList(r, 0, time.Hour, sportmonks.StateResting)
	r.run(10 * time.Minute)
	if st, _ := r.state("1"); st.MatchPhase != cricket.PhaseLive || st.PreviousScore[0].Runs < 580 {
		t.Errorf("%+v", st)
	}
}

// The status shows from which endpoint a match is read, and when next.
func TestStatusOfAStandIn(t *testing.T) {
	r := newRig(t)
	r.feed.list = func(time.Time) []cricket.Snapshot { return []cricket.Snapshot{match(1, 3, "1st Innings", 30)} }
	r.feed.fixture = func(string, time.Time) (cricket.Snapshot, error) { return match(1, 3, "1st Innings", 30), nil }
	restingList(r, 2*time.Minute, 7*time.Minute, sportmonks.StateResting)
	p := poll.New(r.config)
	ctx, stop := contextUntil(r, 8*time.Minute)
	defer stop()
	seen := map[sportmonks.Endpoint]time.Duration{}
	r.meanwhile = nil
	watch := r.clock.Join()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer watch()
		for at := time.Minute; at < 8*time.Minute; at += time.Minute {
			if r.clock.Wait(ctx, midday().Add(at+time.Second), nil) != nil {
				return
			}
			for _, m := range p.Status().Matches {
				if wait := m.Next.Sub(r.clock.Now()); wait < 0 || wait > 10*time.Second {
					t.Errorf("at %v the next read is from %s in %v", at, m.From, wait)
				}
				seen[m.From] = at
			}
		}
	}()
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
	<-done
	if seen[sportmonks.Fixture] != 6*time.Minute || seen[sportmonks.Livescores] != 7*time.Minute {
		t.Errorf("last read from each endpoint: %v", seen)
	}
}

// After a 429 with nothing left and a Retry-After of 20 s, a match is read more slowly, but never unread for longer than the
// interval of single reads. The feed's own client takes part.
func TestThrottledFor20Seconds(t *testing.T) {
	n := newNode(t, "1343760")
	from := n.match.Start().Add(40 * time.Minute)
	until := from.Add(30 * time.Minute)
	var mu sync.Mutex
	var good []time.Time // answers about the match
	lists := 0
	n.feed = func(now clock.Clock, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			at := now.Now()
			list := strings.HasSuffix(req.URL.Path, "/livescores")
			mu.Lock()
			defer mu.Unlock()
			if list && !at.Before(from) {
				lists++
			}
			if list && lists == 1 {
				w.Header().Set("X-RateLimit-Limit", "2000")
				w.Header().Set("X-RateLimit-Remaining", "0")
				w.Header().Set("Retry-After", "20")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			if (list || strings.HasSuffix(req.URL.Path, "/1343760")) && !at.Before(from.Add(-time.Minute)) {
				good = append(good, at)
			}
			next.ServeHTTP(w, req)
		})
	}
	n.run(func(_ cricket.State, now time.Time) bool { return now.After(until) })
	mu.Lock()
	defer mu.Unlock()
	longest := time.Duration(0)
	for i := 1; i < len(good); i++ {
		longest = max(longest, good[i].Sub(good[i-1]))
	}
	if lists < 100 || longest > 15*time.Second {
		t.Errorf("the list was requested %d times from then on, and the match not read for %v", lists, longest)
	}
}

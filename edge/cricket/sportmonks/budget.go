package sportmonks

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// DefaultCallsPerHour is the feed's default plan per endpoint. Newer plans have 3,000.
const DefaultCallsPerHour = 2000

// window is the feed's accounting period. It starts with the first call and ends an hour later, whatever happens in between.
const window = time.Hour

// Budget is the state of an endpoint's calls in the current window.
type Budget struct {
	Limit     int       `json:"limit"`            // calls per window: from the feed, else as configured
	Used      int       `json:"used"`             // attempts sent, or more if the feed has counted more
	Remaining int       `json:"-"`                // Limit - Used, never below 0
	Reserve   int       `json:"reserve"`          // the last tenth, only for reads of a final state
	Reset     time.Time `json:"resetAt,omitzero"` // when the window ends; zero before its first call
	Next      time.Time `json:"-"`                // when an ordinary read is possible again; zero: now
	Known     bool      `json:"-"`                // Limit comes from the feed's own headers
	At        time.Time `json:"-"`                // when they were last seen, zero if never
}

type finalKey struct{}

// Final marks the reads of ctx as reads of a final state, which may use the budget's reserve: the end of a match
// must not be missed because the match was watched closely.
func Final(ctx context.Context) context.Context { return context.WithValue(ctx, finalKey{}, true) }

// IsFinal reports whether the reads of ctx are of a final state.
func IsFinal(ctx context.Context) bool {
	final, _ := ctx.Value(finalKey{}).(bool)
	return final
}

// budget counts the calls of one endpoint. The endpoint's mutex guards it.
type budget struct {
	limit int
	used  int
	reset time.Time // zero: no open window
	known bool
	told  int // calls used, as the feed last reported in this window
	at    time.Time

	guessed bool // the end of the feed's window is unknown (it began before ours, or is another): reset is the latest possible
	spent   time.Time
}

// probeEvery is how often a window with a guessed end is tried again.
const probeEvery = 5 * time.Minute

// reserve returns a tenth of the limit, rounded up. A limit of a few calls, used only in tests, has none.
func (b *budget) reserve() int {
	if b.limit < 10 {
		return 0
	}
	return (b.limit + 9) / 10
}

// roll closes an expired window.
func (b *budget) roll(now time.Time) {
	if !b.reset.IsZero() && !now.Before(b.reset) {
		b.used, b.told, b.reset, b.guessed = 0, 0, time.Time{}, false
	}
}

func (b *budget) affords(now time.Time, final bool) bool {
	b.roll(now)
	if b.guessed && now.Sub(b.spent) >= probeEvery {
		return true
	}
	if final {
		return b.used < b.limit
	}
	return b.used < b.limit-b.reserve()
}

// spend counts a call about to be sent; false if the budget does not allow it.
func (b *budget) spend(now time.Time, final bool) bool {
	if !b.affords(now, final) {
		return false
	}
	if b.reset.IsZero() {
		b.reset = now.Add(window)
	}
	b.used++
	b.spent = now
	return true
}

// countSlack allows for answers of concurrent calls that arrive in a different order than they were counted.
const countSlack = 16

// countAnswer corrects the count from an answer.
func (b *budget) countAnswer(resp *http.Response, at moment) {
	now := at.now
	left := b.correctCount(resp.Header, at)
	switch throttled := resp.StatusCode == http.StatusTooManyRequests; {
	case throttled && left <= 0 && !b.affords(now, false):
		// A used-up budget is available again when the 429 says so, whatever else the feed reports. If it does not say,
		// the feed's window may differ from ours.
		wait, told := retryAfter(resp.Header, at.wall)
		if told {
			b.reset = now.Add(wait)
		}
		b.guessed = !told && !resetAt(resp.Header, at).After(now)
	case !throttled && left < 0 && b.used > b.limit:
		b.used, b.told, b.reset, b.guessed = 1, 0, now.Add(window), false // it answered beyond the limit: a new window has begun
	}
}

// correctCount corrects the count from the feed's headers and returns the remaining calls, -1 if they are absent.
// Another program with the same token, or an earlier run of this node, may have used more than we know; a count
// that falls means that the feed's window began again before ours.
func (b *budget) correctCount(h http.Header, at moment) (left int) {
	now := at.now
	limit, err1 := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	if err1 != nil || err2 != nil || limit < 1 || left < 0 {
		return -1
	}
	b.roll(now)
	used := max(limit-left, 0)
	anew := b.reset.IsZero() || used+countSlack < b.told
	if anew {
		b.used, b.reset, b.guessed = used, now.Add(window), false
	}
	b.guessed = b.guessed || used > b.used+countSlack
	if reset := resetAt(h, at); reset.After(now) && reset.Sub(now) <= window {
		b.reset, b.guessed = reset, false
	}
	b.limit, b.used, b.told, b.known, b.at = limit, max(b.used, used), used, true, now
	return left
}

// next returns when an ordinary call is possible again, zero: now.
func (b *budget) next(now time.Time) time.Time {
	if b.affords(now, false) {
		return time.Time{}
	}
	if probe := b.spent.Add(probeEvery); b.guessed && probe.Before(b.reset) {
		return probe
	}
	return b.reset
}

func (b *budget) public(now time.Time) Budget {
	b.roll(now)
	return Budget{
		Limit: b.limit, Used: b.used, Remaining: max(b.limit-b.used, 0), Reserve: b.reserve(), Reset: b.reset,
		Next: b.next(now), Known: b.known, At: b.at,
	}
}

// spend counts one attempt, or returns why it must not be sent.
func (e *endpoint) spend(final bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.budget.spend(e.now(), final) {
		return e.budgetError(final)
	}
	e.calls++
	return nil
}

// affordable returns an error if the budget does not allow a call.
func (e *endpoint) affordable(final bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.budget.affords(e.now(), final) {
		return e.budgetError(final)
	}
	return nil
}

func (e *endpoint) budgetError(final bool) *Error {
	what := "the budget of %d calls an hour is used up, except for final reads"
	if final {
		what = "the budget of %d calls an hour is used up"
	}
	return &Error{Endpoint: e.name, Until: e.wallAt(e.budget.next(e.now())),
		Fault: fault.New(fault.Throttled, CodeBudget, what, e.budget.limit)}
}

// Budget returns the budget of an endpoint, zero for an endpoint that is not read. Its times are those of loops.
func (c *Client) Budget(name Endpoint) Budget {
	e, ok := c.endpoints[name]
	if !ok {
		return Budget{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.budget.public(c.clock.Now())
}

// Budgets returns the Budget of every endpoint, with times for people.
func (c *Client) Budgets() map[Endpoint]Budget {
	out := make(map[Endpoint]Budget, len(c.endpoints))
	for name := range c.endpoints {
		b := c.Budget(name)
		b.Reset = clock.WallAt(c.clock, b.Reset)
		b.Next = clock.WallAt(c.clock, b.Next)
		b.At = clock.WallAt(c.clock, b.At)
		out[name] = b
	}
	return out
}

// resetAt parses X-RateLimit-Reset, which some servers send as an epoch and others as a number of seconds.
func resetAt(h http.Header, at moment) time.Time {
	n, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	switch {
	case err != nil || n <= 0:
		return time.Time{}
	case n > 1e9:
		return at.now.Add(time.Unix(n, 0).Sub(at.wall))
	case n > int64(window/time.Second):
		return at.now.Add(window)
	}
	return at.now.Add(time.Duration(n) * time.Second)
}

package sportmonks

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Endpoint is a unit of the feed's rate limit, and so of our retries and waits.
type Endpoint string

// The endpoints in use.
const (
	Livescores Endpoint = "livescores"
	Fixture    Endpoint = "fixtures/{id}"
	Fixtures   Endpoint = "fixtures"
	Leagues    Endpoint = "leagues"
	Seasons    Endpoint = "seasons"
	Teams      Endpoint = "teams"
	Squads     Endpoint = "teams/{id}/squad/{season}"
	Scores     Endpoint = "scores"
)

// How long an endpoint rests. An hour is the feed's whole window: no reasonable answer asks for more.
const (
	refusedFor   = 5 * time.Minute  // after 401 and 403, which need an operator
	restsFor     = 30 * time.Second // after consecutive failures: the circuit breaker
	throttledFor = time.Minute      // after a 429 that does not say how long; doubled each time
	longest      = time.Hour
	failuresMax  = 4 // readings, each with its retries
)

// endpoint guards one endpoint: whether it may be called, and when again.
type endpoint struct {
	name    Endpoint
	clock   clock.Clock
	breaker *gobreaker.CircuitBreaker[result]

	mu        sync.Mutex
	until     time.Time // no call before then
	why       *Error    // the error until then
	throttled int       // consecutive 429s
	budget    budget
	alarm     string // an operator must act
	alarmAt   time.Time
	calls     int64 // attempts
	failed    int64 // readings
	goodAt    time.Time
	lastFail  string
}

// newEndpoint returns an endpoint with its breaker. gobreaker knows only the wall clock: its own timeout is
// minimal, and until holds the rest by Now of the injected clock.
func newEndpoint(name Endpoint, calls int, c clock.Clock) *endpoint {
	e := &endpoint{name: name, clock: c, budget: budget{limit: calls}}
	e.breaker = gobreaker.NewCircuitBreaker[result](gobreaker.Settings{
		Name:        string(name),
		Timeout:     time.Nanosecond,
		MaxRequests: 1,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= failuresMax },
		IsExcluded:  func(err error) bool { return err != nil && !ill(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				e.rest(e.now().Add(restsFor), e.resting(0))
			}
		},
	})
	return e
}

func (e *endpoint) now() time.Time { return e.clock.Now() }

// wallAt returns what people are told of a time of loops.
func (e *endpoint) wallAt(at time.Time) time.Time { return clock.WallAt(e.clock, at) }

// ill reports whether an error says something about the endpoint's health. A canceled call, a match that does
// not exist, and a refusal with a rest of its own do not.
func ill(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return true
	}
	switch e.Fault.Code {
	case CodeBadRequest, CodeUnauthorized, CodeForbidden, CodeNotFound, CodeThrottled, CodeBudget:
		return false
	}
	return true
}

func (e *endpoint) resting(status int) *Error {
	return &Error{Endpoint: e.name, Status: status,
		Fault: fault.New(fault.Unavailable, CodeResting, "resting after %d failures in a row", failuresMax)}
}

func (e *endpoint) rest(until time.Time, why *Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if until.After(e.until) {
		e.until, e.why = until, why
	}
}

// restError returns the error of a resting endpoint, nil if it may be called.
func (e *endpoint) restError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.now().Before(e.until) {
		return nil
	}
	told := *e.why
	told.Until = e.wallAt(e.until)
	return &told
}

// do runs one reading behind rest, budget and breaker.
func (e *endpoint) do(final bool, f func() (result, error)) (result, error) {
	if err := e.restError(); err != nil {
		return result{}, err
	}
	if err := e.affordable(final); err != nil {
		return result{}, err
	}
	r, err := e.breaker.Execute(f)
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		// Another reading is on trial now.
		refused := e.resting(0)
		refused.Until = e.wallAt(e.now().Add(time.Second))
		return r, refused
	}
	if err == nil {
		e.good()
		return r, nil
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return r, e.restIfRequired(own)
	}
	return r, err
}

// restIfRequired rests the endpoint if the answer requires it, and tells the caller until when.
func (e *endpoint) restIfRequired(err *Error) error {
	switch err.Fault.Code {
	case CodeBudget:
		return err // it was not sent, and has its own Until
	case CodeUnauthorized, CodeForbidden:
		e.rest(e.now().Add(refusedFor), err)
	}
	if !errors.Is(err, context.Canceled) {
		e.bad(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.until.After(e.now()) {
		told := *err
		told.Until = e.wallAt(e.until)
		return &told
	}
	return err
}

// recordLimits records what every answer says about the rate limit.
func (e *endpoint) recordLimits(resp *http.Response) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if resp.StatusCode != http.StatusTooManyRequests {
		e.throttled = 0
	}
	e.budget.countAnswer(resp, e.moment())
}

// throttle returns how long to wait after a 429: Retry-After, else the end of the window as the feed reports it.
// If neither is known, it is a minute, doubled for each consecutive 429, or until the budget allows a call. It
// is at most the window of an hour, and never zero if the feed gives no time.
func (e *endpoint) throttle(resp *http.Response) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.throttled++
	at := e.moment()
	wait, told := retryAfter(resp.Header, at.wall)
	if reset := resetAt(resp.Header, at); !told && reset.After(at.now) {
		wait, told = reset.Sub(at.now), true
	}
	if !told {
		wait = max(throttledFor<<min(e.throttled-1, 10), e.budget.next(at.now).Sub(at.now))
	}
	return min(wait, longest)
}

// moment is when an answer came: for our waits, and for the times in its headers.
type moment struct{ now, wall time.Time }

func (e *endpoint) moment() moment { return moment{now: e.clock.Now(), wall: e.clock.Wall()} }

// retryAfter parses both forms of the header; wall is the wall clock. A past date or a negative or absurd number counts as given, but
// never results in a negative wait.
func retryAfter(h http.Header, wall time.Time) (wait time.Duration, told bool) {
	text := h.Get("Retry-After")
	if text == "" {
		return 0, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(min(max(n, 0), int64(longest/time.Second))) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(wall), 0), longest), true
}

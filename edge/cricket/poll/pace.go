package poll

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// due returns when to call an endpoint again after last: at the wanted interval or the one that the budget
// allows, and not while the endpoint is resting. calls is the number of calls each time.
func (p *Poller) due(endpoint sportmonks.Endpoint, last time.Time, want time.Duration, calls int) time.Time {
	at := onGrid(last, want)
	if longer := p.stretched(endpoint, want, calls); longer > want && !last.IsZero() {
		at = last.Add(longer)
	}
	return latest(at, p.restsUntil(endpoint))
}

// restsUntil returns until when an endpoint is resting: the feed asked for it, fails or refuses the token, or
// the hour's calls are used up. Zero: it is not.
func (p *Poller) restsUntil(endpoint sportmonks.Endpoint) time.Time {
	if p.Budgets == nil {
		return time.Time{}
	}
	return p.Budgets.RestsUntil(endpoint)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// stretched returns the interval at which calls of an endpoint can continue to the end of the feed's hour
// without the reserve for final reads: want, or longer.
//
// The rest of the hour is divided evenly by the remaining calls, so that a node that shares its token or was
// restarted slows down instead of running out.
func (p *Poller) stretched(endpoint sportmonks.Endpoint, want time.Duration, calls int) time.Duration {
	if p.Budgets == nil || calls == 0 {
		return want
	}
	b := p.Budgets.Budget(endpoint)
	if b.Limit <= 0 {
		return want
	}
	left := time.Hour
	if !b.Reset.IsZero() {
		left = max(b.Reset.Sub(p.lastCall(endpoint)), 0)
	}
	usable := b.Remaining - b.Reserve
	if usable <= 0 {
		return max(want, b.Next.Sub(p.lastCall(endpoint)))
	}
	if endpoint != sportmonks.Fixtures { // fixtures are read by one node for all
		calls *= p.readers()
	}
	return max(want, left*time.Duration(calls)/time.Duration(usable))
}

// noteCall notes when an endpoint is called: intervals count from then.
func (p *Poller) noteCall(endpoint sportmonks.Endpoint, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[endpoint] = now
}

func (p *Poller) lastCall(endpoint sportmonks.Endpoint) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.calls[endpoint]; ok {
		return at
	}
	return p.Clock.Now()
}

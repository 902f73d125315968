package poll

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// due is when an endpoint that was asked at last is to be asked again, at the interval that is wanted or the one that the
// budget allows, and not while it is left alone. calls is how many are made each time.
func (p *Poller) due(endpoint sportmonks.Endpoint, last time.Time, want time.Duration, calls int) time.Time {
	at := onGrid(last, want)
	if longer := p.stretched(endpoint, want, calls); longer > want && !last.IsZero() {
		at = last.Add(longer)
	}
	return latest(at, p.restsUntil(endpoint))
}

// restsUntil is until when an endpoint is left alone: the feed asks for it, fails, refuses us, or the calls of the hour are
// used up. Zero: it is asked.
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

// stretched returns the interval at which calls of an endpoint can go on until the end of the feed's hour, the reserve
// for final reads left alone: the one that is wanted, or a longer one.
//
// What is left of the hour is divided evenly over what is left of its calls: a node that shares its token, or was
// started again, slows down instead of running dry.
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
	if endpoint != sportmonks.Fixtures { // those one node reads for all
		calls *= p.readers()
	}
	return max(want, left*time.Duration(calls)/time.Duration(usable))
}

// called notes that an endpoint is asked: intervals count from then.
func (p *Poller) called(endpoint sportmonks.Endpoint, now time.Time) {
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

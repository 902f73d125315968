package poll

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// stretched gives the interval at which calls of an endpoint can go on until the end of the feed's hour, the reserve for
// final reads left alone: the one that is wanted, or a longer one. calls is how many are made each time.
//
// What is left of the hour is divided evenly over what is left of its calls: a node that shares its token, or was
// started again, slows down instead of running dry.
func (p *Poller) stretched(endpoint sportmonks.Endpoint, want time.Duration, calls int) time.Duration {
	if p.Budgets == nil || calls == 0 {
		return want
	}
	b, known := p.Budgets.Budgets()[endpoint]
	if !known || b.Limit <= 0 {
		return want
	}
	left := time.Hour
	if !b.Reset.IsZero() {
		left = max(b.Reset.Sub(p.Clock.Now()), 0)
	}
	usable := b.Remaining - b.Reserve
	if usable <= 0 {
		return max(want, left)
	}
	return max(want, left*time.Duration(calls)/time.Duration(usable))
}

package main

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
)

// line is a way to the cloud.
type line struct {
	name string
	faultproxy.Conditions

	cut  time.Duration // how long nothing passes, after as long a time in which it does; 0: no cuts
	most time.Duration // the greatest lag allowed; 0: no limit
}

// slow is the latency of each direction of a line on which a request takes 300 ms.
const slow = 150 * time.Millisecond

func allLines() []line {
	lost := func(name string, chance float64) line {
		return line{name: name, Conditions: faultproxy.Conditions{Fault: faultproxy.LoseAnswers, Chance: chance}}
	}
	both := lost("lost10-slow", 0.10)
	both.Latency, both.most = slow, 10*time.Second
	slower := lost("lost10-slower", 0.10)
	slower.Latency = 2 * slow
	return []line{
		{name: "good"},
		{name: "slow", Conditions: faultproxy.Conditions{Latency: slow}},
		lost("lost3", 0.03), lost("lost6", 0.06), lost("lost10", 0.10), both, slower,
		{name: "slow-cut", Conditions: faultproxy.Conditions{Latency: slow}, cut: 10 * time.Second},
		{name: "throttled6", Conditions: faultproxy.Conditions{Fault: faultproxy.Throttle, Chance: 0.06}, most: 5 * time.Second},
	}
}

// play gives a proxy the line's conditions until ctx ends, and then a good line.
func (l line) play(ctx context.Context, p *faultproxy.Proxy) {
	defer p.Set(faultproxy.Conditions{})
	for ctx.Err() == nil {
		p.Set(l.Conditions)
		if l.cut == 0 {
			<-ctx.Done()
			return
		}
		if clock.Sleep(ctx, clock.Real(), l.cut) != nil {
			return
		}
		p.Set(faultproxy.Conditions{Fault: faultproxy.Partition, Latency: l.Latency})
		_ = clock.Sleep(ctx, clock.Real(), l.cut)
	}
}

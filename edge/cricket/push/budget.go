package push

import (
	"slices"
	"sync"
	"time"
)

// urgentBudget counts the urgent pushes of a running hour by device: cards of all matches, ordinary alerts and notices together.
type urgentBudget struct {
	mu    sync.Mutex
	spent map[string][]time.Time // by session key, which is the same for all matches of a device
}

// take spends one push of at most limit an hour. before returns what an earlier process has spent, for a device that
// is not known yet; without it the device stays unknown until the loop asks.
func (b *urgentBudget) take(device string, now time.Time, limit int, before func() []time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	recent, known := b.spent[device]
	if !known && before != nil {
		recent = before()
	}
	recent = slices.DeleteFunc(recent, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	b.spent[device] = recent
	if len(recent) >= limit {
		return false
	}
	b.spent[device] = append(recent, now)
	return true
}

// refund gives back what was spent at a time, because the push has reached nobody.
func (b *urgentBudget) refund(device string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	recent := b.spent[device]
	if i := slices.IndexFunc(recent, at.Equal); i >= 0 {
		b.spent[device] = slices.Delete(recent, i, i+1)
	}
}

func (b *urgentBudget) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.spent)
}

func (b *urgentBudget) moveTimes(by time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, sent := range b.spent {
		for i := range sent {
			moveAll(by, &sent[i])
		}
	}
}

package threefc

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// maxCounted is how many names are remembered. When there are more, those whose hour is over are forgotten, and then all.
const maxCounted = 65_536

// hourly counts what somebody has done within an hour. Names are kept as hashes: an address in memory is nobody's business.
type hourly struct {
	most int
	mu   sync.Mutex
	of   map[[32]byte][]time.Time
}

func newHourly(most int) *hourly { return &hourly{most: most, of: map[[32]byte][]time.Time{}} }

// recent are the times of a name within the last hour.
func (h *hourly) recent(name [32]byte, now time.Time) []time.Time {
	return slices.DeleteFunc(h.of[name], func(t time.Time) bool { return now.Sub(t) >= time.Hour })
}

// full is fault.Throttled where somebody has had what an hour allows.
func (h *hourly) full(name string, now time.Time) error { return h.count(name, now, 0) }

// take counts one more, unless there are too many.
func (h *hourly) take(name string, now time.Time) error { return h.count(name, now, 1) }

func (h *hourly) count(name string, now time.Time, more int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := sha256.Sum256([]byte(name))
	all := h.recent(id, now)
	if len(all) >= h.most {
		return fault.New(fault.Throttled, "rate_limited", "Too many requests: try again in an hour.")
	}
	if more == 0 { // who only asks is not remembered
		return nil
	}
	if len(h.of) >= maxCounted {
		maps.DeleteFunc(h.of, func(id [32]byte, _ []time.Time) bool { return len(h.recent(id, now)) == 0 })
	}
	if len(h.of) >= maxCounted {
		clear(h.of)
	}
	h.of[id] = append(all, now)
	return nil
}

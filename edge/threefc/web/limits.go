package web

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// maxCounted is the maximum number of names held. Above it, names whose hour is over are dropped first, then all.
const maxCounted = 65_536

// hourly limits actions per name and hour. It stores names as hashes, so that no addresses are kept in memory.
type hourly struct {
	most int
	mu   sync.Mutex
	of   map[[32]byte][]time.Time
}

func newHourly(most int) *hourly { return &hourly{most: most, of: map[[32]byte][]time.Time{}} }

// recent returns a name's actions within the last hour.
func (h *hourly) recent(name [32]byte, now time.Time) []time.Time {
	// Those in the future are from before the clock was set back.
	return slices.DeleteFunc(h.of[name], func(t time.Time) bool { return now.Sub(t).Abs() >= time.Hour })
}

// full returns fault.Throttled if a name has used up its hour's allowance.
func (h *hourly) full(name string, now time.Time) error { return h.count(name, now, 0) }

// countOne counts an action, or returns fault.Throttled if the allowance is used up.
func (h *hourly) countOne(name string, now time.Time) error { return h.count(name, now, 1) }

func (h *hourly) count(name string, now time.Time, more int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := sha256.Sum256([]byte(name))
	all := h.recent(id, now)
	if len(all) >= h.most {
		return fault.New(fault.Throttled, "rate_limited", "Too many requests: try again in an hour.")
	}
	if more == 0 { // a mere check is not stored
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

package lease

import (
	"context"
	"slices"
	"strings"
	"time"
)

// fallenShown is how long a lock that went back is shown. The next holder mends it; a person should still see that it happened.
const fallenShown = 24 * time.Hour

// Fallen is a lock whose record went back to a lower fence than this node had seen in it, which only happens if somebody restores or
// rewrites the locks table.
type Fallen struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`    // when it was seen, by the server's clock
	Fence int64     `json:"fence"` // the record's
	Seen  int64     `json:"seen"`  // the highest that it had had

	since time.Duration // boot clock
}

// watchRecord compares a record with what was known of its lock before the request left: the answer to a request that another one has
// overtaken may be older than what is known by now. It then remembers the record's fence.
func (m *Manager) watchRecord(ctx context.Context, r *Record, before seenFences) error {
	if r.Fence > 0 && r.Fence < before.row {
		m.recordFall(r, before.row)
	}
	return m.fences.remember(ctx, r.Key, seenFences{row: r.Fence})
}

// recordFall records that a lock's record went back, once for each fence to which it went.
func (m *Manager) recordFall(r *Record, seen int64) {
	now := m.times.Now()
	m.mu.Lock()
	known, again := m.fallen[r.Key]
	again = again && known.Fence == r.Fence && known.Seen == seen
	if !again {
		m.falls++
		m.fallen[r.Key] = Fallen{
			Key: r.Key, At: time.UnixMilli(m.serverMillis(now)).UTC(), Fence: r.Fence, Seen: seen, since: now.Boot,
		}
	}
	m.mu.Unlock()
	if !again {
		m.log.Error("the record of a lock went back to an earlier fence: was the locks table restored?",
			"key", r.Key, "fence", r.Fence, "seen", seen, "holder", r.Holder)
	}
}

// FallenLocks lists the locks whose records went back within the last day, sorted by key.
func (m *Manager) FallenLocks() (out []Fallen) {
	now := m.times.Now().Boot
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, f := range m.fallen {
		if now-f.since >= fallenShown {
			delete(m.fallen, key)
			continue
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Fallen) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Falls returns how often a record has gone back since the start.
func (m *Manager) Falls() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.falls
}

// forgetOldFences removes what is remembered of locks that were last taken before the oldest time to which a table is restored.
func (m *Manager) forgetOldFences(ctx context.Context) {
	oldest := m.times.Now()
	oldest.Wall = oldest.Wall.Add(-rememberFor)
	if err := m.fences.forget(ctx, m.firstFence(oldest)); err != nil {
		m.log.Warn("what is remembered of old locks was not removed", "error", err)
	}
}

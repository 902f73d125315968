package sandbox

import (
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket/payload"
)

// Record is a push as it arrived, with its answer.
type Record struct {
	Seq        uint64          `json:"seq"`
	At         time.Time       `json:"at"` // by the injected clock
	Token      string          `json:"token,omitempty"`
	Channel    string          `json:"channel,omitempty"` // for a broadcast
	Phone      string          `json:"phone,omitempty"`
	ID         string          `json:"id"`
	Topic      string          `json:"topic"`
	Type       string          `json:"type"`
	Priority   int             `json:"priority"`
	Expiration int64           `json:"expiration,omitempty"`
	CollapseID string          `json:"collapseId,omitempty"`
	Event      string          `json:"event,omitempty"`
	Timestamp  int64           `json:"timestamp,omitempty"`
	Alert      *payload.Alert  `json:"alert,omitempty"`
	Bytes      int             `json:"bytes"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Status     int             `json:"status"`
	Reason     string          `json:"reason,omitempty"`
	Shown      string          `json:"shown"` // what the phone did: "shown", or why not
}

// recorder keeps the latest records in a ring and counts all of them.
type recorder struct {
	ring   []Record
	seq    uint64
	counts map[string]int
}

func newRecorder(size int) recorder {
	return recorder{ring: make([]Record, 0, size), counts: map[string]int{}}
}

func (r *recorder) add(rec Record) {
	r.seq++
	rec.Seq = r.seq
	name := strconv.Itoa(rec.Status)
	if rec.Reason != "" {
		name += " " + rec.Reason
	}
	r.counts[name]++
	if len(r.ring) < cap(r.ring) {
		r.ring = append(r.ring, rec)
		return
	}
	r.ring[int((r.seq-1)%uint64(cap(r.ring)))] = rec
}

// recordsAfter returns the records after seq that are still kept, oldest first.
func (r *recorder) recordsAfter(seq uint64) []Record {
	first := max(seq, r.seq-uint64(len(r.ring)))
	out := make([]Record, 0, r.seq-min(first, r.seq))
	for n := first; n < r.seq; n++ {
		out = append(out, r.ring[int(n%uint64(cap(r.ring)))])
	}
	return out
}

// Records returns the pushes after a sequence number that are still kept, oldest first. Tokens are cut to six digits.
func (s *Sandbox) Records(after uint64) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.recordsAfter(after)
}

// Counts returns the number of pushes by answer: "200", "410 Unregistered".
func (s *Sandbox) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.record.counts)
}

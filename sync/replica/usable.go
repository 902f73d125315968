package replica

import (
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

const (
	// unusableAfter is how long the cloud may be away before a node leaves to others what it does for all of them.
	unusableAfter = 30 * time.Second

	// usableAfter is how long the room and the tables must have been all right before it does that again. Both are better as
	// soon as the node does less: without a pause it would take its locks and give them back every few seconds, and each
	// time the others would have to find out. By the time alone, and not by a lower share of the room: a disk that stays
	// between the two would keep a node from work that it can do.
	usableAfter = 2 * time.Minute
)

// Usable is nil while what is written here under a lock is taken, and gets to the cloud or may do so at once: who works for other
// nodes too, under a lease, is to leave it to them else. The locks table may answer all the same: it is asked by itself.
func (r *Replica) Usable() error {
	switch st := r.net.state(); {
	case st.Why != "":
		return fault.New(fault.Unavailable, "cloud_unusable", "no write from this node reaches the cloud: %s", st.Why)
	case !st.Up && !st.Since.IsZero() && r.clock.Now().Sub(st.Since) > unusableAfter:
		return fault.New(fault.Unavailable, "cloud_away", "no write from this node has reached the cloud for %v", unusableAfter)
	}
	now := r.clock.Now()
	return r.hindered.noted(r.hindrance(now), now)
}

// hindrance is why nothing can be done here under locks although the cloud is there; nil: it can.
func (r *Replica) hindrance(now time.Time) error {
	if s := r.levels.seenLast(); s.Level >= LevelRebuildable {
		do := "touchline sync status shows what waits"
		switch s.Which {
		case "disk":
			do = "free some disk space"
		case "conflicts":
			do = "decide the open conflicts"
		}
		return fault.New(fault.Unavailable, "no_room", "writes under locks are refused: the queue for the cloud is nearly full (%s): %s", s.Which, do)
	}
	for _, stopped := range r.paces.stoppedTables() {
		spec := r.spec(stopped.Table)
		// A table that is missing or made anew stops every node alike, and whoever holds the lock goes on for its venue. One that
		// is due is tried by what waits for it. Where nothing does, the next holder's write is the try.
		if spec == nil || spec.Lock == "" || !stopped.denied || !now.Before(stopped.Until) {
			continue
		}
		return fault.New(fault.Unavailable, "table_denied", "the cloud accepts nothing for table %s, which is written under locks: %s; %s",
			stopped.Table, shortened(stopped.Why), remedyPolicy)
	}
	return nil
}

// hindered remembers the last hindrance for a while.
type hindered struct {
	mu  sync.Mutex
	why error // nil: none, or long ago
	at  time.Time
}

// noted notes what there is now, nil if nothing, and gives what counts.
func (h *hindered) noted(why error, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case why != nil:
		h.why, h.at = why, now
	case now.Sub(h.at) >= usableAfter:
		h.why = nil
	}
	return h.why
}

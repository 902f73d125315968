package replica

import (
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/remote"
)

const (
	// unusableAfter is how long the cloud may be away before a node leaves work done on behalf of all nodes to others.
	unusableAfter = 30 * time.Second
)

// Usable returns nil while writes under a lock are accepted here and reach the cloud, or may do so soon. Otherwise this node should
// leave work under leases to others. The locks table is asked separately and may still answer.
func (r *Replica) Usable() error {
	switch st := r.net.State(); {
	case st.Why != "":
		return fault.New(fault.Unavailable, "cloud_unusable", "no write from this node reaches the cloud: %s", st.Why)
	case !st.Up && !st.Away.IsZero() && r.clock.Now().Sub(st.Away) > unusableAfter:
		return fault.New(fault.Unavailable, "cloud_away", "no write from this node has reached the cloud for %v", unusableAfter)
	}
	now := r.clock.Now()
	return r.lastHindrance.Noted(r.hindrance(now), now)
}

// hindrance returns why work under locks is impossible here although the cloud is reachable; nil: it is possible.
func (r *Replica) hindrance(now time.Time) error {
	if s := r.levels.Last(); s.Level >= flow.LevelRebuildable {
		do := "touchline sync status shows what waits"
		switch s.Which {
		case "disk":
			do = "free some disk space"
		case "conflicts":
			do = "decide the open conflicts"
		}
		return fault.New(fault.Unavailable, "no_room", "writes under locks are refused: the queue for the cloud is nearly full (%s): %s", s.Which, do)
	}
	for _, stopped := range r.paces.StoppedTables() {
		spec := r.spec(stopped.Table)
		// A missing or recreated table stops every node alike, and the lock's holder goes on for its venue. A stopped table that is due
		// is tried by the writes waiting for it; if none wait, the next holder's write is the try.
		if spec == nil || spec.Lock == "" || !stopped.Denied || !now.Before(stopped.Until) {
			continue
		}
		return fault.New(fault.Unavailable, "table_denied", "the cloud accepts nothing for table %s, which is written under locks: %s; %s",
			stopped.Table, remote.Shortened(stopped.Why), remedyPolicy)
	}
	return nil
}

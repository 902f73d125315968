package node

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
)

// status is the node's state for /statusz and the operator's strip.
func (n *Node) status() operator.NodeStatus {
	st := n.store.Stats()
	now, disk := n.parts.Clock.Now(), n.store.Disk()
	out := operator.NodeStatus{
		Version: n.parts.Version, UptimeSeconds: n.wall.Now().Sub(n.started).Seconds(),
		Cloud:       operator.CloudStatus{State: "none"},
		Journal:     operator.JournalStatus{First: st.JournalFirst, Last: st.JournalLast},
		Commits:     operator.CommitStatus{LastMillis: float64(st.LastCommit.Microseconds()) / 1000},
		Disk:        &disk,
		MemoryBytes: residentBytes(), Goroutines: runtime.NumGoroutine(),
		Clock: operator.ClockStatus{Speed: n.parts.Speed, Now: now},
	}
	out.Commits.Refused, out.Commits.Warning = st.Refused, noRoom(&st, n.wall.Now())
	if st.Commits > 0 {
		out.Commits.Members = float64(st.Members) / float64(st.Commits)
	}
	out.Chores = operator.ChoreStatus{Swept: st.Swept, Filling: st.Filling, Dropping: st.Dropping, Verify: verifyStatus(n.store.Scrub())}
	if e := n.parts.DynamoDB; e != nil {
		out.DynamoDB = e.status()
	}
	out.Mail = n.mailStatus()
	n.cloudStatus(&out)
	return out
}

// mailStatus is nil where the node sends no mail.
func (n *Node) mailStatus() *mail.Status {
	if n.mail == nil {
		return nil
	}
	st := n.mail.Status()
	return &st
}

// cloudStatus reports how the node stands with its cloud. A store that cannot be read says so itself.
func (n *Node) cloudStatus(out *operator.NodeStatus) {
	if n.sync == nil {
		return
	}
	st, err := n.sync.Status(context.WithoutCancel(n.work)) // it stands after the work has ended
	if err != nil {
		return
	}
	c := &out.Cloud
	c.State, c.Since = st.State, st.Since
	c.Waiting, c.Conflicts, c.Alarms = int(st.Waiting), st.Conflicts.Open+st.Conflicts.Quarantined, st.Alarms
	if !st.Up {
		c.LastError = st.LastError
	}
}

// refusedOf is how long a write that found no room is held against the store: whether there is some again is known from
// the next ones.
const refusedOf = time.Minute

// noRoom says so where the store has of late refused writes for lack of room; empty: it has not.
func noRoom(st *store.Stats, now time.Time) string {
	if st.LastRefused.IsZero() || now.Sub(st.LastRefused) >= refusedOf {
		return ""
	}
	return fmt.Sprintf("there is no room for writes, the last was refused at %s UTC (%d since the start); existing data is still served",
		st.LastRefused.UTC().Format("15:04:05"), st.Refused)
}

// residentBytes is the memory the process holds, as the kernel counts it; 0 where it does not say.
func residentBytes() int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// reading is what the node's parts say of themselves at one instant.
type reading struct {
	store  store.Stats
	scrub  store.ScrubStats
	leases int
}

func (n *Node) read() *reading {
	r := &reading{store: n.store.Stats(), scrub: n.store.Scrub()}
	r.leases = len(n.held())
	return r
}

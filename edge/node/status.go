package node

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/touchline/touchline/httpapi/operator"
)

// status returns the node's state for /statusz and the Status page.
func (n *Node) status() operator.NodeStatus {
	st, disk := n.store.Stats(), n.store.Disk()
	out := operator.NodeStatus{
		Version: n.parts.Version, UptimeSeconds: n.wall.Now().Sub(n.started).Seconds(),
		Cloud:   operator.CloudStatus{State: "none"},
		Journal: st.Journal, Commits: st.CommitStats, Chores: st.ChoreStats, Disk: &disk, Damages: n.store.Damages(),
		MemoryBytes: residentBytes(), Goroutines: runtime.NumGoroutine(),
		Clock: operator.ClockStatus{Speed: n.parts.Speed, Now: n.parts.Clock.Wall()},
	}
	if e := n.parts.DynamoDB; e != nil {
		out.DynamoDB = e.status()
	}
	out.Mail = n.mailStatus()
	out.FallenLocks = n.fallenLocks()
	out.LeftOut = n.leftOut(context.WithoutCancel(n.work)) // still valid after the work has ended
	n.cloudStatus(&out)
	return out
}

// mailStatus returns nil if the node sends no mail.
func (n *Node) mailStatus() *operator.MailStatus {
	if n.mail == nil {
		return nil
	}
	st := n.mail.Status()
	out := &operator.MailStatus{Waiting: st.Waiting, GivenUp: st.GivenUp, LastAt: st.LastAt, LastWhy: st.LastWhy}
	for _, cause := range st.UsedUp {
		out.UsedUp = append(out.UsedUp, string(cause))
	}
	return out
}

// cloudStatus adds the state of the replication. If the store cannot be read it adds nothing: the store's check reports that.
func (n *Node) cloudStatus(out *operator.NodeStatus) {
	if n.sync == nil {
		return
	}
	st, err := n.sync.Status(context.WithoutCancel(n.work)) // still valid after the work has ended
	if err != nil {
		return
	}
	c := &out.Cloud
	c.State, c.Since = st.State, st.Since
	c.Waiting, c.Conflicts, c.Alarms = int(st.Waiting), st.Conflicts.Open+st.Conflicts.Quarantined, st.Alarms
	c.SendsOnly = st.SendsOnly
	if !st.Up {
		c.LastError = st.LastError
	}
}

// residentBytes returns the memory of the process according to the kernel; 0: unknown.
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

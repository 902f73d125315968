package edge

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	cricketpage "github.com/touchline/touchline/httpapi/cricket/page"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/store"
)

// status is the node's state for /statusz and the operator's strip.
func (n *Node) status() operator.NodeStatus {
	st := n.store.Stats()
	now := n.parts.Clock.Now()
	out := operator.NodeStatus{
		Version: n.parts.Version, UptimeSeconds: n.wall.Now().Sub(n.started).Seconds(),
		Cloud:       operator.CloudStatus{State: "none"},
		Journal:     operator.JournalStatus{First: st.JournalFirst, Last: st.JournalLast},
		Commits:     operator.CommitStatus{LastMillis: float64(st.LastCommit.Microseconds()) / 1000},
		MemoryBytes: residentBytes(), Goroutines: runtime.NumGoroutine(),
		Clock: operator.ClockStatus{Speed: n.parts.Speed, Now: now},
	}
	out.Commits.Refused, out.Commits.Warning = st.Refused, noRoom(&st, n.wall.Now())
	if st.Commits > 0 {
		out.Commits.Members = float64(st.Members) / float64(st.Commits)
	}
	out.Chores = choreStatus(&st)
	out.Chores.Verify = verifyStatus(n.store.Scrub())
	if e := n.parts.DynamoDB; e != nil {
		out.DynamoDB = e.status()
	}
	n.cloudStatus(&out)
	return out
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
	c.State, c.Since = n.syncState(&st)
	c.Waiting, c.Conflicts, c.Alarms = int(st.Waiting), st.Conflicts.Open+st.Conflicts.Quarantined, st.Alarms()
	if !st.Link.Up {
		c.LastError = st.Link.Last
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

// phoneViews shows the sandbox's phones as the page wants them.
func phoneViews(s *sandbox.Sandbox) []cricketpage.PhoneView {
	phones := s.Phones()
	out := make([]cricketpage.PhoneView, 0, len(phones))
	for i := range phones {
		p := &phones[i]
		v := cricketpage.PhoneView{
			ID: p.DeviceID, Name: p.Name, Model: p.Model, Appearance: []string{"light", "dark"}[i%2],
			Alerts: []cricketpage.PhoneAlert{}, P10Used: p.UrgentLastHour, P10Budget: p.UrgentLimit,
			Pushes: cricketpage.PhonePushes{Received: p.Received, Applied: p.Received - p.Ignored, Dropped: p.Ignored},
		}
		for _, a := range p.Alerts {
			v.Alerts = append(v.Alerts, cricketpage.PhoneAlert{Title: a.Title, Body: a.Body, At: a.At})
		}
		if len(p.Activities) > 0 {
			a := &p.Activities[0]
			v.MatchID, v.State, v.Stale, v.Ended = a.MatchID, a.State, a.Stale, a.Ended
			v.Compact = cricketpage.CompactView{Leading: a.Compact.Leading, Trailing: a.Compact.Trailing}
		}
		out = append(out, v)
	}
	return out
}

// reading is what the node's parts say of themselves at one instant.
type reading struct {
	store  store.Stats
	scrub  store.ScrubStats
	poll   poll.Status
	leases int
}

func (n *Node) read() *reading {
	r := &reading{store: n.store.Stats(), scrub: n.store.Scrub()}
	if n.poller != nil {
		r.poll = n.poller.Status()
	}
	if n.leases != nil {
		r.leases = len(n.leases.Held())
	}
	return r
}

func (n *Node) pushCounts() map[string]push.Counts {
	out := map[string]push.Counts{}
	if n.push == nil {
		return out
	}
	ids := []string{}
	if n.parts.Featured != "" {
		ids = append(ids, n.parts.Featured)
	}
	if n.poller != nil {
		for _, m := range n.poller.Status().Matches {
			ids = append(ids, m.MatchID)
		}
	}
	for _, id := range ids {
		v, err := n.push.View(context.WithoutCancel(n.work), id) // counts stand after the work has ended
		if err != nil {
			continue // the store says so itself
		}
		out[id] = v.Pushes
	}
	return out
}

package edge

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
)

// status is the node's state for /statusz and the operator's strip.
func (n *Node) status() httpapi.NodeStatus {
	st := n.store.Stats()
	now := n.parts.Clock.Now()
	out := httpapi.NodeStatus{
		Version: n.parts.Version, UptimeSeconds: n.wall.Now().Sub(n.started).Seconds(),
		Cloud:       httpapi.CloudStatus{State: "none"},
		Journal:     httpapi.JournalStatus{First: st.JournalFirst, Last: st.JournalLast},
		Commits:     httpapi.CommitStatus{LastMillis: float64(st.LastCommit.Microseconds()) / 1000},
		MemoryBytes: residentBytes(), Goroutines: runtime.NumGoroutine(),
		Clock: httpapi.ClockStatus{Speed: n.parts.Speed, Now: now},
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
	n.feedStatus(&out, now)
	n.pushStatus(&out)
	return out
}

// cloudStatus reports how the node stands with its cloud. A store that cannot be read says so itself.
func (n *Node) cloudStatus(out *httpapi.NodeStatus) {
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

func (n *Node) feedStatus(out *httpapi.NodeStatus, now time.Time) {
	if n.poller == nil {
		return
	}
	p := n.poller.Status()
	out.Feed = httpapi.FeedStatus{
		Configured: true, Polls: p.Polls, Unchanged: p.Unchanged, Failed: p.Failed, LastAnswer: p.LastError, LastAt: p.ReadAt,
		Leading: p.Leading, Seat: p.Seat, Nodes: p.Nodes, Observing: p.Observing, Torn: tornOf(p.Matches),
		Takeovers: p.Takeovers, FinalReads: p.FinalReads, Alarms: n.feedAlarms(),
	}
	for i := range p.Jobs {
		if p.Jobs[i].LastError != "" {
			out.Feed.FailedJobs = append(out.Feed.FailedJobs, p.Jobs[i].Name)
		}
	}
	if p.LastError == "" && p.Polls > 0 {
		out.Feed.LastAnswer = "200"
		if p.LastUnchanged {
			out.Feed.LastAnswer = "304"
		}
	}
	if !p.ReadAt.IsZero() {
		out.Feed.AgeSeconds = now.Sub(p.ReadAt).Seconds()
	}
	for i := range p.Matches {
		if m := &p.Matches[i]; m.From != "" {
			out.Feed.Reads = append(out.Feed.Reads, httpapi.FeedRead{MatchID: m.MatchID, Endpoint: string(m.From), NextAt: m.Next})
		}
	}
	for _, m := range p.Matches {
		out.Role = "observer"
		if m.Fence != 0 {
			out.Role = "leader"
			out.Lease = httpapi.LeaseStatus{Key: cricket.MatchLock(m.MatchID), Fence: m.Fence, Deadline: m.Deadline}
			return
		}
	}
}

// tornOf counts the matches whose score and balls disagree.
func tornOf(all []poll.Held) (n int) {
	for i := range all {
		if all[i].Torn > 0 {
			n++
		}
	}
	return n
}

// feedAlarms are the endpoints that refuse us, in the order of their names.
func (n *Node) feedAlarms() (out []string) {
	client, ok := n.parts.Feed.(feedClient)
	if !ok {
		return nil
	}
	all := client.Alarms()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, string(name)+": "+all[name])
	}
	return out
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
func phoneViews(s *sandbox.Sandbox) []httpapi.PhoneView {
	phones := s.Phones()
	out := make([]httpapi.PhoneView, 0, len(phones))
	for i := range phones {
		p := &phones[i]
		v := httpapi.PhoneView{
			ID: p.DeviceID, Name: p.Name, Model: p.Model, Appearance: []string{"light", "dark"}[i%2],
			Alerts: []httpapi.PhoneAlert{}, P10Used: p.UrgentLastHour, P10Budget: p.UrgentLimit,
			Pushes: httpapi.PhonePushes{Received: p.Received, Applied: p.Received - p.Ignored, Dropped: p.Ignored},
		}
		for _, a := range p.Alerts {
			v.Alerts = append(v.Alerts, httpapi.PhoneAlert{Title: a.Title, Body: a.Body, At: a.At})
		}
		if len(p.Activities) > 0 {
			a := &p.Activities[0]
			v.MatchID, v.State, v.Stale, v.Ended = a.MatchID, a.State, a.Stale, a.Ended
			v.Compact = httpapi.CompactView{Leading: a.Compact.Leading, Trailing: a.Compact.Trailing}
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

// pushStatus adds up the matches that are on.
func (n *Node) pushStatus(out *httpapi.NodeStatus) {
	if n.push == nil {
		return
	}
	st := n.push.Status()
	out.Pushes.Configured, out.Pushes.Paused, out.Pushes.Circuit = true, st.Paused, st.Circuit
	for i := range st.Alarms {
		out.Pushes.Alarms = append(out.Pushes.Alarms, st.Alarms[i].Reason)
	}
	for _, c := range n.pushCounts() {
		out.Pushes.Sent += int64(c.Sent)
		out.Pushes.Accepted += int64(c.Accepted)
		out.Pushes.Refused += int64(c.Refused)
	}
	if minutes := n.wall.Now().Sub(n.started).Minutes(); minutes > 0 {
		out.Pushes.PerMinute = float64(out.Pushes.Sent) / minutes
	}
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

package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/sync/lease"
)

// Feed is the status of the poller and the feed's client.
type Feed struct {
	poll.Status
	Oddities map[string]int64 `json:"oddities"` // unexpected or unknown values in the feed, by kind
}

// feedHealth is the state of polling, for operators.
type feedHealth struct {
	Configured bool `json:"configured"`
	Feed
	Torn      int              `json:"torn"` // matches whose score and balls disagree in the last snapshots
	Endpoints []endpointHealth `json:"endpoints"`
}

// endpointHealth is the state of one endpoint of the feed: its circuit breaker, and its calls of this hour.
type endpointHealth struct {
	Endpoint sportmonks.Endpoint `json:"endpoint"`
	sportmonks.Health
	sportmonks.Budget
}

// newFeedHealth returns empty lists instead of null.
func newFeedHealth(f *Feed) feedHealth {
	h := feedHealth{Endpoints: []endpointHealth{}}
	if f != nil {
		h.Configured, h.Feed, h.Torn = true, *f, f.Inconsistent()
		for name, of := range f.Health {
			h.Endpoints = append(h.Endpoints, endpointHealth{name, of, f.Budgets[name]})
		}
		slices.SortFunc(h.Endpoints, func(a, b endpointHealth) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
	}
	if h.Oddities == nil {
		h.Oddities = map[string]int64{}
	}
	if h.Jobs == nil {
		h.Jobs = []poll.JobStatus{}
	}
	return h
}

// pushHealth is the state of pushes, for operators.
type pushHealth struct {
	Configured bool `json:"configured"`
	Pushes
}

// newPushHealth returns empty lists instead of null.
func newPushHealth(p *Pushes) (h pushHealth) {
	if p != nil {
		h = pushHealth{true, *p}
	}
	if h.Reasons == nil {
		h.Reasons = map[string]int64{}
	}
	h.Alarms = append([]push.Alarm{}, h.Alarms...)
	return h
}

// status returns cricket's part of /statusz.
func (h *handlers) status(node *operator.NodeStatus) map[string]any {
	st := h.nodeStatus(node)
	return map[string]any{"role": st.Role, "lease": st.Lease, "feed": st.Feed, "pushes": st.Pushes}
}

// nodeStatus returns what the node does for cricket.
func (h *handlers) nodeStatus(node *operator.NodeStatus) (out page.Status) {
	out.Feed.Jobs = []poll.JobStatus{}
	if f := h.Feed(); f != nil {
		out.Feed = feedStatus(f, node.Clock.Now)
		for i := range f.Matches {
			out.Role = "observer"
			if m := &f.Matches[i]; m.Fence != 0 {
				out.Role = "leader"
				out.Lease = lease.Status{Key: tables.MatchLock(m.MatchID), Fence: m.Fence, Deadline: m.Deadline}
				break
			}
		}
	}
	if p := h.Push(); p != nil {
		out.Pushes = page.PushStatus{Configured: true, Counts: p.Counts, Paused: p.Paused, Circuit: p.Circuit}
		for i := range p.Alarms {
			out.Pushes.Alarms = append(out.Pushes.Alarms, p.Alarms[i].Reason)
		}
		if minutes := node.UptimeSeconds / 60; minutes > 0 {
			out.Pushes.PerMinute = float64(p.Counts.Sent) / minutes
		}
	}
	return out
}

func feedStatus(f *Feed, now time.Time) page.FeedStatus {
	out := page.FeedStatus{Configured: true, Status: f.Status, Torn: f.Inconsistent(), LastAnswer: f.LastError, LastAt: f.ReadAt}
	if f.LastError == "" && f.Polls > 0 {
		out.LastAnswer = "200"
		if f.LastUnchanged {
			out.LastAnswer = "304"
		}
	}
	if !f.ReadAt.IsZero() {
		out.AgeSeconds = now.Sub(f.ReadAt).Seconds()
	}
	for name, h := range f.Health {
		if h.Alarm != "" {
			out.Alarms = append(out.Alarms, string(name)+": "+h.Alarm)
		}
	}
	slices.Sort(out.Alarms)
	for i := range f.Jobs {
		if f.Jobs[i].LastError != "" {
			out.FailedJobs = append(out.FailedJobs, f.Jobs[i].Name)
		}
	}
	for i := range f.Matches {
		if m := &f.Matches[i]; m.From != "" {
			out.Reads = append(out.Reads, page.FeedRead{MatchID: m.MatchID, Endpoint: string(m.From), NextAt: m.Next})
		}
	}
	return out
}

package cricket

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi/cricket/page"
	"github.com/touchline/touchline/httpapi/operator"
)

// Feed is what the poller and the feed's client tell.
type Feed struct {
	poll.Status
	Oddities map[string]int64 // what the feed sent that it should not have, or that is not known, by kind
}

// feedHealth is how the polling goes, for operators.
type feedHealth struct {
	Configured bool `json:"configured"`
	poll.Status
	Torn      int              `json:"torn"` // matches whose score and balls disagree in the last readings
	Endpoints []endpointHealth `json:"endpoints"`
	Oddities  map[string]int64 `json:"oddities"`
}

// endpointHealth is how one endpoint of the feed stands: its circuit breaker, and its calls of this hour.
type endpointHealth struct {
	Endpoint sportmonks.Endpoint `json:"endpoint"`
	sportmonks.Health
	sportmonks.Budget
}

// newFeedHealth has lists where there is nothing, not null.
func newFeedHealth(f *Feed) feedHealth {
	h := feedHealth{Endpoints: []endpointHealth{}, Oddities: map[string]int64{}}
	if f != nil {
		h.Configured, h.Status, h.Torn = true, f.Status, f.Inconsistent()
		for name, of := range f.Health {
			h.Endpoints = append(h.Endpoints, endpointHealth{name, of, f.Budgets[name]})
		}
		slices.SortFunc(h.Endpoints, func(a, b endpointHealth) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
		if f.Oddities != nil {
			h.Oddities = f.Oddities
		}
	}
	if h.Jobs == nil {
		h.Jobs = []poll.JobStatus{}
	}
	return h
}

// pushHealth is how the pushing goes, for operators.
type pushHealth struct {
	Configured bool `json:"configured"`
	push.Counts
	Reasons map[string]int64 `json:"reasons"`              // refusals since the start, by Apple's reason
	Paused  time.Time        `json:"pausedUntil,omitzero"` // nothing is sent before
	Circuit string           `json:"circuit,omitempty"`    // of the way to Apple: closed, half-open or open
	Alarms  []push.Alarm     `json:"alarms"`
}

func newPushHealth(p *Pushes) pushHealth {
	h := pushHealth{Reasons: map[string]int64{}, Alarms: []push.Alarm{}}
	if p == nil {
		return h
	}
	h.Configured, h.Counts, h.Paused, h.Circuit = true, p.Counts, p.Paused, p.Circuit
	h.Alarms = append(h.Alarms, p.Alarms...)
	if p.Reasons != nil {
		h.Reasons = p.Reasons
	}
	return h
}

// status is what cricket adds to /statusz.
func (a *api) status(node *operator.NodeStatus) map[string]any {
	st := a.nodeStatus(node)
	return map[string]any{"role": st.Role, "lease": st.Lease, "feed": st.Feed, "pushes": st.Pushes}
}

// nodeStatus is what the node does for cricket.
func (a *api) nodeStatus(node *operator.NodeStatus) (out page.Status) {
	out.Feed.Jobs = []poll.JobStatus{}
	if f := a.Feed(); f != nil {
		out.Feed = feedStatus(f, node.Clock.Now)
		for i := range f.Matches {
			out.Role = "observer"
			if m := &f.Matches[i]; m.Fence != 0 {
				out.Role = "leader"
				out.Lease = page.LeaseStatus{Key: tables.MatchLock(m.MatchID), Fence: m.Fence, Deadline: m.Deadline}
				break
			}
		}
	}
	if p := a.Push(); p != nil {
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

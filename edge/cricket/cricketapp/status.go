package cricketapp

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/httpapi"
)

// status adds how feed and pushes are doing.
func (a *application) status(out *httpapi.NodeStatus) {
	a.feedStatus(out, a.host.Clock.Now())
	a.pushStatus(out)
}

func (a *application) feedStatus(out *httpapi.NodeStatus, now time.Time) {
	if a.poller == nil {
		return
	}
	p := a.poller.Status()
	out.Feed = httpapi.FeedStatus{
		Configured: true, Polls: p.Polls, Unchanged: p.Unchanged, Failed: p.Failed, LastAnswer: p.LastError, LastAt: p.ReadAt,
		Leading: p.Leading, Seat: p.Seat, Nodes: p.Nodes, Observing: p.Observing, Torn: tornOf(p.Matches),
		Takeovers: p.Takeovers, FinalReads: p.FinalReads, Alarms: a.feedAlarms(),
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
func (a *application) feedAlarms() (out []string) {
	client, ok := a.Feed.(feedClient)
	if !ok {
		return nil
	}
	all := client.Alarms()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, string(name)+": "+all[name])
	}
	return out
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

// pushStatus adds up the matches that are on.
func (a *application) pushStatus(out *httpapi.NodeStatus) {
	if a.push == nil {
		return
	}
	st := a.push.Status()
	out.Pushes.Configured, out.Pushes.Paused, out.Pushes.Circuit = true, st.Paused, st.Circuit
	for i := range st.Alarms {
		out.Pushes.Alarms = append(out.Pushes.Alarms, st.Alarms[i].Reason)
	}
	for _, c := range a.pushCounts() {
		out.Pushes.Sent += int64(c.Sent)
		out.Pushes.Accepted += int64(c.Accepted)
		out.Pushes.Refused += int64(c.Refused)
	}
	if minutes := a.wall.Now().Sub(a.began).Minutes(); minutes > 0 {
		out.Pushes.PerMinute = float64(out.Pushes.Sent) / minutes
	}
}

func (a *application) pushCounts() map[string]push.Counts {
	out := map[string]push.Counts{}
	if a.push == nil {
		return out
	}
	ids := []string{}
	if a.Featured != "" {
		ids = append(ids, a.Featured)
	}
	if a.poller != nil {
		for _, m := range a.poller.Status().Matches {
			ids = append(ids, m.MatchID)
		}
	}
	for _, id := range ids {
		v, err := a.push.View(context.WithoutCancel(a.host.Work), id) // counts stand after the work has ended
		if err != nil {
			continue // the store says so itself
		}
		out[id] = v.Pushes
	}
	return out
}

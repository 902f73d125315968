package cricketapp

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/httpapi"
)

// refusalsMetric is the name under which push counts what Apple refuses.
const refusalsMetric = "touchline_push_refusals_total"

// hubHealth is what an operator sees of feed, jobs, pushes and leases.
func (a *application) hubHealth(metrics prometheus.Gatherer) httpapi.HubHealth {
	var out httpapi.HubHealth
	a.feedHealth(&out)
	a.pushHealth(&out.Push, metrics)
	return out
}

func (a *application) feedHealth(out *httpapi.HubHealth) {
	if a.poller == nil {
		return
	}
	p := a.poller.Status()
	out.Feed = httpapi.FeedHealth{
		Configured: true, Leading: p.Leading, Seat: p.Seat, Nodes: p.Nodes, Observing: p.Observing, Torn: tornOf(p.Matches), Polls: p.Polls, Unchanged: p.Unchanged, Failed: p.Failed, LastAt: p.LastAt, LastError: p.LastError,
		Takeovers: p.Takeovers, FinalReads: p.FinalReads, Cached: p.Cached, TooBig: p.TooBig, Marquee: p.Marquee,
	}
	out.Leases, out.Watch = map[string]httpapi.HubLease{}, map[string]httpapi.HubWatched{}
	for i := range p.Matches {
		m := &p.Matches[i]
		out.Watch[m.MatchID] = httpapi.HubWatched{Listed: m.Listed, Closely: m.Closely, From: string(m.From), Next: m.Next, StandIn: m.StandIn}
		if m.Fence != 0 {
			out.Leases[m.MatchID] = httpapi.HubLease{Fence: m.Fence, Deadline: m.Deadline}
		}
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		out.Feed.Jobs = append(out.Feed.Jobs, httpapi.JobHealth{
			Name: j.Name, Runs: j.Runs, Failed: j.Failed, LastRun: j.LastRun, LastError: j.LastError, NextRun: j.NextRun,
		})
	}
	client, ok := a.Feed.(feedClient)
	if !ok {
		return
	}
	out.Feed.Oddities = client.Oddities()
	budgets := client.Budgets()
	for name, h := range client.Health() {
		b := budgets[name]
		out.Feed.Endpoints = append(out.Feed.Endpoints, httpapi.EndpointHealth{
			Endpoint: string(name), State: string(h.State), Until: h.Until, Alarm: h.Alarm, AlarmAt: h.AlarmAt, Calls: h.Calls, Failed: h.Failed,
			LastGood: h.GoodAt, LastError: h.LastFail, Used: b.Used, Limit: b.Limit, Reserve: b.Reserve, ResetAt: b.Reset,
		})
	}
	slices.SortFunc(out.Feed.Endpoints, func(a, b httpapi.EndpointHealth) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
}

func (a *application) pushHealth(out *httpapi.PushHealth, metrics prometheus.Gatherer) {
	if a.push == nil {
		return
	}
	st := a.push.Status()
	out.Configured, out.Paused, out.Circuit = true, st.Paused, st.Circuit
	for i := range st.Alarms {
		out.Alarms = append(out.Alarms, httpapi.PushAlarm(st.Alarms[i]))
	}
	for _, c := range a.pushCounts() {
		out.Sent += int64(c.Sent)
		out.Accepted += int64(c.Accepted)
		out.Refused += int64(c.Refused)
	}
	out.Reasons = countsOf(metrics, refusalsMetric)
}

// countsOf reads a counter with one label: what was counted by the label's values. What cannot be gathered is not there.
func countsOf(from prometheus.Gatherer, name string) map[string]int64 {
	out := map[string]int64{}
	families, _ := from.Gather() // what could be is in it all the same
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				out[l.GetValue()] += int64(m.GetCounter().GetValue())
			}
		}
	}
	return out
}

// feedClient is what a feed over HTTP tells of itself. sportmonks.Client does.
type feedClient interface {
	// Health reports how every endpoint stands.
	Health() map[sportmonks.Endpoint]sportmonks.Health
	// Budgets returns what is left of the hour.
	Budgets() map[sportmonks.Endpoint]sportmonks.Budget
	// Alarms are the endpoints that a person has to look after, with what is wrong.
	Alarms() map[sportmonks.Endpoint]string
	// Oddities counts what the feed sent that it should not have.
	Oddities() map[string]int64
	// Collector returns its metrics.
	Collector() prometheus.Collector
}

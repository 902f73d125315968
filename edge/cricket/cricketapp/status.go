package cricketapp

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	cricketapi "github.com/touchline/touchline/httpapi/cricket"
)

// refusalsMetric is the name under which push counts what Apple refuses.
const refusalsMetric = "touchline_push_refusals_total"

// feedState is what the poller and the feed's client tell; nil: nothing polls.
func (a *application) feedState() *cricketapi.Feed {
	if a.poller == nil {
		return nil
	}
	out := &cricketapi.Feed{Status: a.poller.Status()}
	if client, ok := a.Feed.(feedClient); ok {
		out.Oddities = client.Oddities()
	}
	return out
}

// pushState is what the coordinator reports, with the pushes of the matches that are on; nil: nothing is pushed.
func (a *application) pushState() *cricketapi.Pushes {
	if a.push == nil {
		return nil
	}
	out := &cricketapi.Pushes{Status: a.push.Status(), Reasons: countsOf(a.host.Metrics, refusalsMetric)}
	ids := map[string]bool{}
	if a.Featured != "" {
		ids[a.Featured] = true
	}
	if a.poller != nil {
		for _, m := range a.poller.Status().Matches {
			ids[m.MatchID] = true
		}
	}
	for id := range ids {
		v, err := a.push.View(context.WithoutCancel(a.host.Work), id) // counts stand after the work has ended
		if err != nil {
			continue // the store says so itself
		}
		out.Counts.Sent += v.Pushes.Sent
		out.Counts.Accepted += v.Pushes.Accepted
		out.Counts.Refused += v.Pushes.Refused
	}
	return out
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
	// Oddities counts what the feed sent that it should not have.
	Oddities() map[string]int64
	// Collector returns its metrics.
	Collector() prometheus.Collector
}

package cricketapp

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/web"
)

// refusalsMetric is the metric that counts Apple's refusals.
const refusalsMetric = "touchline_push_refusals_total"

// feedState returns the status of the poller and the feed's client; nil without a poller.
func (a *application) feedState() *web.Feed {
	if a.poller == nil {
		return nil
	}
	out := &web.Feed{Status: a.poller.Status()}
	if client, ok := a.Feed.(feedClient); ok {
		out.Oddities = client.Oddities()
	}
	return out
}

// pushState returns the coordinator's status, with the counts of live matches; nil without pushes.
func (a *application) pushState() *web.Pushes {
	if a.push == nil {
		return nil
	}
	out := &web.Pushes{Status: a.push.Status(), Reasons: countsOf(a.host.Metrics, refusalsMetric)}
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
		v, err := a.push.View(context.WithoutCancel(a.host.Work), id) // the counts remain after the work has ended
		if err != nil {
			continue // the store reports its own failure
		}
		out.Counts.Sent += v.Pushes.Sent
		out.Counts.Accepted += v.Pushes.Accepted
		out.Counts.Refused += v.Pushes.Refused
	}
	return out
}

// channelOf returns the id of the channel that this node pushes a match on; empty if there is none.
func (a *application) channelOf(ctx context.Context, matchID string) (string, error) {
	if a.push == nil {
		return "", nil
	}
	v, err := a.push.View(ctx, matchID)
	return v.ChannelID, err
}

// countsOf returns the values of a counter with one label by that label. Metrics that cannot be gathered are left out.
func countsOf(from prometheus.Gatherer, name string) map[string]int64 {
	out := map[string]int64{}
	families, _ := from.Gather() // families has what could be gathered
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

// feedClient has the statistics of an HTTP feed; sportmonks.Client implements it.
type feedClient interface {
	// Oddities counts unexpected values in the feed.
	Oddities() map[string]int64
	// Collector returns its metrics.
	Collector() prometheus.Collector
}

package edge

import (
	"github.com/prometheus/client_golang/prometheus"

	cricketapi "github.com/touchline/touchline/httpapi/cricket"
)

// refusalsMetric is the name under which push counts what Apple refuses.
const refusalsMetric = "touchline_push_refusals_total"

// feedState is what the poller and the feed's client tell; nil: nothing polls.
func (n *Node) feedState() *cricketapi.Feed {
	if n.poller == nil {
		return nil
	}
	out := &cricketapi.Feed{Status: n.poller.Status()}
	if client, ok := n.parts.Feed.(feedClient); ok {
		out.Oddities = client.Oddities()
	}
	return out
}

// pushState is what the coordinator tells; nil: nothing is pushed.
func (n *Node) pushState(metrics prometheus.Gatherer) *cricketapi.Pushes {
	if n.push == nil {
		return nil
	}
	out := &cricketapi.Pushes{Status: n.push.Status(), Reasons: countsOf(metrics, refusalsMetric)}
	for _, c := range n.pushCounts() {
		out.Counts.Sent += c.Sent
		out.Counts.Accepted += c.Accepted
		out.Counts.Refused += c.Refused
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

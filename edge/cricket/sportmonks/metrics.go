package sportmonks

import "github.com/prometheus/client_golang/prometheus"

// collector shows the state of the feed when it is scraped.
type collector struct{ *Client }

// Collector returns the client's metrics.
func (c *Client) Collector() prometheus.Collector { return collector{c} }

// Describe implements prometheus.Collector. It describes nothing, because the oddities are not known in advance.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, name, help string, v float64, labels ...string) { // names of labels, then their values
		desc := prometheus.NewDesc("touchline_feed_"+name, help, labels[:len(labels)/2], nil)
		ch <- prometheus.MustNewConstMetric(desc, kind, v, labels[len(labels)/2:]...)
	}
	budgets := c.Budgets()
	for name, h := range c.Health() {
		of := []string{"endpoint", string(name)}
		send(prometheus.CounterValue, "calls_total", "Requests sent to the feed.", float64(h.Calls), of...)
		send(prometheus.CounterValue, "failures_total", "Reads that got no good answer.", float64(h.Failed), of...)
		send(prometheus.GaugeValue, "budget_limit", "Calls that the feed allows in an hour.", float64(budgets[name].Limit), of...)
		send(prometheus.GaugeValue, "budget_remaining", "Calls that are left in this hour.", float64(budgets[name].Remaining), of...)
		send(prometheus.GaugeValue, "alarm", "1 if the feed refuses the token: operator action needed.", oneIf(h.Alarm != ""), of...)
		for _, s := range []State{StateClosed, StateOpen, StateHalfOpen, StateRefused, StateResting, StateBroke} {
			send(prometheus.GaugeValue, "endpoint_state", "1 for the state that an endpoint is in.", oneIf(h.State == s),
				"endpoint", "state", string(name), string(s))
		}
	}
	for kind, n := range c.Oddities() {
		send(prometheus.CounterValue, "oddities_total", "Unexpected or unknown values in the feed.", float64(n), "kind", kind)
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

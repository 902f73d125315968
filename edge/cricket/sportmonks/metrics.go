package sportmonks

import "github.com/prometheus/client_golang/prometheus"

// collector shows what the client knows of the feed when it is scraped.
type collector struct {
	client                                       *Client
	calls, failed, limit, remaining, state, odds *prometheus.Desc
	alarm                                        *prometheus.Desc
}

// Collector returns the client's metrics.
func (c *Client) Collector() prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("touchline_feed_"+name, help, labels, nil)
	}
	return &collector{
		client:    c,
		calls:     desc("calls_total", "Requests sent to the feed.", "endpoint"),
		failed:    desc("failures_total", "Reads that got no good answer.", "endpoint"),
		limit:     desc("budget_limit", "Calls that the feed allows in an hour.", "endpoint"),
		remaining: desc("budget_remaining", "Calls that are left in this hour.", "endpoint"),
		state:     desc("endpoint_state", "1 for the state that an endpoint is in.", "endpoint", "state"),
		alarm:     desc("alarm", "1 if the feed refuses the token: operator action needed.", "endpoint"),
		odds:      desc("oddities_total", "Unexpected or unknown values in the feed.", "kind"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.calls, c.failed, c.limit, c.remaining, c.state, c.alarm, c.odds} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	budgets := c.client.Budgets()
	for name, h := range c.client.Health() {
		endpoint := string(name)
		send(c.calls, prometheus.CounterValue, float64(h.Calls), endpoint)
		send(c.failed, prometheus.CounterValue, float64(h.Failed), endpoint)
		send(c.limit, prometheus.GaugeValue, float64(budgets[name].Limit), endpoint)
		send(c.remaining, prometheus.GaugeValue, float64(budgets[name].Remaining), endpoint)
		send(c.alarm, prometheus.GaugeValue, oneIf(h.Alarm != ""), endpoint)
		for _, s := range states() {
			send(c.state, prometheus.GaugeValue, oneIf(h.State == s), endpoint, string(s))
		}
	}
	for kind, n := range c.client.Oddities() {
		send(c.odds, prometheus.CounterValue, float64(n), kind)
	}
}

func states() []State {
	return []State{StateClosed, StateOpen, StateHalfOpen, StateRefused, StateResting, StateBroke}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

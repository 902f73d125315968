package poll

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// tornAlarm is how many readings in a row of which score and balls disagree are for a person to look at.
const tornAlarm = 6

// collector shows how the jobs go when it is scraped.
type collector struct {
	poller                              *Poller
	runs, failed, last                  *prometheus.Desc
	matches, takeovers, finals, leading *prometheus.Desc
	cached, tooBig                      *prometheus.Desc
	seat, nodes, observed, given, torn  *prometheus.Desc
}

// Collector returns the poller's metrics.
func (p *Poller) Collector() prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("touchline_cricket_"+name, help, labels, nil)
	}
	return &collector{
		poller:    p,
		runs:      desc("job_runs_total", "Runs of a job.", "job"),
		failed:    desc("job_failures_total", "Runs of a job that ended with an error.", "job"),
		last:      desc("job_last_run_timestamp_seconds", "When a job ran last, by the node's clock.", "job"),
		matches:   desc("watched_matches", "Matches that this node watches.", "status", "phase"),
		takeovers: desc("takeovers_total", "Matches taken over from nodes that had gone silent."),
		finals:    desc("final_reads_total", "Reads for the end of a match."),
		leading:   desc("feed_leading", "1 while this node finds and registers matches for all."),
		seat:      desc("seat", "This node's slot among the nodes that poll, from 1; 0: none."),
		nodes:     desc("polling_nodes", "Nodes that poll, as this one sees them."),
		observed:  desc("observed_readings_total", "Reads for this node's own readers only, while the locks were out of reach."),
		torn:      desc("torn_matches", "Matches whose score and balls have disagreed for six reads: check the feed."),
		given:     desc("given_away_total", "Matches handed over to nodes that joined later."),
		cached:    desc("fixture_cache_writes_total", "Replies written to the fixture cache."),
		tooBig:    desc("fixture_cache_too_large_total", "Replies too large for the fixture cache."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.runs, c.failed, c.last, c.matches, c.takeovers, c.finals, c.leading, c.cached, c.tooBig,
		c.seat, c.nodes, c.observed, c.given, c.torn,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	s := c.poller.Status()
	for i := range s.Jobs {
		j := &s.Jobs[i]
		send(c.runs, prometheus.CounterValue, float64(j.Runs), j.Name)
		send(c.failed, prometheus.CounterValue, float64(j.Failed), j.Name)
		if !j.LastRun.IsZero() {
			send(c.last, prometheus.GaugeValue, float64(j.LastRun.UnixMilli())/float64(time.Second/time.Millisecond), j.Name)
		}
	}
	matches, torn := map[[2]string]int{}, 0
	for i := range s.Matches {
		if s.Matches[i].Torn >= tornAlarm {
			torn++
		}
		matches[[2]string{s.Matches[i].Status, string(s.Matches[i].Phase)}]++
	}
	for at, n := range matches {
		send(c.matches, prometheus.GaugeValue, float64(n), at[0], at[1])
	}
	leading := 0.0
	if s.Leading {
		leading = 1
	}
	send(c.leading, prometheus.GaugeValue, leading)
	send(c.seat, prometheus.GaugeValue, float64(s.Seat))
	send(c.torn, prometheus.GaugeValue, float64(torn))
	send(c.nodes, prometheus.GaugeValue, float64(len(s.Nodes)))
	for d, v := range map[*prometheus.Desc]int64{
		c.takeovers: s.Takeovers, c.finals: s.FinalReads, c.cached: s.Cached, c.tooBig: s.TooBig, c.observed: s.Observed, c.given: s.GivenAway,
	} {
		send(d, prometheus.CounterValue, float64(v))
	}
}

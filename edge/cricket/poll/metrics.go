package poll

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// inconsistentAlarm is how many consecutive snapshots with disagreeing score and balls call for an operator.
const inconsistentAlarm = 6

// collector reads the status of the jobs when it is scraped.
type collector struct{ *Poller }

// Collector returns the poller's metrics.
func (p *Poller) Collector() prometheus.Collector { return collector{p} }

// Describe implements prometheus.Collector. It describes nothing, because matches and jobs come and go.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, name, help string, v float64, labels ...string) { // names of labels, then their values
		desc := prometheus.NewDesc("touchline_cricket_"+name, help, labels[:len(labels)/2], nil)
		ch <- prometheus.MustNewConstMetric(desc, kind, v, labels[len(labels)/2:]...)
	}
	s := c.Status()
	for i := range s.Jobs {
		j := &s.Jobs[i]
		send(prometheus.CounterValue, "job_runs_total", "Runs of a job.", float64(j.Runs), "job", j.Name)
		send(prometheus.CounterValue, "job_failures_total", "Runs of a job that ended with an error.", float64(j.Failed), "job", j.Name)
		if !j.LastRun.IsZero() {
			at := float64(j.LastRun.UnixMilli()) / float64(time.Second/time.Millisecond)
			send(prometheus.GaugeValue, "job_last_run_timestamp_seconds", "When a job ran last, by the node's clock.", at, "job", j.Name)
		}
	}
	matches, inconsistent, leading := map[[2]string]int{}, 0, 0
	for i := range s.Matches {
		if s.Matches[i].Inconsistent >= inconsistentAlarm {
			inconsistent++
		}
		matches[[2]string{s.Matches[i].Status, string(s.Matches[i].Phase)}]++
	}
	for at, n := range matches {
		send(prometheus.GaugeValue, "watched_matches", "Matches that this node watches.", float64(n), "status", "phase", at[0], at[1])
	}
	if s.Leading {
		leading = 1
	}
	for _, m := range []struct {
		name, help string
		v          int
	}{
		{"feed_leading", "1 while this node finds and registers matches for all.", leading},
		{"seat", "This node's slot among the nodes that poll, from 1; 0: none.", s.Seat},
		{"torn_matches", "Matches whose score and balls have disagreed for six reads: check the feed.", inconsistent},
		{"polling_nodes", "Nodes that poll, as this one sees them.", len(s.Nodes)},
	} {
		send(prometheus.GaugeValue, m.name, m.help, float64(m.v))
	}
	for _, m := range []struct {
		name, help string
		v          int64
	}{
		{"takeovers_total", "Matches taken over from nodes that had gone silent.", s.Takeovers},
		{"final_reads_total", "Reads for the end of a match.", s.FinalReads},
		{"observed_readings_total", "Reads for this node's own readers only, while the locks were out of reach.", s.Observed},
		{"given_away_total", "Matches handed over to nodes that joined later.", s.GivenAway},
		{"fixture_cache_writes_total", "Replies written to the fixture cache.", s.Cached},
		{"fixture_cache_too_large_total", "Replies too large for the fixture cache.", s.TooBig},
	} {
		send(prometheus.CounterValue, m.name, m.help, float64(m.v))
	}
}

package edge

import (
	"github.com/prometheus/client_golang/prometheus"
)

// figure is one number of the node as a metric.
type figure struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*reading) float64
}

// nodeCollector reads store and poller when it is scraped.
type nodeCollector struct {
	node    *Node
	figures []figure
}

func (n *Node) collector() prometheus.Collector {
	c := &nodeCollector{node: n}
	c.add("store_commits_total", "Commits that wrote.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Commits) })
	c.add("store_transactions_total", "Transactions in those commits.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Members) })
	c.add("store_commit_seconds", "Time of a commit, weighted to the last ten.", prometheus.GaugeValue,
		func(r *reading) float64 { return r.store.MeanCommit.Seconds() })
	c.add("store_refused_commits_total", "Commits refused for lack of room.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Refused) })
	c.add("store_swept_items_total", "Items deleted because their time was over.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Swept) })
	c.add("store_filling_indexes", "Indexes that are being filled.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(len(r.store.Filling)) })
	c.add("store_dropping_buckets", "Tables and indexes that were dropped and are being emptied.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(len(r.store.Dropping)) })
	c.add("store_file_bytes", "Size of the database file.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.FileBytes) })
	c.add("store_open_readers", "Read transactions that are open.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.OpenReaders) })
	c.add("store_oldest_reader_seconds", "Age of the oldest read transaction.", prometheus.GaugeValue,
		func(r *reading) float64 { return r.store.OldestReader.Seconds() })
	c.add("journal_first_sequence", "First record that has not been trimmed.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.JournalFirst) })
	c.add("journal_last_sequence", "Last record.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.JournalLast) })
	c.add("feed_polls_total", "Calls of the live list.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.poll.Polls) })
	c.add("feed_unchanged_total", "Answers that were the one before.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.poll.Unchanged) })
	c.add("feed_failed_total", "Calls without a good answer.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.poll.Failed) })
	c.add("leases_held", "Locks that this node holds.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.leases) })
	return c
}

func (c *nodeCollector) add(name, help string, kind prometheus.ValueType, value func(*reading) float64) {
	c.figures = append(c.figures, figure{prometheus.NewDesc("touchline_"+name, help, nil, nil), kind, value})
}

// Describe implements prometheus.Collector.
func (c *nodeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range c.figures {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (c *nodeCollector) Collect(ch chan<- prometheus.Metric) {
	r := c.node.read()
	for _, f := range c.figures {
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.value(r))
	}
}

package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/store"
)

// reading is what the node's parts say of themselves at one instant.
type reading struct {
	store  store.Stats
	leases int
}

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
	c.add("store_commits_total", "Commits with changes.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Commits) })
	c.add("store_transactions_total", "Transactions in those commits.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Members) })
	c.add("store_commit_seconds", "Commit time, averaged over about the last ten.", prometheus.GaugeValue,
		func(r *reading) float64 { return r.store.MeanCommit.Seconds() })
	c.add("store_refused_commits_total", "Commits refused for lack of room.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Refused) })
	c.add("store_writer_held_seconds", "How long the running write transaction has held the writer.", prometheus.GaugeValue,
		func(r *reading) float64 { return r.store.Held.Seconds() })
	c.add("store_long_turns_total", "Transactions that kept other writers waiting for more than 100 ms.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.LongTurns) })
	c.add("store_swept_items_total", "Items deleted after their TTL.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Swept) })
	c.add("store_filling_indexes", "Indexes that are being filled.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(len(r.store.Filling)) })
	c.add("store_dropping_buckets", "Tables and indexes that were dropped and are being emptied.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(len(r.store.Dropping)) })
	c.add("store_damaged_items", "Damaged items, index entries and journal records that the daily pass found.",
		prometheus.GaugeValue, func(r *reading) float64 { return float64(r.store.Verify.Damaged) })
	c.add("store_damaged_reads_total", "Requests refused because they met a damaged item.", prometheus.CounterValue,
		func(r *reading) float64 { return float64(r.store.Verify.Refused) })
	c.add("store_verified_timestamp_seconds", "When the last pass over all items ended; 0: none since the start.", prometheus.GaugeValue,
		func(r *reading) float64 { return max(0, float64(r.store.Verify.Ended.Unix())) })
	c.add("store_file_bytes", "Size of the database file.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.FileBytes) })
	c.add("store_open_readers", "Read transactions that are open.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.OpenReaders) })
	c.add("store_oldest_reader_seconds", "Age of the oldest read transaction.", prometheus.GaugeValue,
		func(r *reading) float64 { return r.store.OldestReader.Seconds() })
	c.add("journal_first_sequence", "First record that has not been trimmed.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.Journal.First) })
	c.add("journal_last_sequence", "Last record.", prometheus.GaugeValue,
		func(r *reading) float64 { return float64(r.store.Journal.Last) })
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
	r := &reading{store: c.node.store.Stats(), leases: len(c.node.held())}
	for _, f := range c.figures {
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.value(r))
	}
}

// certificateMetric is when the certificate of HTTPS expires.
func certificateMetric(s certs.Source) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "touchline_tls_certificate_expiry_timestamp_seconds", Help: "When the certificate of HTTPS expires; 0: there is none yet.",
	}, func() float64 { return max(0, float64(s.State().NotAfter.Unix())) })
}

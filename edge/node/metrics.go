package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/internal/certs"
)

// nodeCollector reads the store when it is scraped.
type nodeCollector struct{ *Node }

// Describe implements prometheus.Collector.
func (c nodeCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c nodeCollector) Collect(ch chan<- prometheus.Metric) {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	send := func(kind prometheus.ValueType, name, help string, v float64) {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("touchline_"+name, help, nil, nil), kind, v)
	}
	st := c.store.Stats()
	send(counter, "store_commits_total", "Commits with changes.", float64(st.Commits))
	send(counter, "store_transactions_total", "Transactions in those commits.", float64(st.Members))
	send(gauge, "store_commit_seconds", "Commit time, averaged over about the last ten.", st.MeanCommit.Seconds())
	send(counter, "store_refused_commits_total", "Commits refused for lack of room.", float64(st.Refused))
	send(gauge, "store_writer_held_seconds", "How long the running write transaction has held the writer.", st.Held.Seconds())
	send(counter, "store_long_turns_total", "Transactions that kept other writers waiting for more than 100 ms.", float64(st.LongTurns))
	send(counter, "store_swept_items_total", "Items deleted after their TTL.", float64(st.Swept))
	send(gauge, "store_filling_indexes", "Indexes that are being filled.", float64(len(st.Filling)))
	send(gauge, "store_dropping_buckets", "Tables and indexes that were dropped and are being emptied.", float64(len(st.Dropping)))
	send(gauge, "store_damaged_items", "Damaged items, index entries and journal records that the daily pass found.", float64(st.Verify.Damaged))
	send(counter, "store_damaged_reads_total", "Requests refused because they met a damaged item.", float64(st.Verify.Refused))
	send(gauge, "store_verified_timestamp_seconds", "When the last pass over all items ended; 0: none since the start.", max(0, float64(st.Verify.Ended.Unix())))
	send(gauge, "store_file_bytes", "Size of the database file.", float64(st.FileBytes))
	send(gauge, "store_open_readers", "Read transactions that are open.", float64(st.OpenReaders))
	send(gauge, "store_oldest_reader_seconds", "Age of the oldest read transaction.", st.OldestReader.Seconds())
	send(gauge, "journal_first_sequence", "First record that has not been trimmed.", float64(st.Journal.First))
	send(gauge, "journal_last_sequence", "Last record.", float64(st.Journal.Last))
	send(counter, "locks_went_back_total", "Records of locks that went back to an earlier fence: the locks table was restored, or something else writes to it.", float64(c.falls()))
	if rows, _, err := c.store.UnreadableItems(c.work); err == nil {
		send(gauge, "unreadable_rows", "Stored rows that an application met and could not decode: it leaves them out.", float64(len(rows)))
	}
	send(gauge, "leases_held", "Locks that this node holds.", float64(len(c.heldLeases())))
}

// certificateMetric returns a gauge of the HTTPS certificate's expiry.
func certificateMetric(s certs.Source) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "touchline_tls_certificate_expiry_timestamp_seconds", Help: "When the certificate of HTTPS expires; 0: there is none yet.",
	}, func() float64 { return max(0, float64(s.State().NotAfter.Unix())) })
}

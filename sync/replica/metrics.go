package replica

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/sync/replica/feed"
)

// Collector returns Status as metrics, read on each scrape.
func (r *Replica) Collector() prometheus.Collector {
	c := &collector{r: r}
	c.links()
	c.queues()
	c.standstills()
	c.records()
	c.rules()
	return c
}

// metric is one metric family.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(st *Status, emit func(v float64, labels ...string))
}

type collector struct {
	r        *Replica
	families []metric
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

func (c *collector) add(name, help string, kind prometheus.ValueType, value func(st *Status) float64) {
	c.each(name, help, kind, nil, func(st *Status, emit func(float64, ...string)) { emit(value(st)) })
}

func (c *collector) each(name, help string, kind prometheus.ValueType, labels []string, value func(st *Status, emit func(float64, ...string))) {
	c.families = append(c.families, metric{prometheus.NewDesc("touchline_sync_"+name, help, labels, nil), kind, value})
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// seconds returns a Prometheus timestamp; 0: none.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func (c *collector) links() {
	c.add("online", "1 while the cloud can be reached.", gauge, func(st *Status) float64 { return yes(st.Up) })
	c.add("offline_since_seconds", "When the cloud went away, as a Unix time; 0: it is there.", gauge, func(st *Status) float64 {
		if st.Up {
			return 0
		}
		return seconds(st.Away)
	})
	c.add("disconnects_total", "Times that the cloud went away.", counter, func(st *Status) float64 { return float64(st.Drops) })
	c.add("last_error_seconds", "When the cloud last could not be reached, as a Unix time.", gauge, func(st *Status) float64 { return seconds(st.LastErrorAt) })
	c.add("lost_answers_ratio", "Share of the requests of the last two minutes that were never answered; 0: hardly any, or the cloud is away.", gauge,
		func(st *Status) float64 { return st.LostShare })
	c.add("clock_skew_seconds", "The cloud's clock minus this machine's.", gauge, func(st *Status) float64 { return st.Skew })
	c.add("requests_total", "Requests to the cloud since the start.", counter, func(st *Status) float64 { return float64(st.Usage.Requests) })
	c.add("write_units_total", "Write units that the cloud has counted for them.", counter, func(st *Status) float64 { return st.Usage.WriteUnits })
	c.add("read_units_total", "Read units that the cloud has counted for them.", counter, func(st *Status) float64 { return st.Usage.ReadUnits })
	c.add("incarnation", "How often the node has left its history.", gauge, func(st *Status) float64 { return float64(st.Node.Incarnation) })
	c.add("clone_alarm", "1 while nothing is sent because another process works under this node's name.", gauge,
		func(st *Status) float64 { return yes(st.Node.Stopped != "") })
}

func (c *collector) queues() {
	c.each("waiting_writes", "Writes that the cloud does not have yet.", gauge, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		for i := range st.Tables {
			emit(float64(st.Tables[i].Waiting), st.Tables[i].Table)
		}
	})
	c.each("waiting_bytes", "Bytes of them.", gauge, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		for i := range st.Tables {
			emit(float64(st.Tables[i].Bytes), st.Tables[i].Table)
		}
	})
	c.each("table_stopped", "1 for a table to which nothing is sent until an operator acts.", gauge, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		for i := range st.Tables {
			emit(yes(st.Tables[i].Stopped != nil), st.Tables[i].Table)
		}
	})
	c.each("table_send_rate", "Sends a second to which the cloud's throttling has slowed a table down; 0: as fast as it goes.", gauge, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		for i := range st.Tables {
			emit(st.Tables[i].Pace.Rate, st.Tables[i].Table)
		}
	})
	c.each("throttled_total", "Throttled requests.", counter, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		for i := range st.Tables {
			emit(float64(st.Tables[i].Pace.Throttled), st.Tables[i].Table)
		}
	})
	c.add("lag_seconds", "Age of the oldest write that the cloud does not have.", gauge, func(st *Status) float64 { return st.LagSeconds })
	c.add("unsynced_since_seconds", "When it was written, as a Unix time; 0: there is none, or the clock was not set.", gauge, func(st *Status) float64 { return seconds(st.Oldest) })
	c.add("unanswered_writes", "Writes that are on their way, or were sent and not answered.", gauge, func(st *Status) float64 { return float64(st.Unanswered) })
	c.add("unkept_answers", "Writes whose answers cannot be stored here; that is tried again.", gauge, func(st *Status) float64 { return float64(st.Unkept) })
	c.add("doubtful_writes", "Writes that wait and are not shown: their condition does not hold here.", gauge, func(st *Status) float64 { return float64(st.Doubtful) })
	c.add("busy_lanes", "Workers with a request in flight.", gauge, func(st *Status) (n float64) {
		for i := range st.Workers {
			n += yes(st.Workers[i].Busy)
		}
		return n
	})
	c.add("parked_writes", "Writes that wait by themselves while their worker goes on, at most 100 a worker.", gauge, func(st *Status) (n float64) {
		for i := range st.Workers {
			n += float64(len(st.Workers[i].Parked))
		}
		return n
	})
}

// standstills are the metrics of what does not move.
func (c *collector) standstills() {
	c.each("stopped_waiting_writes", "Writes that wait for a stopped table, transactions that begin in another table included.", gauge, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		for i := range st.Tables {
			if st.Tables[i].Stopped != nil {
				emit(float64(st.Tables[i].Behind), st.Tables[i].Table)
			}
		}
	})
	c.each("table_stands", "1 for a table whose writes wait, and of which none has been sent for three intervals although the cloud can be reached.", gauge, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		for i := range st.Tables {
			emit(yes(!st.Tables[i].Stands.IsZero()), st.Tables[i].Table)
		}
	})
	c.each("reads_refused", "1 for a table of which reads that requests depend on have been refused for three intervals although the cloud can be reached.", gauge, []string{"table"}, func(st *Status, emit func(float64, ...string)) {
		refused := map[string]float64{}
		for _, table := range st.SendsOnly {
			refused[table] = 0
		}
		for i := range st.Refused {
			refused[st.Refused[i].Table] = 1
		}
		for table, n := range refused {
			emit(n, table)
		}
	})
	c.add("standstills", "Alarms of what does not move although the cloud can be reached.", gauge, func(st *Status) float64 { return float64(len(st.Standstill)) })
}

func (c *collector) records() {
	c.add("open_conflicts", "Conflicts that need a decision.", gauge, func(st *Status) float64 { return float64(st.Conflicts.Open) })
	c.add("quarantined_writes", "Records of writes that the cloud can never accept as they are.", gauge,
		func(st *Status) float64 { return float64(st.Conflicts.Quarantined) })
	c.add("conflict_records", "Records in the conflict log.", gauge, func(st *Status) float64 { return float64(st.Conflicts.Kept) })
	c.add("conflict_log_bytes", "Size of the conflict log.", gauge, func(st *Status) float64 { return float64(st.Conflicts.Bytes) })
	c.add("replay_log_writes", "Writes that the cloud has and that are kept, for a cloud that is restored.", gauge,
		func(st *Status) float64 { return float64(st.Replay.Entries) })
	c.add("replay_log_bytes", "Bytes of them.", gauge, func(st *Status) float64 { return float64(st.Replay.Bytes) })
	c.add("budget_used_ratio", "Share of the fullest budget that is used up.", gauge, func(st *Status) float64 { return st.Budget.Used })
	c.add("budget_level", "0 ok, 1 warn, 2 tight, 3 rebuildable writes refused, 4 all but corrections, 5 all.", gauge,
		func(st *Status) float64 { return float64(st.Budget.Level) })
	c.add("refused_writes_total", "Writes refused because too much waits.", counter, func(st *Status) float64 { return float64(st.Budget.Refused) })
}

func (c *collector) rules() {
	each := func(name, help string, kind prometheus.ValueType, value func(f *feed.Status) float64) {
		c.each(name, help, kind, []string{"rule"}, func(st *Status, emit func(float64, ...string)) {
			for i := range st.Feed {
				emit(value(&st.Feed[i]), st.Feed[i].Rule)
			}
		})
	}
	each("feed_last_pass_seconds", "End of the last complete reading, as a Unix time.", gauge, func(f *feed.Status) float64 { return seconds(f.LastPass) })
	each("feed_late", "1 while nothing has been read for three intervals although the cloud can be reached.", gauge, func(f *feed.Status) float64 { return yes(!f.LateSince.IsZero()) })
	each("feed_items", "Items that it had.", gauge, func(f *feed.Status) float64 { return float64(f.Items) })
	each("feed_passes_total", "Complete readings.", counter, func(f *feed.Status) float64 { return float64(f.Passes) })
	each("feed_errors_total", "Readings that failed.", counter, func(f *feed.Status) float64 { return float64(f.Errors) })
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for i := range c.families {
		ch <- c.families[i].desc
	}
}

// Collect implements prometheus.Collector. If the store cannot be read it emits nothing; other metrics report that.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	st, err := c.r.Status(ctx)
	if err != nil {
		return
	}
	for i := range c.families {
		f := &c.families[i]
		f.value(&st, func(v float64, labels ...string) { ch <- prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...) })
	}
}

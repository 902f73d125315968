package push

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/internal/fault"
)

// metrics are the coordinator's metrics. They count even if no registry collects them.
type metrics struct {
	pushes   *prometheus.CounterVec
	refusals *prometheus.CounterVec
	alarms   *prometheus.CounterVec
	late     prometheus.Counter
	dropped  *prometheus.CounterVec
	sessions *prometheus.GaugeVec

	missing    prometheus.Gauge
	stragglers prometheus.Counter
	channels   *prometheus.CounterVec
	claims     *prometheus.CounterVec
	inherited  prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		pushes:   counter("touchline_push_total", "Pushes by purpose and outcome.", "kind", "outcome"),
		refusals: counter("touchline_push_refusals_total", "Pushes that were not accepted, by Apple's reason.", "reason"),
		alarms:   counter("touchline_push_alarms_total", "Answers that need an operator.", "reason"),
		late: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "touchline_push_alerts_late_total", Help: "Alerts that were too old to be sent.",
		}),
		dropped: counter("touchline_push_alerts_dropped_total",
			"Events of an alert type that were not announced, by rule: stale is news that was too old, baseline what came after a silence.", "rule"),
		stragglers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "touchline_push_stragglers_total", Help: "Pushes whose answers the loop did not wait for.",
		}),
		channels: counter("touchline_push_channels_total", "Broadcast channel calls by action and outcome.", "what", "outcome"),
		claims:   counter("touchline_push_claims_total", "Alerts that waited until the cloud had their event, by outcome.", "outcome"),
		inherited: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "touchline_push_inherited_total", Help: "Finished matches, taken over to end what phones still showed.",
		}),
		sessions: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "touchline_push_sessions", Help: "Live Activity sessions of matches in play, by status.",
		}, []string{"status"}),
		missing: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "touchline_push_cards_missing", Help: "Phones that show no card two minutes after Apple accepted its start, and get ordinary alerts.",
		}),
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.pushes, m.refusals, m.alarms, m.late, m.dropped, m.sessions, m.stragglers, m.channels, m.claims, m.inherited, m.missing} {
		if err := r.Register(c); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "metrics", "the metrics of push cannot be registered")
		}
	}
	return m, nil
}

// setSessions sets the gauge of every status, absent ones to zero.
func (m *metrics) setSessions(n map[phone.SessionStatus]float64) {
	for _, s := range []phone.SessionStatus{
		phone.SessionPending, phone.SessionActive, phone.SessionSuspended, phone.SessionEnded,
	} {
		m.sessions.WithLabelValues(string(s)).Set(n[s])
	}
}

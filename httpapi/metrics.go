package httpapi

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/touchline/touchline/httpapi/ask"
)

// metrics are the metrics of httpapi itself.
type metrics struct {
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	streams   *prometheus.GaugeVec
	snapshots prometheus.Counter
	asks      *prometheus.CounterVec
}

// newMetrics registers the metrics. It panics if they are registered already.
func newMetrics(reg prometheus.Registerer) *metrics {
	with := promauto.With(reg)
	return &metrics{
		requests: with.NewCounterVec(prometheus.CounterOpts{
			Name: "touchline_http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		seconds: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "touchline_http_request_seconds", Help: "Time to answer; of a stream, how long it was open.",
			Buckets: []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10},
		}, []string{"route"}),
		streams: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "touchline_http_streams", Help: "Open streams of server-sent events.",
		}, []string{"kind"}),
		snapshots: with.NewCounter(prometheus.CounterOpts{
			Name: "touchline_http_stream_snapshots_total", Help: "Times a stream fell behind and was given a snapshot.",
		}),
		asks: with.NewCounterVec(prometheus.CounterOpts{
			Name: "touchline_http_cloud_asks_total", Help: "Questions to the cloud about rows that are not here, by result: read, failed, or over the budget.",
		}, []string{"result"}),
	}
}

// countQuestion counts a question to the cloud.
func (m *metrics) countQuestion(err error) {
	result := "read"
	if _, over := errors.AsType[*ask.OverBudgetError](err); over {
		result = "over_budget"
	} else if err != nil {
		result = "failed"
	}
	m.asks.WithLabelValues(result).Inc()
}

func (m *metrics) request(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(knownMethod(method), route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// knownMethod maps unknown methods to "other", so that clients cannot create time series.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	default:
		return "other"
	}
}

package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the metrics of httpapi itself.
type metrics struct {
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	streams   *prometheus.GaugeVec
	snapshots prometheus.Counter
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
	}
}

func (m *metrics) request(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(known(method), route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// known maps unknown methods to "other", so that clients cannot create time series.
func known(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	default:
		return "other"
	}
}

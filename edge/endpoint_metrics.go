package edge

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi"
)

// endpointMetrics count the requests of the DynamoDB API.
type endpointMetrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec

	mu     sync.Mutex
	counts map[request]uint64
}

// request is what requests are counted by. The outcome is ok or the name of the exception.
type request struct{ operation, outcome string }

func newEndpointMetrics() *endpointMetrics {
	return &endpointMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "touchline_dynamodb_requests_total", Help: "Requests of the DynamoDB API; the outcome is ok or an exception.",
		}, []string{"operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "touchline_dynamodb_request_seconds", Help: "Time to answer.",
			Buckets: []float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.1, 1},
		}, []string{"operation"}),
		counts: map[request]uint64{},
	}
}

// observe takes a request that was answered. What names no operation counts as one: a client must not make series.
func (m *endpointMetrics) observe(operation, outcome string, took time.Duration) {
	if outcome == "UnknownOperationException" {
		operation = "unknown"
	}
	m.requests.WithLabelValues(operation, outcome).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[request{operation, outcome}]++
}

// status lists the counts for /statusz, by operation and outcome.
func (m *endpointMetrics) status() []httpapi.RequestCount {
	out := []httpapi.RequestCount{}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range slices.SortedFunc(maps.Keys(m.counts), func(a, b request) int {
		return strings.Compare(a.operation+" "+a.outcome, b.operation+" "+b.outcome)
	}) {
		out = append(out, httpapi.RequestCount{Operation: r.operation, Outcome: r.outcome, Count: m.counts[r]})
	}
	return out
}

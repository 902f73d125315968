package dynamoapi

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/expr"
)

// metrics are the API's metrics.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	with := promauto.With(r)
	return &metrics{
		requests: with.NewCounterVec(prometheus.CounterOpts{
			Name: "touchline_dynamodb_requests_total", Help: "Requests of the DynamoDB API; the outcome is ok or the type of the error.",
		}, []string{"operation", "outcome"}),
		seconds: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "touchline_dynamodb_request_seconds", Help: "Time to answer a request of the DynamoDB API.",
			Buckets: []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.025, 0.1, 0.5, 2.5},
		}, []string{"operation"}),
	}
}

// count counts a request. Unknown operations share one name, so that clients cannot create time series.
func (a *API) count(operation string, refused *Error, took time.Duration) {
	if _, known := a.operations[operation]; !known {
		operation = "unknown"
	}
	outcome := "ok"
	if refused != nil {
		outcome = refused.name()
	}
	a.metrics.requests.WithLabelValues(operation, outcome).Inc()
	a.metrics.seconds.WithLabelValues(operation).Observe(took.Seconds())
}

// costlyEvery is the shortest interval between two log lines about requests that took too much work: a client that sends one sends
// more.
const costlyEvery = 10 * time.Second

// costly logs requests that were refused because of the work they took.
type costly struct {
	mu    sync.Mutex
	until time.Time // no log line before this
	more  int       // requests not logged since
}

// logRefused logs a request if it was refused for its work.
func (t *costly) logRefused(c *call, err error, took time.Duration) {
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != expr.CodeWork {
		return
	}
	now := c.api.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.until) {
		t.more++
		return
	}
	who, _ := CallerOf(c)
	c.api.cfg.Logger.WarnContext(c, "a request of the DynamoDB API took too much work and was refused",
		"key", who.Key, "operation", who.Operation, "tables", who.Tables, "ms", took.Milliseconds(), "notTold", t.more)
	t.until, t.more = now.Add(costlyEvery), 0
}

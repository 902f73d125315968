package dynamoapi

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	dto "github.com/prometheus/client_model/go"

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

// RequestCount is a number of requests. Outcome is "ok" or the name of the exception.
type RequestCount struct {
	Operation string `json:"operation"`
	Outcome   string `json:"outcome"`
	Count     uint64 `json:"count"`
}

// Requests returns the number of answers since the start, by operation and outcome.
func (a *API) Requests() []RequestCount {
	counters := make(chan prometheus.Metric)
	go func() {
		defer close(counters)
		a.metrics.requests.Collect(counters)
	}()
	out := []RequestCount{}
	for c := range counters {
		var m dto.Metric
		_ = c.Write(&m)        // never fails for a counter
		labels := m.GetLabel() // sorted by name: operation, outcome
		out = append(out, RequestCount{labels[0].GetValue(), labels[1].GetValue(), uint64(m.GetCounter().GetValue())})
	}
	slices.SortFunc(out, func(a, b RequestCount) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Outcome, b.Outcome))
	})
	return out
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

// tell logs a request if it was refused for its work.
func (t *costly) tell(c *call, err error, took time.Duration) {
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

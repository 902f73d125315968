package dynamoapi

import (
	"errors"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/expr"
)

// costlyEvery is how often one line of the log tells of requests that took too much work: who sends one sends more.
const costlyEvery = 10 * time.Second

// costly logs requests that were refused for the work that they took.
type costly struct {
	mu    sync.Mutex
	until time.Time // nothing more is told before
	more  int       // requests that were not told of
}

// tell logs a request if it was refused for that.
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

package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

const (
	consumed     = 64          // journal records per batch
	consumeAgain = time.Second // delay after an error; doubles with each further one
	consumeLast  = time.Minute // longest delay
	keepEvery    = 1000        // the cursor is saved at least this often, even if the records led to no writes
)

// errNothing rolls back a transaction that wrote nothing, to save a commit.
var errNothing = errors.New("the records led to no writes")

// consumer runs an app.Consumer.
type consumer struct {
	app.Consumer

	node   *Node
	of     string        // the application's name
	cursor string        // the cursor's name in the store
	at     atomic.Uint64 // last processed record; 0: not loaded yet
	kept   uint64        // at as saved in the store; lags while records lead to no writes
	failed atomic.Int64  // consecutive failures

	suspect uint64 // records up to this one are taken one by one: a batch up to it keeps failing
	skips   skipped
}

// newConsumer creates a consumer and registers its lag as a metric.
func (n *Node) newConsumer(of string, c app.Consumer, metrics prometheus.Registerer) *consumer {
	out := &consumer{Consumer: c, node: n, of: of, cursor: of + "/" + c.Name}
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "touchline_consumer_lag_records", Help: "Journal records that a consumer has not taken yet.",
		ConstLabels: prometheus.Labels{"application": of, "consumer": c.Name},
	}, out.lag))
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "touchline_consumer_skipped_records", Help: "Journal records that a consumer left out because it cannot handle them.",
		ConstLabels: prometheus.Labels{"application": of, "consumer": c.Name},
	}, func() float64 { return float64(len(out.skippedRecords())) }))
	return out
}

func (c *consumer) lag() float64 { return float64(c.node.store.Seq() - c.at.Load()) }

// readiness adds warnings about failing consumers to an application's own checks. They are retried, so the application stays ready.
func (n *Node) readiness(of string, own func(ctx context.Context) []operator.Check) func(ctx context.Context) []operator.Check {
	return func(ctx context.Context) (checks []operator.Check) {
		if own != nil {
			checks = own(ctx)
		}
		for _, c := range n.consumers {
			if failed := c.failed.Load(); c.of == of && failed > 0 {
				checks = append(checks, operator.Check{Name: "consumer " + c.cursor, Warning: fmt.Sprintf(
					"it failed %s in a row and is retried; journal records waiting for it: %.0f", operator.Count(int(failed), "time"), c.lag())})
			}
		}
		return checks
	}
}

// run processes the journal until ctx ends.
func (c *consumer) run(ctx context.Context) error {
	changed := clock.NewSignal()
	stop := c.node.store.Watch(changed)
	defer stop()
	for {
		more, err := c.processBatch(ctx)
		if err == nil {
			err = c.trySkipped(ctx)
		}
		again := c.nextTry() // zero: wait for a commit
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			failed := c.failed.Add(1)
			again = c.node.parts.Clock.Now().Add(min(consumeAgain<<min(failed-1, 10), consumeLast))
			if failed == 1 {
				c.node.parts.Log.Warn("a journal consumer failed and is retried", "consumer", c.cursor, "err", err)
			}
		default:
			c.failed.Store(0)
		}
		if more && err == nil {
			continue
		}
		if c.node.parts.Clock.Wait(ctx, again, changed) != nil {
			return nil
		}
	}
}

// processBatch processes the next batch; more reports whether there may be others.
func (c *consumer) processBatch(ctx context.Context) (more bool, err error) {
	s := c.node.store
	at := c.at.Load()
	if at == 0 {
		if err := s.View(ctx, func(tx *store.Tx) (err error) {
			if at, _, err = tx.Cursor(c.cursor); err != nil {
				return err
			}
			return c.loadSkipped(tx)
		}); err != nil {
			return false, err
		}
		c.at.Store(at)
		c.kept = at
	}
	if at == 0 || at+1 < s.FirstSeq() {
		return true, c.takeAnew(ctx)
	}
	size := consumed
	if at < c.suspect {
		size = 1
	}
	records, err := s.Journal(ctx, at, size)
	if err != nil || len(records) == 0 {
		return false, err
	}
	last := records[len(records)-1].Seq
	mine := slices.DeleteFunc(slices.Clone(records), func(r store.Record) bool { return !slices.Contains(c.Tables, r.Table) })
	if len(mine) == 0 && last-c.kept < keepEvery {
		c.at.Store(last)
		return true, nil
	}
	err = c.update(ctx, func(tx *store.Tx) (uint64, error) {
		if len(mine) == 0 {
			return last, nil
		}
		return last, c.Take(tx, mine)
	})
	switch {
	case err == nil || !c.gaveUp(err) || len(mine) == 0:
		return true, err
	case len(records) > 1:
		c.suspect = last
		return true, nil
	}
	return true, c.skip(ctx, skippedRecord{Table: mine[0].Table, Key: mine[0].Key}, last, err)
}

// takeAnew processes the whole state. If that keeps failing, the consumer goes on with the records that the journal still has.
func (c *consumer) takeAnew(ctx context.Context) error {
	err := c.update(ctx, func(tx *store.Tx) (uint64, error) { return tx.Seq(), c.Anew(tx) })
	if err == nil || !c.gaveUp(err) {
		return err
	}
	return c.skip(ctx, skippedRecord{}, max(c.node.store.FirstSeq()-1, 1), err)
}

// update commits the writes of do together with the cursor. If do writes nothing, the commit is skipped: the records are processed
// again after a restart. If do has done a slice of its work, its writes are committed without the cursor.
func (c *consumer) update(ctx context.Context, do func(tx *store.Tx) (upTo uint64, err error)) error {
	var upTo uint64
	sliced := false
	err := c.node.store.Update(ctx, func(tx *store.Tx) (err error) {
		before := tx.Seq()
		upTo, err = do(tx)
		if sliced = errors.Is(err, table.ErrMore) && tx.Seq() > before; sliced {
			return nil
		}
		if err != nil {
			return err
		}
		if tx.Seq() == before && c.kept > 0 && upTo-c.kept < keepEvery {
			return errNothing
		}
		return tx.SetCursor(c.cursor, upTo)
	})
	switch {
	case errors.Is(err, errNothing):
		c.at.Store(upTo)
		return nil
	case err == nil && sliced: // the same records again
	case err == nil:
		c.at.Store(upTo)
		c.kept = upTo
	}
	return err
}

package replica_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// sink is a cloud that accepts every Put and keeps nothing.
type sink struct {
	taken  atomic.Int64
	refuse string // a table that is missing
}

// Write implements remote.Cloud.
func (s *sink) Write(_ context.Context, c intent.Call) (attr.Item, error) {
	if c.Table == s.refuse {
		return nil, &intent.Error{Class: intent.NoTable, Err: errors.New("a test")}
	}
	s.taken.Add(1)
	return c.Item, nil
}

// Transact implements remote.Cloud.
func (s *sink) Transact(ctx context.Context, calls []intent.Call, _ string) error {
	_, err := s.Write(ctx, calls[0])
	return err
}

// Get implements remote.Cloud.
func (s *sink) Get(context.Context, string, attr.Item) (attr.Item, error) { return nil, nil }

// Read implements remote.Cloud.
func (s *sink) Read(context.Context, remote.Reading) (remote.Page, error) {
	return remote.Page{}, nil
}

// Skew implements remote.Cloud.
func (s *sink) Skew() time.Duration { return 0 }

// Table implements remote.Cloud.
func (s *sink) Table(_ context.Context, name string) (remote.TableState, error) {
	return remote.TableState{ID: name}, nil
}

// Transactions implements remote.Cloud.
func (s *sink) Transactions(context.Context) (bool, error) { return true, nil }

// KnowsServerTime implements remote.Cloud.
func (s *sink) KnowsServerTime() bool { return true }

// Usage implements remote.Cloud.
func (s *sink) Usage() remote.Usage { return remote.Usage{} }

// fillAs writes n small items into each of the tables in turn.
func fillAs(n *node, count int, tables ...string) {
	for done := 0; done < count; {
		n.update(func(tx *store.Tx) error {
			for range 500 {
				if done == count {
					return nil
				}
				for _, table := range tables {
					if _, err := tx.Put(store.PutItem{Table: table, Item: Item(fmt.Sprint("p", done), "s"), NoOld: true}); err != nil {
						return err
					}
				}
				done++
			}
			return nil
		})
	}
}

// A stopped table with a long queue holds up no other, and its waiting writes take no memory.
func TestLongQueueOfStoppedTable(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	to := &sink{refuse: "other"}
	count, workers := 20_000, 16
	if testing.Short() {
		count, workers = 2_000, 1
	}
	n = nodeOn(t, n.store, n.conn.cloud, func(c *replica.Config) { c.Cloud, c.Workers = to, workers })
	fillAs(n, count, "other", "data")
	n.run()
	n.until("all of the table that is there is sent", func() bool { return n.status().Waiting == int64(count) })
	n.stop()
	if got := n.r.InHand(); got > workers*1100 || got == 0 {
		t.Errorf("the workers hold %d batches of a stopped table", got)
	}
	if got := to.taken.Load(); got < int64(count) {
		t.Errorf("%d items arrived", got)
	}
}

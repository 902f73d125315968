package replica_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	faults "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// asked is a cloud that says whether it has transactions.
type asked struct {
	*conn
	has   bool
	err   func() error // nil: it says
	times atomic.Int32
}

// Transactions implements remote.Cloud.
func (a *asked) Transactions(context.Context) (bool, error) {
	a.times.Add(1)
	if a.err != nil {
		if err := a.err(); err != nil {
			return false, err
		}
	}
	return a.has, nil
}

func putTwo(tx *store.Tx) error {
	var w store.TransactWrite
	for _, sk := range []string{"a", "b"} {
		w.Items = append(w.Items, store.WriteItem{Put: &store.PutItem{Table: "data", Item: Item("t", sk, "v", 1)}})
	}
	return tx.TransactWrite(w)
}

// A cloud is asked once whether it has transactions, before anything that depends on it is sent. The next run knows it before it has
// reached the cloud.
func TestTransactionsAreAskedFor(t *testing.T) {
	for _, has := range []bool{true, false} {
		c := simcloud.New(simcloud.Options{NoTransactions: !has})
		c.Create(cloudTables()...)
		s := memoryStore(t, store.Options{Node: "a"})
		way := &asked{conn: &conn{cloud: c, node: "a"}, has: has}
		n := nodeOn(t, s, c, func(cfg *replica.Config) { cfg.Cloud = way })
		if err := s.Update(t.Context(), putTwo); err != nil {
			t.Errorf("has %v: refused before the cloud was asked: %v", has, err)
		}
		n.run()
		n.until("it is asked", func() bool { return way.times.Load() == 1 })
		if has {
			n.drained()
		} else {
			n.until("what cannot be sent says why", func() bool {
				for _, l := range n.status().Workers {
					if len(l.Parked) > 0 && l.Parked[0].Why == intent.WhyTransactions {
						return true
					}
				}
				return false
			})
		}
		n.stop()
		if got := way.times.Load(); got != 1 {
			t.Errorf("has %v: asked %d times", has, got)
		}

		late := &asked{conn: &conn{cloud: c, node: "a"}, err: offline}
		nodeOn(t, s, c, func(cfg *replica.Config) { cfg.Cloud = late })
		err := s.Update(t.Context(), putTwo)
		if got := err == nil; got != has || !has && !faults.Is(err, faults.Invalid) {
			t.Errorf("has %v: the next run, offline, says %v", has, err)
		}
		if late.times.Load() != 0 {
			t.Error("it was asked although it was not reached")
		}
	}
}

// Until a cloud says whether it has transactions, nothing is sent that it might not know.
func TestCloudThatDoesNotSay(t *testing.T) {
	var silent atomic.Bool
	silent.Store(true)
	way := &asked{has: true, err: func() error {
		if silent.Load() {
			return unknown()
		}
		return nil
	}}
	n := newNode(t, newCloud(), "a", func(cfg *replica.Config) {
		way.conn = cfg.Cloud.(*conn)
		cfg.Cloud = way
	})
	n.update(putTwo)
	n.run()
	n.until("it was asked", func() bool { return way.times.Load() > 0 })
	if len(n.conn.sent()) != 0 {
		t.Error("something was sent before it answered")
	}
	silent.Store(false)
	n.drained()
	n.same("data")
}

// goneError is a client error that says that the connection is gone.
type goneError struct{ gone bool }

func (goneError) Error() string   { return "a test: nobody answers" }
func (e goneError) Offline() bool { return e.gone }

// After one request without an answer the other workers go on. Whether it was carried out is unknown, so it is sent again unchanged.
func TestOneLostAnswer(t *testing.T) {
	for _, gone := range []bool{true, false} {
		n := newNode(t, newCloud(), "a")
		var first sync.Once
		n.conn.setFault(func(_ int, calls []intent.Call) (f fault) {
			if calls[0].Table == "data" {
				first.Do(func() { f.after = &intent.Error{Class: intent.Unknown, Err: goneError{gone}} })
			}
			return f
		})
		n.run()
		n.until("the cloud is there", func() bool { return n.status().Up })
		n.add("data", key("p", "x"), 1)
		n.drained()
		if drops := n.status().Drops; drops != 0 {
			t.Errorf("gone %v: after one lost answer the cloud went away %d times", gone, drops)
		}
		n.same("data")
		if got := n.get("data", key("p", "x")); !got["n"].Equal(Item("", "", "n", 1)["n"]) {
			t.Errorf("gone %v: it was applied twice: %v", gone, got)
		}
	}
}

// timed is a cloud that reports its cost and whether a server has shown its time.
type timed struct {
	*conn
	shown atomic.Bool
}

// KnowsServerTime implements remote.Cloud.
func (c *timed) KnowsServerTime() bool { return c.shown.Load() }

// Usage implements remote.Cloud.
func (c *timed) Usage() remote.Usage {
	return remote.Usage{Requests: 7, WriteUnits: 2.5, ReadUnits: 1.5}
}

// Writes made before a server has shown its time are stamped provisionally, even if the cloud was reached.
func TestSyncedIsTheClients(t *testing.T) {
	way := &timed{}
	n := newNode(t, newCloud(), "a", func(cfg *replica.Config) {
		way.conn = cfg.Cloud.(*conn)
		cfg.Cloud = way
	}).run()
	n.until("the cloud is there", func() bool { return n.status().Up })
	if n.r.KnowsServerTime() {
		t.Error("the time counts as known before a server has shown it")
	}
	way.shown.Store(true)
	if !n.r.KnowsServerTime() {
		t.Error("the time is not known although a server has shown it")
	}
	plain := newNode(t, newCloud(), "b")
	if plain.r.KnowsServerTime() {
		t.Error("the time is known before anything was reached")
	}
	plain.run()
	plain.until("the cloud is there", plain.r.KnowsServerTime)
}

func TestStatusTellsUsage(t *testing.T) {
	n := newNode(t, newCloud(), "a", func(cfg *replica.Config) { cfg.Cloud = &timed{conn: cfg.Cloud.(*conn)} })
	if got := n.status().Usage; got != (remote.Usage{Requests: 7, WriteUnits: 2.5, ReadUnits: 1.5}) {
		t.Errorf("used: %+v", got)
	}
	if got := newNode(t, newCloud(), "b").status().Usage; got != (remote.Usage{}) {
		t.Errorf("a cloud without usage counts: %+v", got)
	}
}

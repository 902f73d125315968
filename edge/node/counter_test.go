package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// counter is a small application that uses every part of the contract: people are counted at gates, and the counts are summed in a row
// for others to read. It has one table: "gate#NAME" is the count at a gate, "total" is derived.
type counter struct {
	host   *app.Host
	broken atomic.Bool  // its consumer fails
	ticks  atomic.Int64 // of its job at this node
	asked  atomic.Int64
}

const counts = "counter-counts"

// counterSettings is its section.
type counterSettings struct {
	Mount string `yaml:"mount"`
}

func (s *counterSettings) Path() string { return s.Mount }

func (s *counterSettings) Problems() []app.Problem { return nil }

func gate(name string) attr.Item { return attr.Item{"id": attr.S("gate#" + name)} }

func total() attr.Item { return attr.Item{"id": attr.S("total")} }

func (c *counter) app() *app.App {
	return &app.App{
		Name: "counter", Title: "Counter", Settings: &counterSettings{Mount: "/counter"},
		Schema: c.schema, Cloud: c.cloud, Open: c.open,
	}
}

func (c *counter) schema() migrations.Schema {
	return migrations.Schema{
		Tables: []store.TableSpec{{
			Name: counts, Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}},
			Policy: store.PolicyIntent, Why: "people count at several gates at once",
		}},
		Steps: []migrations.Step{{Name: "counter-opens", Run: func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: counts, Item: attr.Item{"id": attr.S("gate#main"), "n": attr.Int(0)}, Condition: "attribute_not_exists(id)"})
			return err
		}}},
	}
}

func (c *counter) cloud() app.Cloud {
	return app.Cloud{
		Reads:  []app.Read{{Table: counts, Every: app.Live}},
		Merge:  map[string]conflict.MergeFunc{counts: c.merge},
		Before: func(lock string) []replica.Rows { return nil },
	}
}

func (c *counter) open(_ context.Context, h *app.Host) (*app.Instance, error) {
	c.host = h
	return &app.Instance{
		API: httpapi.App{Routes: []httpapi.Route{
			{Method: http.MethodGet, Path: "/total", Access: httpapi.Public, Do: func(g *gin.Context) error {
				return httpapi.JSON(g, map[string]int64{"total": c.sumOf(g.Request.Context())}, nil)
			}},
			{Method: http.MethodPost, Path: "/gates/:name", Access: httpapi.User, Do: c.postCount},
			{Method: http.MethodGet, Path: "/broken", Access: httpapi.Public, Do: func(*gin.Context) error { panic("a bug of the counter") }},
		}, Problem: func(f *httpapi.Failure) any { return map[string]string{"wrong": f.Code} }},
		Loops:     []func(context.Context) error{c.tick},
		Consumers: []app.Consumer{{Name: "total", Tables: []string{counts}, Take: c.take, Anew: c.sum}},
		Commands: []admin.Command{{Path: "/counter/asked", Do: func(context.Context, json.RawMessage, func(admin.Progress)) (any, error) {
			return map[string]int64{"asked": c.asked.Add(1)}, nil
		}}},
	}, nil
}

// count adds to a gate; the first count opens it.
func (c *counter) count(ctx context.Context, name string, n int64) error {
	return c.host.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{Table: counts, Key: gate(name), Update: "ADD n :n", Params: expr.Params{Values: attr.Item{":n": attr.Int(n)}}})
		return err
	})
}

// postCount counts one at a gate, once per Idempotency-Key.
func (c *counter) postCount(g *gin.Context) error {
	key, err := httpapi.IdempotencyKey(g)
	if err != nil {
		return err
	}
	name := g.Param("name")
	hash, err := idempotency.Hash("count", name)
	if err != nil {
		return err
	}
	row := &idempotency.Row{Table: counts, Key: attr.Item{"id": attr.S("once#" + key)}, Hash: hash, Node: c.host.Node}
	out, err := httpapi.UpdateOnce(g, row, func(*store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
		add := store.UpdateItem{Table: counts, Key: gate(name), Update: "ADD n :n", Params: expr.Params{Values: attr.Item{":n": attr.Int(1)}}}
		return idempotency.Outcome{Status: http.StatusCreated}, []store.WriteItem{{Update: &add}}, nil
	})
	return httpapi.Answer(g, http.StatusCreated, map[string]bool{"repeated": out.Repeated}, err)
}

// openGate opens a gate that nobody has opened: if two nodes do, the first wins.
func (c *counter) openGate(ctx context.Context, name, by string) error {
	return c.host.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{
			Table: counts, Item: attr.Item{"id": gate(name)["id"], "n": attr.Int(0), "by": attr.S(by)}, Condition: "attribute_not_exists(id)",
		})
		return err
	})
}

// merge: a gate opened by another node is open, and a count of another node under the same key is counted.
func (c *counter) merge(m conflict.MergeCase) (writes []store.WriteItem, ok bool) {
	if slices.ContainsFunc(m.Items, func(it conflict.MergeItem) bool { return idempotency.SameRequest(it.View, it.Remote) }) {
		return nil, len(m.Tail) == 0
	}
	return nil, m.Entries[0].Op == store.OpPut && m.Items[0].Remote != nil && len(m.Tail) == 0
}

func (c *counter) take(tx *store.Tx, _ []store.Record) error { return c.sum(tx) }

// sum writes the total if it has changed.
func (c *counter) sum(tx *store.Tx) error {
	if c.broken.Load() {
		return errors.New("broken")
	}
	var n int64
	for item, err := range tx.ScanAll(store.Scan{Table: counts}) {
		if err != nil {
			return err
		}
		if item["id"].Str() != "total" {
			at, _ := item["n"].Int()
			n += at
		}
	}
	was, err := tx.Get(counts, total())
	if at, _ := was["n"].Int(); err != nil || was != nil && at == n {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: counts, Item: attr.Item{"id": attr.S("total"), "n": attr.Int(n)}})
	return err
}

// sumOf returns a node's total.
func (c *counter) sumOf(ctx context.Context) (n int64) {
	_ = c.host.Store.View(ctx, func(tx *store.Tx) error {
		it, err := tx.Get(counts, total())
		n, _ = it["n"].Int()
		return err
	})
	return n
}

// tick is a job done by one node of a fleet.
func (c *counter) tick(ctx context.Context) error {
	leases := c.host.Leases.User()
	for clock.Sleep(ctx, c.host.Clock, 10*time.Millisecond) == nil {
		if l, err := leases.AcquireShare(ctx, "counter:tick"); err == nil && l != nil {
			c.ticks.Add(1)
		}
	}
	_ = leases.ReleaseShare(context.WithoutCancel(ctx), "counter:tick")
	return nil
}

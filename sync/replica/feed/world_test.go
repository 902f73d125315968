package feed

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// reader is a feed on a store in memory, and the cloud that it reads. What is written here waits: nothing is sent.
type reader struct {
	*Feed

	t     testing.TB
	cloud *conn
}

// conn connects to a simulated cloud. behind is called once, after a page has been read.
type conn struct {
	*simcloud.Cloud

	behind func()
}

// Write implements remote.Cloud.
func (w *conn) Write(_ context.Context, c intent.Call) (attr.Item, error) {
	return w.Cloud.Write("a", c)
}

// Transact implements remote.Cloud.
func (w *conn) Transact(_ context.Context, calls []intent.Call, token string) error {
	return w.Cloud.Transact("a", calls, token)
}

// Get implements remote.Cloud.
func (w *conn) Get(_ context.Context, table string, key attr.Item) (attr.Item, error) {
	return w.Cloud.Get(table, key)
}

// Read implements remote.Cloud.
func (w *conn) Read(_ context.Context, r remote.Reading) (remote.Page, error) {
	page, err := w.Cloud.Read(r)
	if f := w.behind; f != nil {
		w.behind = nil
		f()
	}
	return page, err
}

// Skew implements remote.Cloud.
func (*conn) Skew() time.Duration { return 0 }

// Table implements remote.Cloud.
func (w *conn) Table(_ context.Context, name string) (remote.TableState, error) {
	return w.Cloud.Table(name)
}

// Transactions implements remote.Cloud.
func (w *conn) Transactions(context.Context) (bool, error) { return true, nil }

// Synced implements remote.Cloud.
func (w *conn) KnowsServerTime() bool { return true }

// Usage implements remote.Cloud.
func (*conn) Usage() remote.Usage { return remote.Usage{} }

// unchanged stands for tables that were never replaced.
type unchanged struct{}

func (unchanged) Epoch() uint64                       { return 0 }
func (unchanged) Check(context.Context, string) error { return nil }
func (unchanged) KeepsAbsent(string, time.Time) bool  { return false }
func (unchanged) Owes(*outbox.Batch) bool             { return false }
func (unchanged) Readable(string) error               { return nil }

// compiled puts local writes into an outbox.
type compiled struct{ *outbox.Outbox }

// Expire implements store.Replicator.
func (compiled) Expire(*store.Tx, *store.TableSpec, attr.Item) (bool, error) { return false, nil }

func tables() []store.TableSpec {
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	return []store.TableSpec{
		{Name: "teams", Key: store.KeySpec{Partition: str("id")}, Policy: store.PolicyIntent},
		{Name: "follows", Key: store.KeySpec{Partition: str("match"), Sort: str("user")}, Policy: store.PolicyIntent},
	}
}

// newReader makes a feed with rules.
func newReader(t testing.TB, rules ...Rule) *reader {
	t.Helper()
	s, err := store.OpenMemory(store.Options{Node: "a"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		storetest.Check(t, s)
		_ = s.Close()
	})
	if err := s.Define(t.Context(), tables()...); err != nil {
		t.Fatal(err)
	}
	c := simcloud.New(simcloud.Options{Now: time.Now})
	c.Create(tables()...)
	n := &reader{t: t, cloud: &conn{Cloud: c}}
	n.Feed = feedOn(s, n.cloud, rules)
	s.Replicate(compiled{n.Box})
	return n
}

// again returns the feed of the next run on the same store.
func (n *reader) again() {
	n.Feed = feedOn(n.Store, n.cloud, n.Rules)
	n.Store.Replicate(compiled{n.Box})
}

func feedOn(s *store.Store, c *conn, rules []Rule) *Feed {
	spec := func(table string) *store.TableSpec {
		for _, spec := range s.Tables() {
			if spec.Name == table {
				return &spec
			}
		}
		return nil
	}
	exprs := expr.NewCache(100)
	box := &outbox.Outbox{
		Workers: 2, Heads: 64, Folds: 64, Reads: outbox.NewReads(), Spec: spec, Hint: func(outbox.ID) {}, RunAfter: func() uint64 { return 0 },
		Lost: func() func(uint64) bool { return nil },
		Env: func(*store.Tx) intent.Env {
			return intent.Env{Node: "a", Now: time.Now(), Synced: true, Spec: spec, Exprs: exprs, Rand: func() uint64 { return 7 }}
		},
	}
	link := flow.NewLink(2, func() float64 { return 0 })
	link.Begin(time.Now())
	link.RecordProbe("", time.Now())
	return &Feed{
		Store: s, Cloud: c, Box: box, Link: link, Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Rand: func() uint64 { return 0 },
		Rules: rules, Tables: unchanged{}, Deadline: 10 * time.Second, Page: 200,
		Settle: func(w *outbox.Work, b *outbox.Batch) error { return w.Drop(b) },
		Moved:  func(*outbox.Work) {}, OtherCopy: func(string) {}, Wake: func() {}, Failpoint: func(string) {},
		Written: func() map[string]time.Time { return nil },
	}
}

// foreign puts an item into the cloud as a foreign writer; foreignDelete deletes one.
func (n *reader) foreign(table string, item attr.Item) {
	n.t.Helper()
	if _, err := n.cloud.Cloud.Write("b", intent.Call{Op: store.OpPut, Table: table, Item: item}); err != nil {
		n.t.Fatal(err)
	}
}

func (n *reader) foreignDelete(table string, key attr.Item) {
	n.t.Helper()
	if _, err := n.cloud.Cloud.Write("b", intent.Call{Op: store.OpDelete, Table: table, Key: key}); err != nil {
		n.t.Fatal(err)
	}
}

// readNow reads an item.
func (n *reader) readNow(table string, key attr.Item) {
	n.t.Helper()
	if err := n.ReadNow(n.t.Context(), n.Box.Spec(table), key); err != nil {
		n.t.Fatal(err)
	}
}

// next plays a round of the first rule.
func (n *reader) next() { n.round(n.t.Context(), n.loadRules()[0]) }

// read continues a pass over the follows of a match, for at most pages pages.
func (n *reader) read(match string, pages int) (items int, key string) {
	n.t.Helper()
	raw, err := attr.AppendKey(nil, attr.S(match))
	if err != nil {
		n.t.Fatal(err)
	}
	p := newPass(n.Box.Spec("follows"), attr.S(match), raw)
	if items, err = n.continuePass(n.t.Context(), p, &pages); err != nil {
		n.t.Fatal(err)
	}
	return items, p.key
}

// row returns an item as readers see it.
func (n *reader) row(table string, key attr.Item) (it attr.Item) {
	n.t.Helper()
	n.inView(func(tx *store.Tx) (err error) {
		it, err = tx.Get(table, key)
		return err
	})
	return it
}

func (n *reader) inView(fn func(tx *store.Tx) error) {
	n.t.Helper()
	if err := n.Store.View(n.t.Context(), fn); err != nil {
		n.t.Fatal(err)
	}
}

// bump adds one to a team here.
func (n *reader) bump(id string) {
	n.t.Helper()
	u := store.UpdateItem{Table: "teams", Key: teamKey(id), Update: "ADD n :n"}
	u.Values = attr.Item{":n": attr.Int(1)}
	err := n.Store.Update(n.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Update(u)
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// sees checks a team as readers see it; nil: there is none.
func (n *reader) sees(id string, want attr.Item) {
	n.t.Helper()
	if got := n.row("teams", teamKey(id)); !attr.EqualItems(got, want) || (got == nil) != (want == nil) {
		n.t.Errorf("team %s is %v, not %v", id, got, want)
	}
}

func teamKey(id string) attr.Item { return attr.Item{"id": attr.S(id)} }

func team(id string, n int64) attr.Item { return attr.Item{"id": attr.S(id), "n": attr.Int(n)} }

func follow(match, user string) attr.Item {
	return attr.Item{"match": attr.S(match), "user": attr.S(user)}
}

// letPass advances a bubble's time.
func letPass(d time.Duration) { <-time.After(d) }

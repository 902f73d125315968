package replica_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// specs returns a table of each policy that sends, and a local one.
func specs() []store.TableSpec {
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	both := store.KeySpec{Partition: str("pk"), Sort: str("sk")}
	return []store.TableSpec{
		{Name: "data", Key: both, Policy: store.PolicyIntent},
		{Name: "other", Key: both, Policy: store.PolicyIntent},
		{Name: "events", Key: both, Policy: store.PolicyIntent, Lock: "match:{pk}"},
		{Name: "state", Key: both, Policy: store.PolicyState, Lock: "match:{pk}"},
		{Name: "screen", Key: both, Policy: store.PolicyLocal},
	}
}

// cloudTables returns these and the tables that only the cloud has.
func cloudTables() []store.TableSpec {
	str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
	return append(specs(),
		store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: str(intent.SyncKey)}},
		store.TableSpec{Name: "locks", Key: store.KeySpec{Partition: str("lockKey")}},
	)
}

// conn connects to a simulated cloud that answers at once, apart from the faults that a test sets.
type conn struct {
	cloud *simcloud.Cloud
	node  string

	mu    sync.Mutex
	calls []intent.Call
	fault func(n int, calls []intent.Call) fault // n counts the writes; nil: no faults
	n     int
	busy  int
	most  int   // requests in flight at once
	gets  int   // items read one by one
	unget error // fails them

	connected atomic.Bool // it was asked for a table, as at each connect
}

// fault is what happens to one write.
type fault struct {
	before error // answer; the write is not applied
	after  error // answer; the write is applied
	wait   <-chan struct{}
}

func (w *conn) do(ctx context.Context, calls []intent.Call, do func() error) error {
	w.mu.Lock()
	w.n++
	var f fault
	if w.fault != nil {
		f = w.fault(w.n, calls)
	}
	w.calls = append(w.calls, calls...)
	w.busy++
	w.most = max(w.most, w.busy)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.busy--
		w.mu.Unlock()
	}()
	if f.wait != nil {
		select {
		case <-f.wait:
		case <-ctx.Done():
			return &intent.Error{Class: intent.Unknown, Err: ctx.Err()}
		}
	}
	if f.before != nil {
		return f.before
	}
	if err := do(); err != nil {
		return err
	}
	return f.after
}

// Write implements remote.Cloud.
func (w *conn) Write(ctx context.Context, c intent.Call) (it attr.Item, err error) {
	err = w.do(ctx, []intent.Call{c}, func() (err error) {
		it, err = w.cloud.Write(w.node, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return it, nil
}

// Transact implements remote.Cloud.
func (w *conn) Transact(ctx context.Context, calls []intent.Call, token string) error {
	return w.do(ctx, calls, func() error { return w.cloud.Transact(w.node, calls, token) })
}

// Get implements remote.Cloud.
func (w *conn) Get(_ context.Context, table string, key attr.Item) (attr.Item, error) {
	w.mu.Lock()
	w.gets++
	err := w.unget
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return w.cloud.Get(table, key)
}

// reads returns the number of items read one by one since its last call. If fail is not nil, such reads fail until the next call.
func (w *conn) reads(fail error) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.gets
	w.gets, w.unget = 0, fail
	return n
}

// Read implements remote.Cloud.
func (w *conn) Read(_ context.Context, r remote.Reading) (remote.Page, error) {
	return w.cloud.Read(r)
}

// Skew implements remote.Cloud.
func (w *conn) Skew() time.Duration { return 0 }

// Table implements remote.Cloud.
func (w *conn) Table(_ context.Context, name string) (remote.TableState, error) {
	w.connected.Store(true)
	return w.cloud.Table(name)
}

// Transactions implements remote.Cloud.
func (w *conn) Transactions(context.Context) (bool, error) { return true, nil }

// KnowsServerTime implements remote.Cloud.
func (w *conn) KnowsServerTime() bool { return w.connected.Load() }

// Usage implements remote.Cloud.
func (w *conn) Usage() remote.Usage { return remote.Usage{} }

func (w *conn) setFault(f func(n int, calls []intent.Call) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault, w.n = f, 0
}

// sent lists the writes sent, except those to the node's own table.
func (w *conn) sent() (out []intent.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.Table != "touchline-sync" {
			out = append(out, c)
		}
	}
	return out
}

func unknown() error { return &intent.Error{Class: intent.Unknown, Err: errors.New("a test: EOF")} }
func offline() error {
	return &intent.Error{Class: intent.Offline, Err: errors.New("a test: no route")}
}

// node is a store with a replica on it.
type node struct {
	t     testing.TB
	store *store.Store
	r     *replica.Replica
	conn  *conn
	stop  func()

	patience time.Duration // of until; 0: as package wait has it
}

func newCloud() *simcloud.Cloud {
	c := simcloud.New(simcloud.Options{})
	c.Create(cloudTables()...)
	return c
}

// newNode opens a store in memory and a replica on it, without running it.
func newNode(t testing.TB, c *simcloud.Cloud, name string, change ...func(*replica.Config)) *node {
	t.Helper()
	return nodeOn(t, memoryStore(t, store.Options{Node: name}), c, change...)
}

// memoryStore opens a store in memory with the tables of these tests, and checks it at the end of the test.
func memoryStore(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.OpenMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		storetest.Check(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Define(t.Context(), specs()...); err != nil {
		t.Fatal(err)
	}
	return s
}

// nodeOn creates a replica on an open store.
func nodeOn(t testing.TB, s *store.Store, c *simcloud.Cloud, change ...func(*replica.Config)) *node {
	t.Helper()
	n := &node{t: t, store: s, conn: &conn{cloud: c, node: s.Node()}, stop: func() {}}
	cfg := replica.Config{Store: s, Cloud: n.conn}
	for _, f := range change {
		f(&cfg)
	}
	r, err := replica.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.r = r
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// run starts the replica; the end of the test stops it.
func (n *node) run() *node {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.r.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			n.t.Errorf("Run: %v", err)
		}
	})
	n.t.Cleanup(n.stop)
	return n
}

func key(pk, sk string) attr.Item { return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)} }

func Item(pk, sk string, more ...any) attr.Item {
	it := key(pk, sk)
	for i := 0; i < len(more); i += 2 {
		switch v := more[i+1].(type) {
		case string:
			it[more[i].(string)] = attr.S(v)
		case int:
			it[more[i].(string)] = attr.Int(int64(v))
		case attr.Value:
			it[more[i].(string)] = v
		}
	}
	return it
}

// put writes an item and returns the sequence of its record.
func (n *node) put(table string, it attr.Item) uint64 {
	n.t.Helper()
	return n.update(func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: table, Item: it})
		return err
	})
}

// add adds to a number attribute of an item.
func (n *node) add(table string, k attr.Item, by int) uint64 {
	n.t.Helper()
	return n.update(func(tx *store.Tx) error { return addTo(tx, table, k, by) })
}

func addTo(tx *store.Tx, table string, k attr.Item, by int) error {
	u := store.UpdateItem{Table: table, Key: k, Update: "ADD n :n"}
	u.Values = attr.Item{":n": attr.Int(int64(by))}
	_, err := tx.Update(u)
	return err
}

func (n *node) update(fn func(tx *store.Tx) error) (seq uint64) {
	n.t.Helper()
	err := n.store.Update(context.Background(), func(tx *store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		seq = tx.Seq()
		return nil
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return seq
}

func (n *node) get(table string, k attr.Item) (it attr.Item) {
	n.t.Helper()
	err := n.store.View(context.Background(), func(tx *store.Tx) (err error) {
		it, err = tx.Get(table, k)
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return it
}

// drained waits until the outbox is empty.
func (n *node) drained() {
	n.t.Helper()
	n.until("the outbox is empty", func() bool { return n.status().Waiting == 0 })
}

func (n *node) status() replica.Status {
	n.t.Helper()
	st, err := n.r.Status(context.Background())
	if err != nil {
		n.t.Fatal(err)
	}
	return st
}

// until waits until is returns true.
func (n *node) until(what string, is func() bool) {
	n.t.Helper()
	wait.Within(n.t, n.patience, what, is, func() any { return n.status() })
}

// same compares the application's items in the cloud with those of the node.
func (n *node) same(tables ...string) {
	n.t.Helper()
	for _, table := range tables {
		theirs := map[string]attr.Item{}
		for _, image := range n.conn.cloud.Items(table) {
			it, _ := intent.Split(image)
			theirs[fmt.Sprint(it["pk"].Str(), "/", it["sk"].Str())] = it
		}
		count := 0
		err := n.store.View(context.Background(), func(tx *store.Tx) error {
			page, err := tx.Scan(store.Scan{Table: table})
			for _, it := range page.Items {
				count++
				name := fmt.Sprint(it["pk"].Str(), "/", it["sk"].Str())
				if !attr.EqualItems(it, theirs[name]) {
					n.t.Errorf("%s %s: here %v, in the cloud %v", table, name, it, theirs[name])
				}
			}
			return err
		})
		if err != nil {
			n.t.Fatal(err)
		}
		if count != len(theirs) && count < 1000 {
			n.t.Errorf("%s: %d items here, %d in the cloud", table, count, len(theirs))
		}
	}
}

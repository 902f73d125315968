package threefcapp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/intent"
)

// pair is two nodes over one simulated cloud, in the virtual time of a bubble, without servers: what a route asks of the rules is asked
// here, and the test does what the node's consumer does.
type pair struct {
	cloud *simcloud.Cloud
	table string
	nodes []*peer
	err   error // the first that is wrong
}

// peer is one of the nodes.
type peer struct {
	*threefc.Service
	name  string
	store *store.Store
	rep   *replica.Replica
	link  *simcloud.Link
	taken uint64 // of the journal
}

func newPair(t *testing.T) *pair {
	t.Helper()
	a := New()
	table := a.Schema().Tables[0].Name
	p := &pair{cloud: simcloud.New(simcloud.Options{}), table: table}
	p.cloud.Create(append(a.Schema().Tables, store.TableSpec{
		Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}},
	})...)
	network := simcloud.NewNetwork(p.cloud, simcloud.NewTimer(), 7)
	for _, name := range []string{"a", "b"} {
		n, err := newPeer(t, a, network.Link(name, time.Now, nil), name)
		if err != nil {
			t.Fatal(err)
		}
		n.Service = &threefc.Service{Table: table, Skew: n.rep.Skew}
		p.nodes = append(p.nodes, n)
	}
	return p
}

func newPeer(t *testing.T, a *app.App, link *simcloud.Link, name string) (n *peer, err error) {
	t.Helper()
	n = &peer{name: name, link: link}
	if n.store, err = store.OpenMemory(store.Options{Node: name, Now: time.Now}); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := n.store.Close(); err != nil {
			t.Error(err)
		}
	})
	random, mu := rand.New(rand.NewPCG(1, uint64(name[0]))), sync.Mutex{}
	c := replica.Config{Store: n.store, Cloud: link, Clock: clock.Real(), Merge: a.Cloud().Merge, Rand: func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Uint64()
	}}
	for _, r := range a.Cloud().Reads {
		rule := feed.Rule{Table: r.Table, Every: map[app.Pace]time.Duration{app.Live: 5 * time.Second, app.Slow: 30 * time.Second, app.Seldom: seldom}[r.Every]}
		if r.Partitions != nil {
			rule.Partitions = func(tx *store.Tx) ([]attr.Value, error) { return r.Partitions(tx, nil) }
		}
		c.Poll = append(c.Poll, rule)
	}
	if err := n.store.Define(t.Context(), a.Schema().Tables...); err != nil {
		return nil, err
	}
	if n.rep, err = replica.New(c); err != nil {
		return nil, err
	}
	if err := n.rep.Open(t.Context()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = n.rep.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return n, nil
}

// seldom is how often a node reads the whole table.
const seldom = 4 * time.Minute

func (p *pair) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *pair) must(err error) {
	if err != nil {
		p.fail("%w", err)
	}
}

// pass lets time go by, in which the consumers work.
func (p *pair) pass(d time.Duration) {
	for step := max(time.Second, d/60); d > 0 && p.err == nil; d -= step {
		for _, n := range p.nodes {
			p.consume(n)
		}
		<-time.After(min(d, step))
		synctest.Wait()
	}
}

// consume does what the consumer of a node does.
func (p *pair) consume(n *peer) {
	for {
		records, err := n.store.Journal(context.Background(), n.taken, 64)
		if p.must(err); err != nil || len(records) == 0 {
			return
		}
		n.taken = records[len(records)-1].Seq
		if err := n.store.Update(context.Background(), func(tx *store.Tx) error { return n.Take(tx, records) }); err != nil {
			p.fail("the consumer of %s: %w", n.name, err)
			return
		}
	}
}

// view reads at a node.
func (p *pair) view(n *peer, do func(tx *store.Tx) error) {
	p.must(n.store.View(context.Background(), do))
}

// ask does at a node what a request with a key, or none, asks for. The journal's records of it are those after first, up to last.
func (p *pair) ask(n *peer, q request) (out idempotency.Outcome, first, last uint64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	p.fetch(ctx, n, q.of...)
	row, ids := p.once(n, q)
	do := func(tx *store.Tx) (err error) {
		if row != nil {
			var seen bool
			if out, seen, err = row.Read(tx); seen || err != nil {
				return err
			}
		}
		seed := ids
		c, err := q.plan(n, tx, &seed)
		if err != nil {
			return err
		}
		out, first = idempotency.Outcome{Status: 200, IDs: c.IDs}, tx.Seq()
		if row != nil {
			err = row.Write(tx, out, c.Writes...)
		} else if len(c.Writes) > 0 {
			err = tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		}
		last = tx.Seq()
		return err
	}
	err = n.store.Update(context.Background(), do)
	if row != nil && fault.Is(err, fault.Conflict) {
		_ = n.rep.Ensure(ctx, p.table, row.Key)
		err = n.store.Update(context.Background(), do)
	}
	return out, first, last, err
}

// request is what somebody asks for.
type request struct {
	key  string // Idempotency-Key; empty: none
	path string // with the method, and who asks
	body string
	of   []threefc.Scope
	plan func(n *peer, tx *store.Tx, ids *threefc.IDs) (threefc.Change, error)
}

// fetch has here what a route is about, and what that lies in.
func (p *pair) fetch(ctx context.Context, n *peer, of ...threefc.Scope) {
	for _, one := range of {
		_ = n.rep.Ensure(ctx, p.table, threefc.Partition(one))
		var above []attr.Item
		p.view(n, func(tx *store.Tx) (err error) {
			above, err = n.Above(tx, one)
			return err
		})
		_ = n.rep.Ensure(ctx, p.table, above...)
	}
}

func (p *pair) once(n *peer, q request) (*idempotency.Row, threefc.IDs) {
	if q.key == "" {
		return nil, threefc.IDs{}
	}
	hash, err := idempotency.Hash(q.path, q.body)
	p.must(err)
	more, err := threefc.OnceMore(q.path, q.key, hash)
	p.must(err)
	row := &idempotency.Row{Table: p.table, Key: threefc.OnceKey(q.path, q.key), Hash: hash, Node: n.store.Node(), More: more}
	return row, threefc.IDs{Seed: q.path + "\n" + q.key, Hash: hash}
}

// rows are those of the table by their two keys: at a node, or in the cloud (nil).
func (p *pair) rows(n *peer) map[string]attr.Item {
	all := map[string]attr.Item{}
	keep := func(it attr.Item) { all[it["pk"].Str()+" "+it["sk"].Str()] = it }
	if n == nil {
		for _, image := range p.cloud.Items(p.table) {
			it, _ := intent.Split(image)
			keep(it)
		}
		return all
	}
	p.view(n, func(tx *store.Tx) error {
		for it, err := range tx.ScanAll(store.Scan{Table: p.table}) {
			if err != nil {
				return err
			}
			keep(it)
		}
		return nil
	})
	return all
}

// records are a node's conflicts, the oldest first.
func (p *pair) records(n *peer, state conflict.State) []*conflict.Record {
	all, _, err := n.rep.Conflicts().List(context.Background(), conflict.Query{State: state, Limit: 10000})
	p.must(err)
	slices.Reverse(all)
	return all
}

// meet joins both nodes with the cloud and waits until nothing is on its way and both have read everything.
func (p *pair) meet() {
	for _, n := range p.nodes {
		n.link.SetMode(simcloud.None)
	}
	for _, d := range []time.Duration{2 * time.Minute, seldom + time.Minute} {
		p.pass(d)
		for n := 0; p.err == nil && !p.drained(); n++ {
			if n == 600 {
				p.fail("not in time: %s", p.waiting())
			}
			p.pass(time.Second)
		}
	}
	here := p.rows(nil)
	for _, n := range p.nodes {
		if text := differ(here, p.rows(n)); text != "" {
			p.fail("%s has other rows than the cloud: %s", n.name, text)
		}
	}
}

func (p *pair) drained() bool { return p.waiting() == "" }

func (p *pair) waiting() (text string) {
	for _, n := range p.nodes {
		st, err := n.rep.Status(context.Background())
		if p.must(err); err == nil && (st.Waiting > 0 || n.taken < n.store.Seq()) {
			text += fmt.Sprintf("%s: %+v; ", n.name, st)
		}
	}
	return text
}

// differ tells of the first rows that two images of the table have not in common.
func differ(cloud, here map[string]attr.Item) string {
	keys := maps.Clone(cloud)
	maps.Copy(keys, here)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if a, b := cloud[k], here[k]; (a == nil) != (b == nil) || !attr.EqualItems(a, b) {
			return fmt.Sprintf("%s: cloud %v, here %v", k, a, b)
		}
	}
	return ""
}

// dataOf is what a row says; zero: there is none.
func dataOf[T any](it attr.Item) (v T) {
	if it != nil {
		_ = json.Unmarshal([]byte(it["data"].Str()), &v)
	}
	return v
}

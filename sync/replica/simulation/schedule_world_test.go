package simulation_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// stage is where a schedule is played: the simulated cloud under virtual time, or DynamoDB Local in real time.
type stage interface {
	// cloud returns a connection to the cloud, for a node or another client.
	cloud(node string) remote.Cloud
	// clock is shared by all; pass lets time go by on it, and lets everything woken by that finish.
	clock() clock.Clock
	pass(d time.Duration)
}

// scene is a schedule being played: its nodes, and access for foreign writers.
type scene struct {
	testing.TB
	stage
	raw   remote.Cloud // without guards and faults
	nodes []*player
}

func newScene(t testing.TB, st stage) *scene {
	return &scene{TB: t, stage: st, raw: st.cloud("foreign")}
}

// player is a node in a schedule.
type player struct {
	*replica.Replica
	sc      *scene
	name    string
	dir     string
	runs    int
	store   *store.Store
	tap     *tap
	stop    context.CancelFunc
	ended   chan struct{}
	workers int

	raise func(ctx context.Context, lock string, fence int64) (int64, error) // replica.Config.FencedOff
}

// node starts a node. Its tables are those of the simulation; it polls all of them.
func (sc *scene) node(name string) *player {
	sc.Helper()
	p := &player{sc: sc, name: name, dir: filepath.Join(sc.TempDir(), name), workers: 4, raise: func(context.Context, string, int64) (int64, error) { return 0, nil }}
	sc.nodes = append(sc.nodes, p)
	p.start()
	sc.Cleanup(p.end)
	return p
}

func (p *player) start() {
	p.sc.Helper()
	p.runs++
	must(p.sc, os.MkdirAll(p.dir, 0o700))
	var err error
	p.store, err = store.Open(filepath.Join(p.dir, "store.db"), store.Options{
		Now: p.sc.clock().Now, Node: p.name, NoSync: true, MapSize: 64 << 20, WriteStall: time.Hour, ReadDeadline: time.Hour,
	})
	must(p.sc, err)
	ctx, cancel := context.WithCancel(context.Background())
	must(p.sc, p.store.Define(ctx, simSpecs()...))
	p.tap = &tap{Cloud: p.sc.cloud(p.name)}
	seed := rand.New(rand.NewPCG(uint64(p.runs), uint64(p.name[0])))
	var mu sync.Mutex
	p.Replica, err = replica.New(replica.Config{
		Store: p.store, Cloud: p.tap, Dir: p.dir, Clock: p.sc.clock(), SyncTable: simSync, LockTable: simLocks,
		Poll: schedulePolls(), Workers: p.workers, Log: testLog(p.sc),
		FencedOff: func(ctx context.Context, lock string, fence int64) (int64, error) { return p.raise(ctx, lock, fence) },
		Rand: func() uint64 {
			mu.Lock()
			defer mu.Unlock()
			return seed.Uint64()
		},
	})
	must(p.sc, err)
	must(p.sc, p.Replica.Open(ctx))
	p.ended = make(chan struct{})
	p.stop = cancel
	go func() {
		defer close(p.ended)
		_ = p.Run(ctx)
	}()
}

func testLog(t testing.TB) *slog.Logger {
	if testing.Verbose() {
		return slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	return slog.New(slog.DiscardHandler)
}

func schedulePolls() (out []feed.Rule) {
	for _, name := range appTables() {
		out = append(out, feed.Rule{Table: name, Every: 5 * time.Second})
	}
	return out
}

// end stops the process cleanly; what is queued stays on disk.
func (p *player) end() {
	if p.stop == nil {
		return
	}
	p.stop()
	<-p.ended
	must(p.sc, p.store.Close())
	p.stop = nil
}

// snapshot saves the node's disk; restore goes back to it with a new process.
func (p *player) snapshot() (dir string) {
	dir = filepath.Join(p.sc.TempDir(), "snapshot")
	must(p.sc, copyDir(p.dir, dir))
	return dir
}

func (p *player) restore(dir string) {
	p.end()
	p.dir = filepath.Join(p.sc.TempDir(), p.name)
	must(p.sc, copyDir(dir, p.dir))
	p.start()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// values makes the values of an expression from pairs of name and value.
func values(pairs ...any) expr.Params {
	p := expr.Params{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name := pairs[i].(string)
		if name[0] == '#' {
			if p.Names == nil {
				p.Names = map[string]string{}
			}
			p.Names[name] = pairs[i+1].(string)
			continue
		}
		if p.Values == nil {
			p.Values = attr.Item{}
		}
		p.Values[name] = value(pairs[i+1])
	}
	return p
}

func value(v any) attr.Value {
	switch v := v.(type) {
	case string:
		return attr.S(v)
	case int:
		return attr.Int(int64(v))
	case int64:
		return attr.Int(v)
	case attr.Value:
		return v
	}
	panic(fmt.Sprintf("%T", v))
}

// row makes an item from its key and pairs of name and value.
func row(key string, pairs ...any) attr.Item {
	it := attr.Item{"pk": attr.S(key)}
	for i := 0; i+1 < len(pairs); i += 2 {
		it[pairs[i].(string)] = value(pairs[i+1])
	}
	return it
}

// do runs an Update of an application and returns the sequence of its last record.
func (p *player) do(fn func(*store.Tx) error) (seq uint64, err error) {
	err = p.store.Update(context.Background(), func(tx *store.Tx) error {
		err := fn(tx)
		seq = tx.Seq()
		return err
	})
	return seq, err
}

func (p *player) must(fn func(*store.Tx) error) uint64 {
	p.sc.Helper()
	seq, err := p.do(fn)
	must(p.sc, err)
	return seq
}

// put, update and remove make writes that must be accepted here.
func (p *player) put(table string, item attr.Item, condition string, params expr.Params) uint64 {
	p.sc.Helper()
	return p.must(func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: table, Item: item, Condition: condition, Params: params})
		return err
	})
}

func (p *player) update(table, key, update, condition string, params expr.Params) uint64 {
	p.sc.Helper()
	return p.must(func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{Table: table, Key: pk(key), Update: update, Condition: condition, Params: params})
		return err
	})
}

func (p *player) remove(table, key, condition string, params expr.Params) uint64 {
	p.sc.Helper()
	return p.must(func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: table, Key: pk(key), Condition: condition, Params: params})
		return err
	})
}

// see returns what readers of the node see; holds also returns items past their TTL.
func (p *player) see(table string, key attr.Item) attr.Item   { return p.get(table, key, false) }
func (p *player) holds(table string, key attr.Item) attr.Item { return p.get(table, key, true) }

func (p *player) get(table string, key attr.Item, expired bool) (it attr.Item) {
	p.sc.Helper()
	must(p.sc, p.store.View(context.Background(), func(tx *store.Tx) (err error) {
		if expired {
			tx.ShowExpired()
		}
		it, err = tx.Get(table, key)
		return err
	}))
	return it
}

// queued counts the batches in the outbox.
func (p *player) queued() (n int) {
	p.sc.Helper()
	must(p.sc, p.store.View(context.Background(), func(tx *store.Tx) error {
		return tx.Side("outbox").Each(nil, nil, func(_, _ []byte) (bool, error) {
			n++
			return true, nil
		})
	}))
	return n
}

// settle waits until the node has nothing left to send.
func (p *player) settle() {
	p.sc.Helper()
	for range 3 * 60 * 60 {
		if p.queued() == 0 {
			return
		}
		p.sc.pass(time.Second)
	}
	st, err := p.Status(context.Background())
	p.sc.Fatalf("%s does not drain: %+v %v", p.name, st, err)
}

// reaches waits until the node is connected to the cloud, to which another node may have connected first.
func (p *player) reaches() {
	p.sc.Helper()
	for range 3 * 60 {
		st, err := p.Status(context.Background())
		must(p.sc, err)
		if st.Up {
			return
		}
		p.sc.pass(time.Second)
	}
	p.sc.Fatalf("%s does not reach the cloud", p.name)
}

// tries lets some time pass in which the node tries what it can.
func (p *player) tries() { p.sc.pass(20 * time.Second) }

// round lets every feed complete a round.
func (sc *scene) round() { sc.pass(15 * time.Second) }

// records lists the conflict log, oldest first.
func (p *player) records() []*conflict.Record {
	p.sc.Helper()
	found, _, err := p.Conflicts().List(context.Background(), conflict.Query{Limit: 1000})
	must(p.sc, err)
	for i := range len(found) / 2 {
		found[i], found[len(found)-1-i] = found[len(found)-1-i], found[i]
	}
	return found
}

// recorded requires a record of an entry in the conflict log, and returns it.
func (p *player) recorded(seq uint64) *conflict.Record {
	p.sc.Helper()
	for _, c := range p.records() {
		for _, d := range c.Decided {
			if isEntry(d.Entry, seq) {
				return c
			}
		}
		for _, e := range c.Tail {
			if isEntry(e, seq) {
				return c
			}
		}
	}
	p.sc.Fatalf("%s has no record of sequence %d among %v", p.name, seq, p.records())
	return nil
}

// isEntry reports whether a sequence is that of an entry, or of one that was folded into it.
func isEntry(e *intent.Entry, seq uint64) bool { return e.Seq == seq || slices.Contains(e.Folds, seq) }

func (p *player) unrecorded(seq uint64) {
	p.sc.Helper()
	for _, c := range p.records() {
		for _, d := range c.Decided {
			if isEntry(d.Entry, seq) {
				p.sc.Fatalf("%s recorded sequence %d: %v, %s", p.name, seq, c, c.Text)
			}
		}
	}
}

// foreign writes without guards, as a program does that does not know the nodes.
func (sc *scene) foreign(c intent.Call) {
	sc.Helper()
	_, err := sc.raw.Write(context.Background(), c)
	must(sc, err)
}

func (sc *scene) foreignPut(table string, item attr.Item) {
	sc.Helper()
	sc.foreign(intent.Call{Op: store.OpPut, Table: table, Item: item})
}

func (sc *scene) foreignUpdate(table, key, update string, params expr.Params) {
	sc.Helper()
	sc.foreign(intent.Call{Op: store.OpUpdate, Table: table, Key: pk(key), Update: update, Params: params})
}

func (sc *scene) foreignDelete(table, key string) {
	sc.Helper()
	sc.foreign(intent.Call{Op: store.OpDelete, Table: table, Key: pk(key)})
}

// image returns an item in the cloud, sidecar included.
func (sc *scene) image(table string, key attr.Item) attr.Item {
	sc.Helper()
	it, err := sc.raw.Get(context.Background(), table, key)
	must(sc, err)
	return it
}

// cloudHas requires the cloud's item to be this one, without its sidecar; nil: none.
func (sc *scene) cloudHas(table, key string, want attr.Item) {
	sc.Helper()
	got, _ := intent.Split(sc.image(table, pk(key)))
	if !same(got, want) {
		sc.Fatalf("the cloud has %s, want %s", tell(got), tell(want))
	}
}

func same(a, b attr.Item) bool { return (a == nil) == (b == nil) && attr.EqualItems(a, b) }

// oneWith requires every node to see, in the end, what the cloud has. One that was cut off may wait for its link's next probe before its
// feeds run.
func (sc *scene) oneWith(table, key string) {
	sc.Helper()
	var differ string
	for range 20 {
		sc.round()
		if differ = sc.differ(table, key); differ == "" {
			return
		}
	}
	sc.Fatal(differ)
}

// differ describes a node that does not see what the cloud has.
func (sc *scene) differ(table, key string) string {
	sc.Helper()
	want, _ := intent.Split(sc.image(table, pk(key)))
	for _, p := range sc.nodes {
		if p.stop == nil {
			continue
		}
		if got := p.see(table, pk(key)); !same(got, want) {
			return fmt.Sprintf("%s sees %s, the cloud has %s", p.name, tell(got), tell(want))
		}
	}
	return ""
}

// without returns an item without some attributes.
func without(it attr.Item, names ...string) attr.Item {
	out := maps.Clone(it)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

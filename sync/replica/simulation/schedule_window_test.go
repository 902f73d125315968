package simulation_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// transact writes the same value to several items, all or none.
func (p *player) transact(keys []string, v int) uint64 {
	p.sc.Helper()
	var items []store.WriteItem
	for _, key := range keys {
		items = append(items, store.WriteItem{Update: &store.UpdateItem{
			Table: "pairs", Key: pk(key), Update: "SET v = :v", Params: values(":v", v),
		}})
	}
	return p.must(func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: items}) })
}

func transactionHalf(sc *scene) {
	a, _ := both(sc, "pairs", nil)
	a.transact([]string{"left", "right"}, 1)
	a.settle()
	a.tap.loseAnswers(1)
	a.transact([]string{"left", "right"}, 2)
	for same(mustSplit(sc.image("pairs", pk("right"))), row("right", "v", 1)) {
		sc.pass(100 * time.Millisecond)
	}
	sc.foreignDelete("pairs", "left")
	a.settle()
	sc.cloudHas("pairs", "left", nil)
	sc.cloudHas("pairs", "right", row("right", "v", 2))
	sc.oneWith("pairs", "left")
	if len(a.records()) > 0 {
		sc.Errorf("an applied transaction is recorded: %v", a.records())
	}
}

func mustSplit(image attr.Item) attr.Item {
	it, _ := intent.Split(image)
	return it
}

func transactionTwice(sc *scene) {
	a := sc.node("A")
	put := store.WriteItem{Put: &store.PutItem{Table: "pairs", Item: row("x")}}
	_, err := a.do(func(tx *store.Tx) error {
		return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{put, put}})
	})
	if !kinds.Is(err, kinds.Invalid) || a.queued() != 0 {
		sc.Errorf("one item twice: %v, %d queued", err, a.queued())
	}
}

func transactionDeletes(sc *scene) {
	a, _ := both(sc, "pairs", nil)
	a.transact([]string{"left", "right"}, 1)
	a.settle()
	a.tap.loseAnswers(1)
	a.must(func(tx *store.Tx) error {
		return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
			{Delete: &store.DeleteItem{Table: "pairs", Key: pk("left")}},
			{Delete: &store.DeleteItem{Table: "pairs", Key: pk("right")}},
		}})
	})
	a.settle()
	sc.cloudHas("pairs", "left", nil)
	sc.cloudHas("pairs", "right", nil)
	if len(a.records()) > 0 {
		sc.Errorf("recorded: %v", a.records())
	}
}

func transactionTokens(sc *scene) {
	a := sc.node("A")
	a.tap.loseAnswers(2)
	a.transact([]string{"left", "right"}, 1)
	a.settle()
	sc.cloudHas("pairs", "left", row("left", "v", 1))
	a.tap.mu.Lock()
	defer a.tap.mu.Unlock()
	tokens := slices.Clone(a.tap.tokens)
	slices.Sort(tokens)
	if len(slices.Compact(tokens)) != len(a.tap.tokens) || slices.Contains(tokens, "") {
		sc.Errorf("tokens %q", a.tap.tokens)
	}
}

func lockRowDeleted(sc *scene) {
	a, b := sc.node("A"), sc.node("B")
	manager := func(p *player) *lease.Manager {
		m, err := lease.New(lease.Config{
			Table: cloudLocks{p.tap}, Node: p.name, Boot: "b1", TTL: 3 * time.Second, Skew: p.tap.Skew,
		})
		must(sc, err)
		return m
	}
	first, err := manager(a).Acquire(context.Background(), "match:m")
	must(sc, err)
	a.state("m", 1, first.Fence())
	a.settle()
	a.tap.offline()
	late := a.state("m", 3, first.Fence())
	sc.foreign(intent.Call{Op: store.OpDelete, Table: simLocks, Key: attr.Item{"lockKey": attr.S("match:m")}})
	second, err := manager(b).Acquire(context.Background(), "match:m")
	must(sc, err)
	if second.Fence() <= first.Fence() {
		sc.Fatalf("the fence went from %d to %d", first.Fence(), second.Fence())
	}
	b.reaches()
	must(sc, b.TookLease(context.Background(), "match:m", second.Fence(), guarded("m")))
	b.state("m", 2, second.Fence())
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("matches", "m", row("m", "upto", 2, "_f", second.Fence()))
	a.recorded(late)
	must(sc, second.Release(context.Background()))
	_ = first.Release(context.Background())
}

// A match has a higher fence than its lock, whose record was deleted and began again below it. That does not shut the holder out: its
// refused write raises the lock's fence, and the next one succeeds. A node without the lock raises nothing.
func holderBelow(sc *scene) {
	a, b := sc.node("A"), sc.node("B")
	manager := func(p *player) *lease.Manager {
		m, err := lease.New(lease.Config{
			Table: cloudLocks{p.tap}, Node: p.name, Boot: "b1", TTL: 5 * time.Minute, Skew: p.tap.Skew,
		})
		must(sc, err)
		return m
	}
	asked := make(chan int64, 10)
	locks := manager(a)
	held, err := locks.Acquire(context.Background(), "match:m")
	must(sc, err)
	a.raise = func(ctx context.Context, lock string, above int64) (int64, error) {
		fence, err := locks.Raise(ctx, lock, above)
		asked <- fence
		return fence, err
	}
	others := manager(b)
	b.raise = func(ctx context.Context, lock string, above int64) (int64, error) {
		fence, err := others.Raise(ctx, lock, above)
		asked <- fence
		return fence, err
	}
	fence := held.Fence()
	a.state("m", 1, fence)
	a.settle()
	sc.oneWith("matches", "m")
	a.tap.offline()
	b.tap.offline()
	refused, fencedOff := a.state("m", 2, fence), b.state("m", 9, fence)
	sc.foreignUpdate("matches", "m", "SET #f = :f", values("#f", "_f", ":f", fence+1000))
	b.tap.online()
	b.settle()
	b.recorded(fencedOff)
	if got := <-asked; got != 0 || held.Fence() != fence {
		sc.Errorf("a node without the lock has raised it to %d", got)
	}
	a.tap.online()
	a.settle()
	a.recorded(refused)
	if got := <-asked; got != fence+1001 || held.Fence() != got {
		sc.Fatalf("the fence is %d (%d), want %d", held.Fence(), got, fence+1001)
	}
	a.state("m", 3, held.Fence())
	a.settle()
	sc.cloudHas("matches", "m", row("m", "upto", 3, "_f", fence+1001))
	sc.oneWith("matches", "m")
	must(sc, held.Release(context.Background()))
}

// unfit makes an update that was valid here but does not fit the item that a foreign writer has put: a conflict, not poison.
func unfit(sc *scene, item attr.Item, update string, foreign attr.Item) {
	a, _ := both(sc, "items", item)
	a.tap.offline()
	seq := a.update("items", "x", update, "", values(":v", 1))
	other := a.update("items", "y", "SET v = :v", "", values(":v", 1))
	sc.foreignPut("items", foreign)
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", foreign)
	if c := a.recorded(seq); c.Kind == conflict.KindQuarantine {
		sc.Errorf("it is treated as poison: %v", c)
	}
	a.unrecorded(other)
	sc.cloudHas("items", "y", row("y", "v", 1))
	sc.oneWith("items", "x")
}

func olderPage(sc *scene) {
	a, _ := both(sc, "items", row("x", "v", 1))
	a.tap.with(func(t *tap) { t.slow = true })
	for held := 0; held == 0; a.tap.with(func(t *tap) { held = len(t.reads) }) {
		sc.pass(time.Second)
	}
	a.update("items", "x", "SET v = :v", "", values(":v", 2))
	a.settle()
	var reads []func()
	a.tap.with(func(t *tap) { reads = t.reads })
	reads[0]()
	sc.pass(time.Second)
	if got := a.see("items", pk("x")); !same(got, row("x", "v", 2)) {
		sc.Errorf("A sees %s", tell(got))
	}
	sc.oneWith("items", "x")
}

// expired returns a node with a row that is past its TTL and not yet deleted in the cloud.
func expired(sc *scene) *player {
	a := sc.node("A")
	a.reaches() // otherwise the row may expire before it is sent: a disk is slow, and the clock of a stage jumps
	ttl := sc.clock().Now().Unix() + 60
	a.put("rows", row("r", "v", "old", "ttl", ttl), "", values())
	a.settle()
	sc.pass(65 * time.Second)
	if a.see("rows", pk("r")) != nil {
		sc.Fatal("the row is visible past its TTL")
	}
	if a.holds("rows", pk("r")) == nil || sc.image("rows", pk("r")) == nil {
		sc.Fatalf("the row is gone before its deletion: here %s, in the cloud %s; %v",
			tell(a.holds("rows", pk("r"))), tell(sc.image("rows", pk("r"))), a.records())
	}
	return a
}

func expiredCreate(sc *scene) {
	a := expired(sc)
	create := func() error {
		_, err := a.do(func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{
				Table: "rows", Item: row("r", "v", "new", "ttl", sc.clock().Now().Unix()+3600), Condition: ifAbsent,
			})
			return err
		})
		return err
	}
	if err := create(); !kinds.Is(err, kinds.Conflict) {
		sc.Fatalf("a condition does not see the expired row before its deletion: %v", err)
	}
	sc.foreignDelete("rows", "r") // as its TTL does at last
	sc.round()
	must(sc, create())
	a.settle()
	if got := sc.image("rows", pk("r"))["v"].Str(); got != "new" {
		sc.Errorf("the cloud has %q", got)
	}
	sc.oneWith("rows", "r")
}

func expiredUpsert(sc *scene) {
	a := expired(sc)
	life := sc.image("rows", pk("r"))[intent.AttrLife].Str()
	ttl := sc.clock().Now().Unix() + 3600
	a.update("rows", "r", "SET v = :v, #ttl = :ttl", "", values("#ttl", "ttl", ":v", "new", ":ttl", ttl))
	a.settle()
	image := sc.image("rows", pk("r"))
	if got, _ := intent.Split(image); !same(got, row("r", "v", "new", "ttl", ttl)) {
		sc.Errorf("the cloud has %s", tell(got))
	}
	if image[intent.AttrLife].Str() == life {
		sc.Error("the row still has the life that had ended")
	}
	sc.oneWith("rows", "r")
}

func newestDelete(sc *scene, deleteFirst bool) {
	a, b := both(sc, "settings", row("s", "v", "one"))
	a.tap.offline()
	b.tap.offline()
	a.remove("settings", "s", "", values())
	sc.pass(5 * time.Second)
	b.update("settings", "s", "SET v = :v", "", values(":v", "later"))
	order := []*player{a, b}
	if !deleteFirst {
		order = []*player{b, a}
	}
	for _, p := range order {
		p.tap.online()
		p.settle()
	}
	sc.cloudHas("settings", "s", nil)
	sc.oneWith("settings", "s")
}

func coalescing(sc *scene) {
	a, b := both(sc, "items", row("g", "st", "idle"))
	a.tap.offline()
	one := a.update("items", "g", "SET st = :a", "st = :idle", values(":a", "active", ":idle", "idle"))
	two := a.update("items", "g", "SET st = :d", "st = :a", values(":d", "done", ":a", "active"))
	b.update("items", "g", "SET st = :busy", "", values(":busy", "busy"))
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "g", row("g", "st", "busy"))
	a.recorded(one)
	a.recorded(two)

	a.tap.offline()
	a.update("items", "g", "SET st = :a", "st = :busy", values(":a", "active", ":busy", "busy"))
	a.update("items", "g", "SET st = :d", "st = :a", values(":d", "done", ":a", "active"))
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "g", row("g", "st", "done"))
	sc.oneWith("items", "g")
}

func manyMarks(sc *scene) {
	marks := row("m", "v", 0, intent.AttrLife, "n0.0.1", intent.AttrCount, 20)
	for i := range 20 {
		n, err := attr.N(fmt.Sprintf("%d.123456789", i+1))
		must(sc, err)
		marks[fmt.Sprintf("%sn%d", intent.AttrMark, i)] = n
		sc.foreignPut(simSync, attr.Item{
			intent.SyncKey: attr.S(intent.NodeID(fmt.Sprintf("n%d", i))), "settled": attr.Int(1000), "incarnation": attr.Int(0),
		})
	}
	sc.foreignPut("items", marks)
	a := sc.node("A")
	for range 4 {
		sc.pass(10 * time.Minute)
		a.update("items", "m", "ADD v :one", "", values(":one", 1))
		a.settle()
	}
	_, side := intent.Split(sc.image("items", pk("m")))
	if len(side.Marks) > 9 {
		sc.Errorf("%d marks", len(side.Marks))
	}
	sc.cloudHas("items", "m", row("m", "v", 4))
}

func labelAndUpdate(sc *scene) {
	sc.foreignPut("items", row("x", "v", 1))
	a, b := sc.node("A"), sc.node("B")
	sc.oneWith("items", "x")
	a.tap.offline()
	seq := a.remove("items", "x", "", values())
	b.update("items", "x", "SET v = :v", "", values(":v", 2))
	b.settle()
	a.tap.online()
	a.settle()
	if sc.image("items", pk("x")) != nil {
		a.recorded(seq)
	}
	sc.oneWith("items", "x")
}

func foreignPutOverWaiting(sc *scene) {
	a, _ := both(sc, "items", row("x", "v", 1))
	a.tap.offline()
	a.update("items", "x", "SET w = :w", "", values(":w", 2))
	sc.foreignPut("items", row("x", "v", "foreign"))
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", row("x", "v", "foreign", "w", 2))
	sc.oneWith("items", "x")
}

func betweenLabelAndDelete(sc *scene) {
	sc.foreignPut("items", row("x", "st", "idle"))
	a := sc.node("A")
	sc.oneWith("items", "x")
	a.tap.with(func(t *tap) {
		t.between = func(c *intent.Call) {
			if c.Op == store.OpDelete {
				sc.foreignUpdate("items", "x", "SET st = :b", values(":b", "busy"))
			}
		}
	})
	seq := a.remove("items", "x", "st = :idle", values(":idle", "idle"))
	a.settle()
	sc.cloudHas("items", "x", row("x", "st", "busy"))
	a.recorded(seq)
	sc.oneWith("items", "x")
}

func queryOverDelete(sc *scene) {
	a, _ := both(sc, "items", row("x", "v", 1))
	a.tap.with(func(t *tap) { t.deaf = true })
	a.remove("items", "x", "", values())
	for range 3 {
		sc.round()
		if got := a.see("items", pk("x")); got != nil {
			sc.Fatalf("a page of the feed brought the item back: %s", tell(got))
		}
	}
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", nil)
	sc.oneWith("items", "x")
}

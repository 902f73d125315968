package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// cloud is DynamoDB as far as the protocol needs it: store/expr evaluates its conditions.
type cloud struct {
	t       fataler
	items   map[string]attr.Item
	effects map[string]int // by write id: how often the operation itself was applied
	made    map[string]int // and how often it created the item
	units   int            // write units, of 1 each
	cache   *expr.Cache
}

func newCloud(t fataler) *cloud {
	return &cloud{t: t, items: map[string]attr.Item{}, effects: map[string]int{}, made: map[string]int{}, cache: expr.NewCache(1000)}
}

func at(table string, key attr.Item) string { return table + string(attr.AppendJSON(nil, key)) }

// judge evaluates a call; do carries it out.
func (c *cloud) judge(call Call) (now attr.Item, err *Error) {
	old := c.items[at(call.Table, call.Key)]
	b, bad := c.cache.Bind(expr.Request{Update: call.Update, Condition: call.Condition, Params: call.Params})
	if bad != nil {
		c.t.Fatalf("the cloud does not take %+v: %v", call, bad)
	}
	if b.Condition != nil {
		if ok, bad := b.Condition.Match(expr.Item(old)); bad != nil || !ok {
			return nil, &Error{Class: ConditionFailed, Old: old}
		}
	}
	switch call.Op {
	case store.OpPut:
		now = call.Item
	case store.OpUpdate:
		from := old
		if from == nil {
			if !b.Update.Creates() {
				break
			}
			from = call.Key
		}
		if now, bad = b.Update.Apply(from); bad != nil {
			return nil, &Error{Class: Validation, Err: bad}
		}
	case store.OpDelete:
	default:
		now = old
	}
	if attr.Size(now) > attr.MaxItemSize {
		return nil, &Error{Class: TooLarge}
	}
	return now, nil
}

func (c *cloud) do(call Call, now attr.Item) {
	k := at(call.Table, call.Key)
	if call.Op != 0 {
		c.units++
		c.count(call, c.items[k], now)
	}
	if now == nil {
		delete(c.items, k)
	} else {
		c.items[k] = now
	}
}

// count records the effect of a call by the mark that it leaves or, for a delete, the mark that guards it.
func (c *cloud) count(call Call, old, now attr.Item) {
	name := call.Names["#a"]
	mark := call.Values[":a"]
	if name == "" || mark.IsZero() || call.Op == store.OpDelete && old == nil {
		return
	}
	if call.Op != store.OpDelete && !now[name].Equal(mark) {
		return
	}
	id := WriteID(strings.TrimPrefix(name, AttrMark), Whole(mark))
	c.effects[id]++
	if old == nil {
		c.made[id]++
	}
}

func (c *cloud) write(call Call) (attr.Item, *Error) {
	now, err := c.judge(call)
	if err != nil {
		return nil, err
	}
	c.do(call, now)
	return now, nil
}

func (c *cloud) transact(calls []Call) *Error {
	seen := map[string]bool{}
	images, reasons, bad := make([]attr.Item, len(calls)), make([]Reason, len(calls)), false
	for i, call := range calls {
		if k := at(call.Table, call.Key); seen[k] {
			c.t.Fatalf("an item twice in a transaction: %s", k)
		} else {
			seen[k] = true
		}
		now, err := c.judge(call)
		images[i], reasons[i] = now, Reason{Class: Applied}
		if err != nil {
			reasons[i], bad = Reason{Class: err.Class, Old: err.Old}, true
		}
	}
	if len(calls) > 100 {
		return &Error{Class: Validation}
	}
	if bad {
		return &Error{Class: Canceled, Reasons: reasons}
	}
	for i, call := range calls {
		c.do(call, images[i])
	}
	return nil
}

// ask answers an action.
func (c *cloud) ask(a Action) Answer {
	switch {
	case a.Kind == ActRead:
		var ans Answer
		for _, r := range a.Reads {
			ans.Items = append(ans.Items, c.items[at(r.Table, r.Key)])
		}
		return ans
	case a.Transact:
		return Answer{Err: c.transact(a.Calls)}
	}
	image, err := c.write(a.Calls[0])
	return Answer{Image: image, Err: err}
}

// world is a cloud and its nodes, at one instant.
type world struct {
	t            fataler
	cloud        *cloud
	now          time.Time
	transactions bool
	older        bool // nodes write as earlier versions did, whose creates have no proof
	replaying    bool // nodes send again what a restored cloud has lost
	nodes        map[string]*node
	specs        map[string]*store.TableSpec
	late         []late
	log          []string
}

// late is a request in flight. It is no longer accepted once its signature has expired.
type late struct {
	a     Action
	until time.Time
}

var epoch = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func newWorld(t fataler) *world {
	w := &world{t: t, cloud: newCloud(t), now: epoch, transactions: true, nodes: map[string]*node{}, specs: map[string]*store.TableSpec{}}
	for _, spec := range []store.TableSpec{
		{Name: "t", Policy: store.PolicyIntent, TTL: "ttl"},
		{Name: "u", Policy: store.PolicyIntent},
		{Name: "newest", Policy: store.PolicyNewest},
		{Name: "state", Policy: store.PolicyState, Lock: "match:{pk}", TTL: "ttl"},
		{Name: "events", Policy: store.PolicyIntent, Lock: "match:{match}"},
		{Name: "local", Policy: store.PolicyLocal},
		{Name: "locks", Policy: store.PolicyLock},
	} {
		spec.Key = store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
		w.specs[spec.Name] = &spec
	}
	return w
}

// node is a minimal driver: a queue, bases, and the outcomes of the writes.
type node struct {
	w          *world
	name       string
	seq        uint64
	known      map[string]Known
	queue      []*Entry
	done       map[uint64]Outcome // by sequence, tails included
	random     uint64
	asked      int
	events     bool   // returned by Env.Events
	lost       uint64 // what a lost timeline had settled
	unreported bool   // the cloud does not know what is settled
}

func (w *world) node(name string) *node {
	if n := w.nodes[name]; n != nil {
		return n
	}
	n := &node{w: w, name: name, seq: 1 << 40, known: map[string]Known{}, done: map[uint64]Outcome{}, events: true, random: uint64(len(name)) * 77}
	w.nodes[name] = n
	return n
}

func (n *node) env() Env {
	return Env{
		Node: n.name, Now: n.w.now, Synced: true, SyncTable: "touchline-sync", LockTable: "locks", Transactions: n.w.transactions,
		Spec: func(table string) *store.TableSpec { return n.w.specs[table] },
		Lost: n.lost, Replaying: n.w.replaying,
		Settled: func(node string, seq uint64) bool {
			return !(node == n.name && n.unreported) && n.w.settled(node, seq)
		},
		Past:   n.w.settled,
		Events: func(string, int64, uint64) bool { return n.events },
		Rand: func() uint64 {
			n.random = n.random*6364136223846793005 + 1442695040888963407
			return n.random >> 20
		},
		Exprs: n.w.cloud.cache,
	}
}

func (w *world) settled(name string, seq uint64) bool { return seq <= w.settledUpTo(name) }

func (w *world) settledUpTo(name string) uint64 {
	n := w.nodes[name]
	if n == nil {
		return 0
	}
	if len(n.queue) > 0 {
		return n.queue[0].Earliest() - 1
	}
	return n.seq
}

// Item and Transaction make a node a Queue.
func (n *node) Item(table string, key attr.Item) (out []*Entry) {
	for _, e := range n.queue {
		if e.Table == table && attr.EqualItems(e.Key, key) {
			out = append(out, e)
		}
	}
	return out
}

func (n *node) Transaction(txn uint64) (out []*Entry) {
	for _, e := range n.queue {
		if e.Txn == txn {
			out = append(out, e)
		}
	}
	return out
}

func key(id string) attr.Item { return attr.Item{"pk": attr.S(id)} }

// view is what readers of the node see.
func (n *node) view(table, id string) attr.Item {
	it, _ := View(n.known[at(table, key(id))], n.Item(table, key(id)), n.env())
	return it
}

// learn is a feed: the node reads an item.
func (n *node) learn(table, id string) {
	k := at(table, key(id))
	item, side := Split(n.w.cloud.items[k])
	before, after := n.known[k], Known{Item: item, Side: side}
	Rebase(before, after, n.Item(table, key(id)), n.env())
	n.known[k] = after
}

// batch returns the batch of the first entry that is not waiting.
func (n *node) batch() *Batch {
	seen := map[string]bool{}
	for _, e := range n.queue {
		k := at(e.Table, e.Key)
		if seen[k] {
			continue
		}
		seen[k] = true
		if e.Held != HoldNone {
			continue
		}
		if e.Txn == 0 {
			return &Batch{Entries: []*Entry{e}}
		}
		u := &Batch{Entries: n.Transaction(e.Txn)}
		first := true
		for _, m := range u.Entries {
			first = first && n.Item(m.Table, m.Key)[0] == m
		}
		if first {
			return u
		}
	}
	return nil
}

func (n *node) bases(u *Batch) []Known {
	out := make([]Known, len(u.Entries))
	for i, e := range u.Entries {
		out[i] = n.known[at(e.Table, e.Key)]
	}
	return out
}

// fate is what the network does with a request.
type fate int

const (
	arrive fate = iota
	loseAnswer
	loseRequest
	delay
	throttle
)

// step takes the next batch one action further; false: nothing waits, or the batch is parked.
func (n *node) step(f fate) bool {
	u := n.batch()
	if u == nil {
		return false
	}
	known := n.bases(u)
	a := u.Next(known, n.env())
	switch a.Kind {
	case ActPark:
		n.w.log = append(n.w.log, n.name+": parked, "+a.Why)
		return false
	case ActSettle:
		n.settle(u, *a.Outcome)
		return true
	}
	u.Attempt(&a)
	n.asked++
	ans := Answer{Err: &Error{Class: Unknown}}
	switch f {
	case arrive:
		ans = n.w.cloud.ask(a)
	case loseAnswer:
		n.w.cloud.ask(a)
	case loseRequest:
	case throttle:
		ans.Err.Class = Throttled
	case delay:
		if a.Kind == ActSend {
			n.w.late = append(n.w.late, late{a, n.w.now.Add(SignedFor)})
		}
	}
	o := u.SettleAnswer(a, ans, known, n.env())
	n.w.log = append(n.w.log, fmt.Sprintf("%s: step %d fate %d -> result %d %s", n.name, a.step, f, o.Result, o.Code))
	n.settle(u, o)
	return true
}

// settle does what a worker does with an outcome.
func (n *node) settle(u *Batch, o Outcome) {
	for i, k := range o.Known {
		if k != nil {
			e := u.Entries[i]
			n.known[at(e.Table, e.Key)] = *k
		}
	}
	switch {
	case o.Result == OutQuarantine:
		for _, e := range QueuedBehind(u, n) {
			e.Held = HoldTail
			n.done[e.Seq] = o
		}
		for _, e := range u.Entries {
			e.Held = HoldPoison
			n.done[e.Seq] = o
		}
	case o.Result == OutRenumber:
		n.seq++
		e := u.Entries[0]
		e.Folds = append(e.Folds, e.Seq)
		e.Seq, e.Digits, e.lost = n.seq, 1, false
	case o.Result.IsSettled():
		gone := slices.Clone(u.Entries)
		if o.Result == OutConflict {
			gone = append(gone, Tail(u, n)...)
		}
		for _, e := range gone {
			n.done[e.Seq] = o
			for _, seq := range e.Folds {
				n.done[seq] = o
			}
		}
		n.queue = slices.DeleteFunc(n.queue, func(e *Entry) bool { return slices.Contains(gone, e) })
		for _, e := range u.Entries {
			var later []*Entry
			for _, l := range n.Item(e.Table, e.Key) {
				if l.Earliest() > e.Earliest() {
					later = append(later, l)
				}
			}
			Follow(e, o, n.known[at(e.Table, e.Key)], later, n.env())
		}
	}
}

// crash forgets what is in memory only.
func (n *node) crash() {
	for i, e := range n.queue {
		again, err := DecodeEntry(e.Encode())
		if err != nil {
			n.w.t.Fatal(err)
		}
		n.queue[i] = again
	}
}

// drain sends everything that waits, and advances time while something is parked.
func (n *node) drain() {
	for range 400 {
		if n.step(arrive) {
			continue
		}
		if n.batch() == nil {
			return
		}
		n.w.now = n.w.now.Add(5 * time.Minute)
	}
	n.w.t.Fatalf("%s does not drain: %+v\n%s", n.name, n.queue[0], strings.Join(n.w.log[max(0, len(n.w.log)-30):], "\n"))
}

// deliver makes the delayed requests arrive whose signatures are still valid.
func (w *world) deliver() {
	for _, l := range w.late {
		if w.now.Before(l.until) {
			w.cloud.ask(l.a)
			w.log = append(w.log, "a late copy arrives")
		}
	}
	w.late = nil
}

// foreign writes as a foreign writer does, without our attributes.
func (w *world) foreignPut(table, id string, pairs ...any) {
	it := values(pairs...)
	it["pk"] = attr.S(id)
	w.cloud.items[at(table, key(id))] = it
}

func (w *world) foreignSet(table, id string, pairs ...any) {
	it := maps.Clone(w.cloud.items[at(table, key(id))])
	if it == nil {
		it = key(id)
	}
	maps.Copy(it, values(pairs...))
	w.cloud.items[at(table, key(id))] = it
}

func (w *world) foreignDelete(table, id string) { delete(w.cloud.items, at(table, key(id))) }

// item is what the cloud holds, without sidecar.
func (w *world) item(table, id string) attr.Item {
	it, _ := Split(w.cloud.items[at(table, key(id))])
	return it
}

func show(it attr.Item) string {
	if it == nil {
		return "nothing"
	}
	it = maps.Clone(it)
	delete(it, "pk")
	return string(attr.AppendJSON(nil, it))
}

// want compares what the cloud holds.
func (w *world) want(table, id, text string) {
	w.t.Helper()
	if got := show(w.item(table, id)); got != text {
		w.t.Errorf("the cloud has %s, want %s\n%s", got, text, strings.Join(w.log, "\n"))
	}
}

// result compares what became of an entry.
func (n *node) result(e *Entry, r Result, code Code) {
	n.w.t.Helper()
	o, ok := n.done[e.Seq]
	if !ok || o.Result != r || o.Code != code {
		n.w.t.Errorf("entry %d became %d %q, want %d %q\n%s", e.Seq-1<<40, o.Result, o.Code, r, code, strings.Join(n.w.log, "\n"))
	}
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

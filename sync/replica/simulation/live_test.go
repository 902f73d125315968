package simulation_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Checks made during the faults, on nodes as applications see them. Effects are judged when they happen (book_test.go), and the account
// is checked once nothing is in flight (check_test.go).

// glance reads as an application would, and checks that no reader is open while the process is idle.
func (b *book) glance(l *simLife) {
	b.monotone(l)
	b.resumedPasses(l)
	b.terms(l)
	if b.s.luck.once(4) {
		b.pairs(l)
	}
	if b.s.luck.once(10) {
		b.checkpoint(l)
	}
	if b.s.luck.once(5) {
		b.reportsTrue(l)
	}
	if open := l.store.Stats().OpenReaders; open > int(l.readers.Load()) && !l.dead.Load() {
		b.s.violate("%s is idle and has %d open readers", l.n.name, open)
	}
}

// monotone reads an item and checks that it never goes back, neither to an earlier state of the cloud nor to before what this node itself
// knows to be applied.
func (b *book) monotone(l *simLife) {
	table, key := "items", itemKey(b.s)
	if b.s.once(3) {
		table, key = "settings", pk(fmt.Sprintf("s%d", b.s.n(3)))
	}
	it := l.view(table, key)
	if l.dead.Load() || it == nil {
		return
	}
	item, text := table+" "+keyText(key), imageText(it)
	floor := max(l.n.reads[item], b.proven(l, item))
	b.mu.Lock()
	var oldest, newest uint64
	for _, im := range b.images[item] {
		if im.text == text {
			if newest = im.n; oldest == 0 || oldest < floor {
				oldest = im.n
			}
		}
	}
	b.mu.Unlock()
	switch {
	case newest == 0:
	case newest >= floor:
		l.n.reads[item] = max(oldest, floor)
	case !b.unsettled(l, item):
		b.s.violate("%s read %s as it was at #%d after #%d", l.n.name, item, newest, floor)
	}
}

// proven returns the last effect on an item among those writes of a node that it knows to be applied. For a write with several effects it
// is the first: the protocol accepts copies that arrive after a foreign writer or the TTL has ended the life, and the node that was told
// of the first need not have read what came since.
func (b *book) proven(l *simLife, item string) (n uint64) {
	b.mu.Lock()
	acts := b.ofItem[l.n.name+" "+item]
	acts = acts[max(0, len(acts)-3):]
	strict := b.epoch == 0 && !b.cloned[l.n.name]
	b.mu.Unlock()
	for _, a := range acts {
		if !strict || a.gone || a.maybe {
			continue
		}
		if p, err := l.rep.ProofOf(context.Background(), a.seq); err != nil || p != replica.ProofApplied {
			continue
		}
		n = max(n, b.firstOf(a, item))
	}
	return n
}

// firstOf returns the first effect of a write on an item, 0: none. An effect from before it was written belongs to another write, which
// had its number in a lost timeline.
func (b *book) firstOf(a *act, item string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.effects[fmt.Sprintf("%s %d", a.node, a.seq)] {
		if e.item == item && e.n > a.after {
			return e.n
		}
	}
	return 0
}

// unsettled reports whether a write of the node on the item waits: then the view is no image of the cloud.
func (b *book) unsettled(l *simLife, item string) bool {
	b.mu.Lock()
	acts := b.ofItem[l.n.name+" "+item]
	b.mu.Unlock()
	for _, a := range acts {
		if p, err := l.rep.ProofOf(context.Background(), a.seq); err != nil || p == replica.ProofPending {
			return true
		}
	}
	return false
}

// reads checks that a process reads its own writes. Under policy newest, another's write may have a later time.
func (b *book) reads(l *simLife, acts []*act) {
	last := map[string]*act{}
	for _, a := range acts {
		last[a.table+" "+keyText(a.key)] = a
	}
	for _, a := range acts {
		if item := a.table + " " + keyText(a.key); last[item] != a || a.table == "settings" || a.op != store.OpDelete && a.id == "" {
			continue
		}
		it := l.view(a.table, a.key)
		if l.dead.Load() {
			return
		}
		if (a.op == store.OpDelete && it != nil || a.id != "" && !holds(it, a.id)) && !b.overtaken(l, a) {
			b.s.violate("%s does not read its own write: %s %s id %s, but %s", l.n.name, a.table, keyText(a.key), a.id, tell(it))
		}
	}
}

// holds reports whether an item has a value.
func holds(it attr.Item, id string) bool {
	for _, v := range it {
		if v.Str() == id || v.Map()["x"].Str() == id {
			return true
		}
	}
	return false
}

// pairs checks that a node shows its own transactions whole while they wait. Accepted: of those in the cloud each item is read
// separately, as in DynamoDB, so one half of another node's may be here before the other. That the cloud never has half of one is checked
// at the end (whole).
func (b *book) pairs(l *simLife) { b.pair(l, b.s.luck.n(3)) }

func (b *book) pair(l *simLife, p int) {
	left, right := pk(fmt.Sprintf("p%d-left", p)), pk(fmt.Sprintf("p%d-right", p))
	var one, other attr.Item
	err := l.store.View(context.Background(), func(tx *store.Tx) (err error) {
		if one, err = tx.Get("pairs", left); err == nil {
			other, err = tx.Get("pairs", right)
		}
		return err
	})
	if err != nil || one["v"].Str() == other["v"].Str() {
		return
	}
	b.s.net.Count("two halves were read apart")
	for _, half := range []struct {
		here attr.Item
		not  attr.Item // the key of the other half
		over attr.Item // what is shown there
	}{{one, right, other}, {other, left, one}} {
		id := half.here["v"].Str()
		if b.waits(l, "pairs "+half.here["pk"].Str(), id) && !b.lostBelow(l, half.not, id) && !b.readThenLost(half.not, id, half.over) {
			b.s.violate("%s sees half of its own transaction: %s and %s", l.n.name, tell(one), tell(other))
		}
	}
}

// waits reports whether a value on an item is of a write of the node that the cloud does not have.
func (b *book) waits(l *simLife, item, id string) bool {
	b.mu.Lock()
	acts := b.ofItem[l.n.name+" "+item]
	b.mu.Unlock()
	for _, a := range acts {
		if a.id == id && !a.maybe && !a.gone {
			p, err := l.rep.ProofOf(context.Background(), a.seq)
			return err == nil && p == replica.ProofPending
		}
	}
	return false
}

// checkpoint checks that a feed has adopted what it reports as read: once two passes have ended since a time, the second began after it,
// and the node has all that the cloud had then.
func (b *book) checkpoint(l *simLife) {
	st, err := l.rep.Status(context.Background())
	if err != nil || l.dead.Load() {
		return
	}
	for _, t := range st.Tables {
		if t.Stopped != nil {
			b.s.net.Count("a table was stopped")
			l.stopsAt(t.Table, t.Stopped.Why)
		}
	}
	for i, rule := range simPolls() {
		was, ok := l.n.passed[rule.Table]
		switch {
		case !ok || was.run != l.n.runs:
		case st.Feed[i].Passes < was.passes+2:
			continue
		default:
			b.taken(l, rule.Table, was.n, false)
		}
		b.mu.Lock()
		l.n.passed[rule.Table] = passedAt{run: l.n.runs, passes: st.Feed[i].Passes, n: b.latest}
		b.mu.Unlock()
	}
}

// passedAt is how far a node's feed had come at a number of effects in the cloud.
type passedAt struct {
	run    int
	passes uint64
	n      uint64
}

// taken compares the items of a table that have not changed in the cloud since an effect; with there, only those that exist.
func (b *book) taken(l *simLife, table string, n uint64, there bool) {
	if table == "rows" { // an expired item may already be gone at one of the two
		return
	}
	b.mu.Lock()
	quiet := map[string]attr.Item{}
	for item, last := range b.changed[table] {
		if last.n <= n {
			quiet[item] = last.key
		}
	}
	epoch := b.epoch
	b.mu.Unlock()
	if epoch > 0 {
		return // what a restored table has lost is kept here for a while
	}
	b.s.net.Count("a complete pass compared")
	for _, item := range slices.Sorted(maps.Keys(quiet)) {
		key := quiet[item]
		is, _ := intent.Split(b.s.cloud.Item(table, key))
		if is == nil && there {
			continue
		}
		here := l.view(table, key)
		if imageText(here) != imageText(is) && !l.dead.Load() && !b.unsettled(l, table+" "+keyText(key)) {
			b.s.violate("%s has read all of %s, but %s is %s here and %s in the cloud", l.n.name, table, keyText(key), tell(here), tell(is))
		}
	}
}

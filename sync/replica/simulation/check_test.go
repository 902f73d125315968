package simulation_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// settle checks the account once nothing is in flight any more.
func (b *book) settle() {
	recorded := b.recorded()
	b.account(recorded)
	b.refusals(recorded)
	b.records()
	b.deletes(recorded)
	b.counters(recorded)
	b.settled()
	b.converged()
	b.firsts(recorded)
	b.whole()
	b.events(recorded)
	b.links(recorded)
	b.kept(recorded)
	b.bounded()
	for m := range simMatches {
		lock := fmt.Sprintf("match:m%d", m)
		if idle := time.Since(b.locks.renewed[lock]); idle > time.Minute {
			b.s.violate("nobody has held %s for %v", lock, idle)
		}
	}
}

// recorded lists the entries in the conflict logs, by node and sequence.
func (b *book) recorded() map[string]*conflict.Record {
	out := map[string]*conflict.Record{}
	for _, n := range b.s.nodes {
		l := n.up()
		if l == nil {
			continue
		}
		note := func(e *intent.Entry, c *conflict.Record) {
			if !answersFor(c) {
				return
			}
			for _, seq := range append([]uint64{e.Seq}, e.Folds...) {
				out[fmt.Sprintf("%s %d", n.name, seq)] = c
			}
		}
		for _, c := range l.conflicts() {
			b.s.net.Count("conflict record: " + string(c.Kind) + " " + c.Code)
			for _, d := range c.Decided {
				note(d.Entry, c)
			}
			for _, e := range c.Tail {
				note(e, c)
			}
		}
	}
	return out
}

// answersFor reports whether a record is an end for a write that was acknowledged: a person is asked or has decided, a merge has, or the
// table's policy is that another write wins. That another copy of the node may have sent it is none.
func answersFor(c *conflict.Record) bool {
	return c.State != conflict.StateDecided || c.Kind == conflict.KindSuperseded || c.Kind == conflict.KindFencedOff
}

// account finds every acknowledged write: it has had an effect, is in the conflict log, or was folded into a later one.
func (b *book) account(recorded map[string]*conflict.Record) {
	later := map[string]bool{} // node and item: a later write of it is accounted for
	for _, a := range slices.Backward(b.acts) {
		if a.gone || b.cloned[a.node] {
			continue
		}
		entry := fmt.Sprintf("%s %d", a.node, a.seq)
		item := a.node + " " + a.table + " " + keyText(a.key)
		switch {
		case b.had(a), recorded[entry] != nil, a.id != "" && slices.ContainsFunc(b.shown[a.id], b.stands), a.table == "matches" && b.epoch > 0,
			(a.op == store.OpDelete || a.id == "") && b.proved(a), // sums are compared separately
			a.seq <= b.carried[item]:
			later[item] = true
		case a.maybe: // it was never acknowledged; if it was applied after all, so is what was folded into it
		case !b.hasSent(a) && later[item]: // folded
		default:
			b.s.violate("lost: %s %s on %s seq %d id %s (sent %v)", a.node, a.what, item, a.seq, a.id, b.hasSent(a))
		}
	}
}

func (b *book) proved(a *act) bool {
	for _, n := range b.s.nodes {
		if l := n.up(); n.name == a.node && l != nil {
			p, err := l.rep.ProofOf(context.Background(), a.seq)
			return err == nil && p == replica.ProofApplied
		}
	}
	return false
}

// counters compares the sums with the acknowledged additions.
func (b *book) counters(recorded map[string]*conflict.Record) {
	for c := range 3 {
		key := fmt.Sprintf("c%d", c)
		low, high := b.foreign[key], b.foreign[key]
		if b.epoch > 0 {
			low = 0 // a restored cloud has forgotten some of what foreign writers did
		}
		for _, a := range b.acts {
			if a.table != "counters" || a.key["pk"].Str() != key {
				continue
			}
			record := recorded[fmt.Sprintf("%s %d", a.node, a.seq)]
			switch {
			case a.gone: // the record is of a later write with its number
				high += a.inc
			case record != nil && !b.had(a):
				if record.Kind == conflict.KindUnknown || record.Kind == conflict.KindLost {
					high += a.inc
				}
			case a.maybe || b.cloned[a.node]:
				high += a.inc
				if b.cloned[a.node] && b.had(a) { // one copy has sent it, and the other may have folded it into a later one (DESIGN, Limits)
					high += a.inc
				}
			default:
				low, high = low+a.inc, high+a.inc
				if a.seq <= b.pruned[a.node+" counters "+key] {
					high += a.inc
				}
			}
		}
		got, _ := b.s.cloud.Item("counters", pk(key))["n"].Int()
		if got < low || got > high {
			b.s.violate("counter %s is %d, acknowledged were %d to %d", key, got, low, high)
		}
	}
}

// converged compares every node with the cloud, item by item.
func (b *book) converged() {
	for _, spec := range simSpecs() {
		if spec.Policy == store.PolicyLocal {
			continue
		}
		want := map[string]string{}
		for _, image := range b.s.cloud.Items(spec.Name) {
			it, _ := intent.Split(image)
			want[keyText(keyIn(it))] = tell(it)
		}
		for _, n := range b.s.nodes {
			if l := n.up(); l != nil {
				b.compare(l, spec.Name, want)
			}
		}
	}
}

// compare checks that a node has what the cloud has, and shows nothing else. Each node hides what is past its TTL by its own clock,
// which may have drifted by some seconds, but keeps it until the cloud has removed it.
func (b *book) compare(l *simLife, table string, want map[string]string) {
	kept, shown := l.rows(table, true), l.rows(table, false)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if kept[key] != want[key] {
			b.s.violate("diverged: %s %s is %s at %s and %s in the cloud", table, key, cmp.Or(kept[key], tell(nil)), l.n.name, want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		if want[key] == "" && !b.lacks(table) {
			b.s.violate("diverged: %s %s is %s at %s and not in the cloud", table, key, shown[key], l.n.name)
		}
	}
}

func tell(it attr.Item) string {
	if it == nil {
		return "nothing"
	}
	return string(attr.AppendJSON(nil, it))
}

// firsts checks that each key has one winner, and that every loser is in the conflict log.
func (b *book) firsts(recorded map[string]*conflict.Record) {
	won := map[string]string{}
	for _, a := range b.acts {
		entry := fmt.Sprintf("%s %d", a.node, a.seq)
		if a.table != "firsts" || !b.had(a) || b.epoch > 0 || b.cloned[a.node] {
			continue
		}
		key := keyText(a.key)
		if won[key] != "" {
			b.s.violate("firsts %s was won by %s and %s", key, won[key], entry)
		}
		if c := recorded[entry]; c != nil && !a.gone && about(c, a) {
			b.s.violate("firsts %s: %s has won and is in the conflict log (%s)", key, entry, recorded[entry])
		}
		won[key] = entry
	}
}

// about reports whether a record concerns a write on that item.
func about(c *conflict.Record, a *act) bool {
	same := func(e *intent.Entry) bool { return e.Table == a.table && attr.EqualItems(e.Key, a.key) }
	return slices.ContainsFunc(c.Tail, same) ||
		slices.ContainsFunc(c.Decided, func(d conflict.Decided) bool { return same(d.Entry) })
}

// whole checks that no transaction has had half an effect.
func (b *book) whole() {
	halves := map[uint64]map[string]bool{}
	for _, e := range b.s.cloud.Log(0) {
		if e.Table != "pairs" || e.By == "restore" || e.By == "ttl" {
			continue
		}
		if e.Mark != "" && e.Txn == 0 {
			if _, _, _, closes := markParts(e.Mark); !closes {
				b.s.violate("half a transaction: #%d on %s", e.N, keyText(e.Key))
			}
			continue
		}
		if halves[e.Txn] == nil {
			halves[e.Txn] = map[string]bool{}
		}
		halves[e.Txn][keyText(e.Key)] = true
	}
	for _, txn := range slices.Sorted(maps.Keys(halves)) {
		keys := halves[txn]
		if txn != 0 && len(keys) != 2 {
			b.s.violate("half a transaction: %d wrote %v", txn, keys)
		}
	}
}

// events checks that no state arrived before its events, unless these ended in a conflict log, or may have ended in one that was lost
// when the machine was restored to a snapshot.
func (b *book) events(recorded map[string]*conflict.Record) {
	known := map[string]bool{}
	for _, a := range b.acts {
		key := a.key["pk"].Str() + " " + a.key["sk"].Str()
		if a.table == "events" && (a.undone && b.owed[key].by == a.node || recorded[fmt.Sprintf("%s %d", a.node, a.seq)] != nil) {
			known[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.owed)) {
		n := b.owed[key].n
		if !known[key] && b.epoch == 0 {
			b.s.violate("the state of #%d came before its event %s", n, key)
		}
	}
}

// bounded checks that nothing grows without bound.
func (b *book) bounded() {
	for _, n := range b.s.nodes {
		if l := n.up(); l != nil {
			if readers := l.store.Stats().OpenReaders; readers > 0 {
				b.s.violate("%s has %d open readers", n.name, readers)
			}
		}
	}
	for _, table := range appTables() {
		for _, image := range b.s.cloud.Items(table) {
			_, side := intent.Split(image)
			if len(side.Marks) > 8+len(b.s.nodes) {
				b.s.violate("%s %s has %d marks", table, keyText(keyIn(image)), len(side.Marks))
			}
		}
	}
}

var _ remote.Cloud = (*simcloud.Link)(nil)

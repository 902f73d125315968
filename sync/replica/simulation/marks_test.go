package simulation_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Checks of what a node's effect leaves of other nodes' attributes on the item: their marks, and the time of the newest write.

// reportedAt is how far a node had reported itself settled.
type reportedAt struct {
	seq uint64
	at  time.Time
}

// leaves judges an effect of a node on an item that continues to exist.
func (b *book) leaves(e *simcloud.Effect) {
	life := e.Old[intent.AttrLife]
	if b.epoch > 0 || e.New == nil || life.IsZero() || !slices.ContainsFunc(b.s.nodes, func(n *simNode) bool { return n.name == e.By }) {
		return
	}
	if now := e.New[intent.AttrLife]; !life.Equal(now) {
		if e.Op == store.OpUpdate {
			b.s.violate("renamed: #%d made the life %s of %s %s to %s", e.N, life.Str(), e.Table, keyText(e.Key), now.Str())
		}
		return
	}
	again := e.Op == store.OpPut && b.againThere(e.Table+" "+keyText(e.Key), life.Str())
	for name, was := range e.Old {
		if node, ok := strings.CutPrefix(name, intent.AttrMark); ok && node != e.By && !again {
			b.markStays(e, node, was)
		}
	}
	was, is := timeOf(e.Old), timeOf(e.New)
	if was > is && was <= e.At.UnixMicro() {
		b.s.violate("older: #%d on %s %s has the time %d, and %d was there", e.N, e.Table, keyText(e.Key), is, was)
	}
}

// againThere reports whether a life that a foreign writer or the TTL ended may have been begun again by a late copy of its create,
// without a proof. Accepted: by its name and count it may be the first one, so a Put computed on that replaces it (DESIGN, Limits).
func (b *book) againThere(item, life string) bool { return !b.proofs() && b.lives[item+" "+life].cut }

// markStays checks that another node's mark survives an effect, unless no copy of its entry can arrive any more.
func (b *book) markStays(e *simcloud.Effect, node string, was attr.Value) {
	is := e.New[intent.AttrMark+node]
	if !is.IsZero() {
		if order, _ := attr.Compare(is, was); order < 0 {
			b.s.violate("#%d set the mark of %s on %s %s back from %s to %s", e.N, node, e.Table, keyText(e.Key), was.Str(), is.Str())
		}
		return
	}
	_, _, seq, _ := markParts(node + " " + was.Str())
	since := e.At.Add(-b.s.limits().Signed * 97 / 100)
	if !slices.ContainsFunc(b.settledBy[node], func(t reportedAt) bool { return t.seq >= seq && t.at.Before(since) }) {
		b.s.violate("#%d removed the mark %s of %s on %s %s, although copies may arrive", e.N, was.Str(), node, e.Table, keyText(e.Key))
	}
}

// timeOf is the time that an item carries, in microseconds.
func timeOf(it attr.Item) int64 {
	micros, _, _ := strings.Cut(it[intent.AttrTime].Str(), ".")
	var t int64
	for _, c := range micros {
		t = 10*t + int64(c-'0')
	}
	return t
}

// reportsTrue checks that what a node reports as settled is settled: others rely on it when they delete items and remove marks.
func (b *book) reportsTrue(l *simLife) {
	b.mu.Lock()
	reported := b.settledBy[l.n.name]
	judged := len(reported) > 0 && b.epoch == 0 && !l.n.restored && !b.cloned[l.n.name]
	var last []*act
	for i := len(b.acts) - 1; judged && i >= 0 && len(last) < 8; i-- {
		if a := b.acts[i]; a.node == l.n.name && !a.maybe && a.seq <= reported[len(reported)-1].seq {
			last = append(last, a)
		}
	}
	b.mu.Unlock()
	for _, a := range last {
		if p, err := l.rep.ProofOf(context.Background(), a.seq); err == nil && p == replica.ProofPending && !l.dead.Load() {
			b.s.violate("%s has reported %d settled, but %d waits", l.n.name, reported[len(reported)-1].seq, a.seq)
		}
	}
}

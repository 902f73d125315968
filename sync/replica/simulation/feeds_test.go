package simulation_test

import (
	"context"
	"slices"

	"github.com/touchline/touchline/sync/replica/remote"
)

// A feed continues a pass that an earlier process began, without reading again what that one had adopted.

// passFrom is a pass over a whole table.
type passFrom struct {
	run int    // in which the pass began
	n   uint64 // the last effect at that time
}

// reads is called for each page requested, before and after its answer.
func (s *sim) reads(node string, r remote.Reading, page *remote.Page) {
	for _, n := range s.nodes {
		if n.name == node {
			s.book.reading(n, r, page)
		}
	}
}

// reading is reads for one node.
func (b *book) reading(n *simNode, r remote.Reading, page *remote.Page) {
	if r.KeyCondition != "" || !slices.Contains(appTables(), r.Table) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cloned[n.name] {
		return
	}
	if n.begun == nil {
		n.begun, n.resumed = map[string]passFrom{}, map[string]passFrom{}
	}
	from, known := n.begun[r.Table]
	switch {
	case page == nil && r.After == nil:
		n.begun[r.Table] = passFrom{run: n.runs, n: b.latest}
	case page != nil && page.LastKey == nil && known && from.run != n.runs:
		n.resumed[r.Table] = passFrom{run: n.runs, n: from.n}
	}
}

// resumedPasses checks that a pass begun by one process and ended by another has missed nothing.
func (b *book) resumedPasses(l *simLife) {
	b.mu.Lock()
	some := len(l.n.resumed) > 0
	b.mu.Unlock()
	if !some {
		return
	}
	st, err := l.rep.Status(context.Background())
	if err != nil || l.dead.Load() {
		return
	}
	for i, rule := range simPolls() {
		b.mu.Lock()
		from, ok := l.n.resumed[rule.Table]
		due := ok && (from.run != l.n.runs || st.Feed[i].Passes > 0)
		if due {
			delete(l.n.resumed, rule.Table)
		}
		b.mu.Unlock()
		if due && from.run == l.n.runs {
			b.s.net.Count("a pass was resumed")
			b.taken(l, rule.Table, from.n, true)
		}
	}
}

// forgets drops what is known of the passes of a restored machine.
func (n *simNode) forgets() {
	n.s.book.mu.Lock()
	defer n.s.book.mu.Unlock()
	clear(n.begun)
	clear(n.resumed)
}

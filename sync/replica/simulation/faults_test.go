package simulation_test

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
)

// mishap is something that happens to the world. The faults of single requests are in simcloud.
type mishap struct {
	name  string
	rare  int                       // it happens in one of this many turns
	seeds int                       // it happens at all in one of this many seeds; 0: in each
	do    func(*sim, *simNode) bool // false: not possible at the moment
}

// mishaps lists all of them, in the order in which they are drawn.
func mishaps() []mishap {
	return slices.Concat(processFaults(), clockFaults(), copyFaults(), lockFaults(), cloudFaults(), diskFaults(), foreignFaults(), clusterFaults(), plots())
}

// mishapsOf returns those of a seed.
func mishapsOf(seed uint64) []mishap {
	return slices.DeleteFunc(mishaps(), func(m mishap) bool { return m.seeds > 0 && !picked(seed, m.name, m.seeds) })
}

// picked reports whether a seed is one of those, one in so many, that have something.
func picked(seed uint64, what string, of int) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(what))
	return (h.Sum64()>>8+seed*0x9e3779b97f4a7c15>>8)%uint64(of) == 0
}

// due draws whether it happens now. Those that not every seed has are drawn from a generator of their own.
func (m *mishap) due(s *sim) bool {
	rare := m.rare
	if s.dwells(m.name) {
		rare /= 10
	}
	if m.seeds > 0 {
		return s.luck.once(rare)
	}
	return s.once(rare)
}

// always makes a mishap that is always possible.
func always(do func(*sim, *simNode)) func(*sim, *simNode) bool {
	return func(s *sim, n *simNode) bool {
		do(s, n)
		return true
	}
}

// running makes a mishap that happens to a running process.
func running(do func(*sim, *simLife)) func(*sim, *simNode) bool {
	return func(s *sim, n *simNode) bool {
		l := n.up()
		if l != nil {
			do(s, l)
		}
		return l != nil
	}
}

// processFaults concern networks and processes.
func processFaults() []mishap {
	return []mishap{
		{"lasting fault", 40, 0, running(func(s *sim, l *simLife) {
			modes := simcloud.Modes()
			mode := modes[s.n(len(modes))]
			l.link.SetMode(mode)
			s.trace("%s network: %s", l.n.name, mode)
			s.timer.After(s.span(300*time.Millisecond, 3*time.Minute), func() { l.link.SetMode(simcloud.None) })
		})},
		{"crash", 90, 0, running(func(_ *sim, l *simLife) { l.n.kill() })},
		{"crash at a failpoint", 60, 0, func(s *sim, n *simNode) bool {
			return n.up() != nil && n.killIn.CompareAndSwap(0, int32(1+s.n(40)))
		}},
		{"crash loop", 400, 0, always(func(s *sim, n *simNode) {
			for range 3 {
				n.kill()
				n.start()
				s.sleep(s.span(time.Millisecond, 2*time.Second))
			}
		})},
		{"crash at one failpoint", 60, 2, running(func(s *sim, l *simLife) {
			points := failpoints()
			l.n.killAt.Store(&points[s.luck.n(len(points))])
		})},
		{"start", 15, 0, func(_ *sim, n *simNode) bool {
			down := n.up() == nil
			if down {
				n.start()
			}
			return down
		}},
	}
}

// clockFaults concern clocks and paused machines.
func clockFaults() []mishap {
	return []mishap{
		{"pause 25 s", 250, 0, running(func(_ *sim, l *simLife) { l.n.pause(25*time.Second, false) })},
		{"suspend", 300, 0, running(func(s *sim, l *simLife) { l.n.pause(s.span(time.Second, 10*time.Minute), true) })},
		{"clock step", 150, 0, always(func(s *sim, n *simNode) { n.setClock(n.ahead() + s.about(6*time.Hour)) })},
		{"clock right", 100, 0, always(func(_ *sim, n *simNode) { n.setClock(0) })},
		{"1970 at boot", 400, 0, always(func(_ *sim, n *simNode) {
			n.kill()
			n.setClock(-time.Since(time.Unix(100, 0)))
			n.start()
		})},
		{"pause 25 s in mid-send", 80, 4, running(func(_ *sim, l *simLife) { l.n.pausesNext.Store(true) })},
	}
}

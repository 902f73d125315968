package lease

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

// Random schedules on nodes whose clocks are wrong and run at wrong speeds, over a table that loses requests and answers and delivers
// copies late. At no moment do two nodes believe they may work; each new holder's fence is above all earlier ones; and a write with
// an older fence can be distinguished from a newer one's.
func TestSimulation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		s := &simulation{T: rt, w: w, writers: map[int64]*Lease{}}
		for _, name := range []string{"a", "b", "c"} {
			skew := time.Duration(rapid.IntRange(-7200, 7200).Draw(rt, "skew")) * time.Second
			n := w.node(name, ahead(skew))
			// The margin of 0.3 TTL covers clocks that differ in speed far more than real ones.
			n.rate = rapid.Float64Range(0.9, 1.1).Draw(rt, "rate")
			s.nodes = append(s.nodes, n)
		}
		for range rapid.IntRange(10, 60).Draw(rt, "steps") {
			s.step()
			s.check()
		}
	})
}

type simulation struct {
	*rapid.T
	w       *world
	nodes   []*node
	leases  [3]*Lease
	fences  []int64 // of the holders so far
	item    int64   // the fence on the item that the lock guards
	writers map[int64]*Lease
	before  []attr.Item // earlier states of the record, to which the table may be restored
}

func (s *simulation) step() {
	i := rapid.IntRange(0, 2).Draw(s.T, "node")
	n := s.nodes[i]
	n.link.fault = rapid.SampledFrom([]string{"", "", "", "", "request", "answer", "late", "slow"}).Draw(s.T, "fault")
	ctx := s.w.Context()
	kind := rapid.SampledFrom([]string{"time", "time", "acquire", "acquire", "renew", "renew", "release", "raise",
		"suspend", "late", "work", "work"}).Draw(s.T, "step")
	switch kind {
	case "time":
		s.w.pass(time.Duration(rapid.IntRange(1, 4000).Draw(s.T, "ms")) * time.Millisecond)
	case "suspend":
		n.suspend(time.Duration(rapid.IntRange(1, 30000).Draw(s.T, "ms")) * time.Millisecond)
	case "acquire":
		if l, err := n.Acquire(ctx, match); err == nil {
			s.began(i, l)
		}
	case "renew":
		if l := s.leases[i]; l != nil {
			_ = l.renew(ctx)
		}
	case "release":
		if l := s.leases[i]; l != nil {
			_ = l.Release(ctx)
		}
	case "raise":
		if l := s.leases[i]; l != nil && l.Check() == nil {
			_ = l.RaiseFence(ctx, l.Fence()+int64(rapid.IntRange(0, 5).Draw(s.T, "above")))
			s.fences = append(s.fences, l.Fence())
		}
	case "late":
		n.link.arrive(ctx)
	case "work":
		s.work(s.leases[i])
	}
}

// work writes an item that accepts no fence below its own: attribute_not_exists(_f) OR _f <= :fence. A refused holder raises its fence
// and repeats. No two holders ever write under one fence.
func (s *simulation) work(l *Lease) {
	if l == nil || l.Check() != nil {
		return
	}
	if l.Fence() < s.item && l.RaiseFence(s.w.Context(), s.item) != nil {
		return
	}
	if l.Fence() < s.item {
		s.Fatalf("raised to %d, the item has %d", l.Fence(), s.item)
	}
	s.item = l.Fence()
	if other := s.writers[s.item]; other != nil && other != l {
		s.Fatalf("two holders wrote with fence %d", s.item)
	}
	s.writers[s.item] = l
}

func (s *simulation) began(i int, l *Lease) {
	for _, f := range s.fences {
		if l.Fence() <= f {
			s.Fatalf("fence %d after %v", l.Fence(), s.fences)
		}
	}
	s.fences = append(s.fences, l.Fence())
	s.leases[i] = l
}

func (s *simulation) check() {
	working := 0
	for _, l := range s.leases {
		if l != nil && l.Check() == nil {
			working++
		}
	}
	if working > 1 {
		s.Fatalf("%d nodes work at once at %v", working, s.w.at())
	}
}

// The same with records deleted by hand, and with the locks table restored to an earlier time. Two holders may then work at once, but no
// holder gets a fence that an earlier one had, so their writes can be distinguished.
func TestSimulationWithForeignHands(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		s := &simulation{T: rt, w: w, writers: map[int64]*Lease{}}
		for _, name := range []string{"a", "b", "c"} {
			s.nodes = append(s.nodes, w.node(name, ahead(time.Duration(rapid.IntRange(-7200, 7200).Draw(rt, "skew"))*time.Second)))
		}
		for range rapid.IntRange(10, 60).Draw(rt, "steps") {
			w.pass(20 * time.Millisecond) // faster than takeovers raise the fence
			s.foreignHand()
			s.step()
		}
	})
}

// foreignHand sometimes deletes the record, or restores the table to any earlier time.
func (s *simulation) foreignHand() {
	now := s.w.record()
	if now != nil {
		s.before = append(s.before, now)
	}
	switch rapid.IntRange(0, 9).Draw(s.T, "hand") {
	case 0:
		s.w.drop()
	case 1:
		if len(s.before) > 0 {
			s.w.restore(rapid.SampledFrom(s.before).Draw(s.T, "restored to"))
		}
	}
}

package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
)

func TestSettledNodes(t *testing.T) {
	const signed, learnEvery = 15 * time.Minute, 5 * time.Minute
	now := time.Unix(1_800_000_000, 0)
	var s settledNodes
	n, fresh := s.node("b", now)
	if !fresh || n.latest() != 0 || n.past(now, signed) != 0 {
		t.Fatalf("of a node that nobody knows: %d, %d", n.latest(), n.past(now, signed))
	}
	for i := range 10 {
		n.learn(uint64(100*i), now.Add(time.Duration(i)*learnEvery), signed)
	}
	now = now.Add(9 * learnEvery)
	if n.latest() != 900 || n.past(now, signed) != 600 || len(n.seen) > 5 {
		t.Errorf("latest %d, 15 minutes ago %d, %d kept", n.latest(), n.past(now, signed), len(n.seen))
	}
	n.learn(50, now, signed) // a restored cloud
	if n.latest() != 900 {
		t.Errorf("what was settled is settled no more: %d", n.latest())
	}
	if due := s.due(now, signed); len(due) != 0 {
		t.Errorf("due at once: %v", due)
	}
	s.nodes["b"].asked = now
	if due := s.due(now.Add(learnEvery), signed); len(due) != 1 {
		t.Errorf("due later: %v", due)
	}
	if due := s.due(now.Add(2*askedFor), signed); len(due) != 0 || len(s.nodes) != 0 {
		t.Errorf("a node that nobody asks about is read: %v", due)
	}
	for i := range maxNodes + 10 {
		s.node("n"+string(rune('a'+i%26))+time.Duration(i).String(), now.Add(time.Duration(i)))
	}
	if len(s.nodes) != maxNodes {
		t.Errorf("%d nodes are remembered", len(s.nodes))
	}
}

// What another node has settled is learned from its row, once somebody wants to know.
func TestSettledOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrSettled: attr.Int(77), attrNonce: attr.S("n")})
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		if got := n.settledOf("b"); got != 0 {
			t.Errorf("before anybody has read it: %d", got)
		}
		letPass(2 * time.Minute)
		if got, past := n.settledOf("b"), n.pastOf("b"); got != 77 || past != 0 {
			t.Errorf("settled %d, 15 minutes ago %d", got, past)
		}
		letPass(20 * time.Minute)
		if got := n.pastOf("b"); got != 77 {
			t.Errorf("15 minutes ago: %d", got)
		}
	})
}

// settled is below everything that waits, folded entries and those of any lane included.
func TestSettledHere(t *testing.T) {
	_, n := opened(t, nil)
	first := n.put(t, "teams", team("x", 1))
	n.put(t, "teams", team("x", 2)) // takes the place of the first
	n.put(t, "teams", team("y", 1))
	got, err := n.settledHere(t.Context())
	if err != nil || got >= first {
		t.Errorf("settled %d (%v) although %d waits", got, err, first)
	}
}

package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// What another node has settled is learned from its row, once somebody wants to know.
func TestSettledOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrSettled: attr.Int(77), attrNonce: attr.S("n")})
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		if got := n.env(nil).Settled("b"); got != 0 {
			t.Errorf("before anybody has read it: %d", got)
		}
		letPass(2 * time.Minute)
		if got, past := n.env(nil).Settled("b"), n.env(nil).Past("b"); got != 77 || past != 0 {
			t.Errorf("settled %d, 15 minutes ago %d", got, past)
		}
		letPass(20 * time.Minute)
		if got := n.env(nil).Past("b"); got != 77 {
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
	got, err := outbox.SettledHere(t.Context(), n.st)
	if err != nil || got >= first {
		t.Errorf("settled %d (%v) although %d waits", got, err, first)
	}
}

package replica

import (
	"testing"
	"testing/synctest"
)

// A crash while a node begins the incarnations of a loss takes no sign of that away: here a higher incarnation in the file, of a
// lost run that drew no nonce.
func TestCrashInNewIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.bump(t, "x")
		snapshot := n.snapshot(t)
		for range 2 { // the end of the run before was none: the second begins an incarnation
			n = n.again(t)
			n.close(t)
		}
		storeBack(t, snapshot, n.dir)

		for range 2 {
			crashes(t, func() { openNode(t, c, n.dir, crashAt("identity-incarnation")) })
		}
		r := n.again(t)
		if s := r.known(t); s.Lost == nil || s.Leaving {
			t.Errorf("nobody noticed: %+v", s)
		}
		r.drained(t)
		r.close(t)
		incarnation := r.st.Incarnation()
		if r = r.again(t); r.st.Incarnation() != incarnation {
			t.Errorf("the incarnation is %d after %d", r.st.Incarnation(), incarnation)
		}
		r.cloudHas(t, teams{"x": 1})
	})
}

// A crash between any two steps of a connect leaves a node that connects again as itself.
func TestCrashInConnect(t *testing.T) {
	for _, point := range []string{"identity-boot", "identity-nonce", "identity-file"} {
		t.Run(point, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, n := opened(t, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.close(t)
				var dies *feedNode
				crashes(t, func() {
					dies = openNode(t, c, n.dir, crashAt(point))
					_ = dies.identity.Connect(t.Context())
				})
				if dies != nil {
					_ = dies.st.Close()
				}
				r := n.again(t)
				r.bump(t, "x")
				r.drained(t)
				r.cloudHas(t, teams{"x": 1})
				if lost := r.known(t).Lost; lost != nil {
					t.Errorf("lost %+v", lost)
				}
			})
		})
	}
}

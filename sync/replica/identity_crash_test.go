package replica

import (
	"errors"
	"testing"
	"testing/synctest"
)

// A crash while a node begins the incarnations of a loss takes no sign of that away: here a higher incarnation in the file, of a
// lost run that drew no nonce.
func TestCrashInNewIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.bump(t, "x")
		n.close(t)
		copyDir(t, dir, old)
		openNode(t, c, dir, nil).close(t)
		openNode(t, c, dir, nil).close(t) // the end of the run before was none: it begins an incarnation
		storeBack(t, old, dir)

		for range 2 {
			runsInto(t, "identity-incarnation", func(fail func(*Config)) { openNode(t, c, dir, fail) })
		}
		r := openNode(t, c, dir, nil)
		if s := r.stateNow(); s.Lost == nil || s.Leaving {
			t.Errorf("nobody noticed: %+v", s)
		}
		r.drained(t)
		r.close(t)
		incarnation := r.st.Incarnation()
		if r = openNode(t, c, dir, nil); r.st.Incarnation() != incarnation || c.n(t, "x") != 1 {
			t.Errorf("the incarnation is %d after %d, x is %d", r.st.Incarnation(), incarnation, c.n(t, "x"))
		}
	})
}

// runsInto runs a node that dies at a kill point.
func runsInto(t *testing.T, point string, run func(fail func(*Config))) {
	t.Helper()
	crash := errors.New("crash")
	defer func() {
		if e := recover(); e != any(crash) {
			t.Errorf("no crash at %s: %v", point, e)
		}
	}()
	run(func(cfg *Config) {
		cfg.Fail = func(p string) {
			if p == point {
				panic(crash)
			}
		}
	})
}

// A crash between any two steps of a connect leaves a node that connects again as itself.
func TestCrashInConnect(t *testing.T) {
	for _, point := range []string{"identity-boot", "identity-nonce", "identity-file"} {
		t.Run(point, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, dir := newShelf(t), t.TempDir()
				n := openNode(t, c, dir, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.close(t)
				n = nil
				runsInto(t, point, func(fail func(*Config)) {
					n = openNode(t, c, dir, fail)
					_ = n.connect(t.Context())
				})
				if n != nil {
					_ = n.st.Close()
				}
				r := openNode(t, c, dir, nil)
				r.bump(t, "x")
				r.drained(t)
				if r.stateNow().Lost != nil || c.n(t, "x") != 1 {
					t.Errorf("lost %+v, x is %d", r.stateNow().Lost, c.n(t, "x"))
				}
			})
		})
	}
}

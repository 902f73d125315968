package replica

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// A crash while a node begins the incarnations of a loss does not remove the evidence of that loss: here a higher incarnation in the
// file, from a lost run that drew no nonce.
func TestCrashInNewIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.bump(t, "x")
		snapshot := n.snapshot(t)
		for range 2 { // the earlier run did not end cleanly, so the second one begins an incarnation
			n = n.again(t)
			n.close(t)
		}
		storeBack(t, snapshot, n.dir)

		for range 2 {
			crashes(t, func() { openNode(t, c, n.dir, crashAt("identity-incarnation")) })
		}
		r := n.again(t)
		if s := r.known(t); s.Lost == nil || s.Leaving {
			t.Errorf("the loss was not noticed: %+v", s)
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

// After a crash between any two steps of a connect, the node connects again as itself.
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

// The spare file is never used as an identity, whatever it contains: part of a text after a crash, an older one, another node's, or
// nothing.
func TestSpareIsNoIdentity(t *testing.T) {
	for name, spare := range map[string]func(file []byte) []byte{
		"torn":  func(file []byte) []byte { return append(bytes.Clone(file[:40]), bytes.Repeat([]byte{0}, 100)...) },
		"none":  func([]byte) []byte { return nil },
		"other": func(file []byte) []byte { return bytes.ReplaceAll(file, []byte(`"a"`), []byte(`"b"`)) },
		"older": func([]byte) []byte {
			return []byte(`{"version":1,"node":"a","incarnation":77,"nonces":["x"]}`)
		},
		"long": func(file []byte) []byte { return bytes.Repeat(file, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, n := opened(t, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.close(t)
				path := filepath.Join(n.dir, identityName)
				file, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(path + spareSuffix)
				if text := spare(file); text != nil {
					if err := os.WriteFile(path+spareSuffix, text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				r := n.again(t)
				r.bump(t, "x")
				r.drained(t)
				r.cloudHas(t, teams{"x": 1})
				r.recorded(t, 0)
				if got := r.st.Incarnation(); got != 1 {
					t.Errorf("incarnation %d", got)
				}
				if f := r.file(t); f.Boot != r.identity.Status().Boot || !f.Clean {
					t.Errorf("the file has %+v", f)
				}
			})
		})
	}
}

// What another node has settled is learned from its row once it is needed.
func TestSettledOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrSettled: attr.Int(77), attrNonce: attr.S("n")})
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		if n.env(nil).Settled("b", 77) {
			t.Error("before anybody has read it, it counts as settled")
		}
		letPass(2 * time.Minute)
		env := n.env(nil)
		if !env.Settled("b", 77) || env.Settled("b", 78) || env.Past("b", 1) {
			t.Errorf("settled %v, %v, 15 minutes ago %v", env.Settled("b", 77), env.Settled("b", 78), env.Past("b", 1))
		}
		letPass(20 * time.Minute)
		if env := n.env(nil); !env.Past("b", 77) || env.Past("b", 78) {
			t.Errorf("15 minutes ago: %v, %v", env.Past("b", 77), env.Past("b", 78))
		}
	})
}

// SettledHere is below everything that waits, including folded entries and those of any queue.
func TestSettledHere(t *testing.T) {
	_, n := opened(t, nil)
	first := n.put(t, "teams", team("x", 1))
	n.put(t, "teams", team("x", 2)) // replaces the first
	n.put(t, "teams", team("y", 1))
	got, err := outbox.SettledHere(t.Context(), n.st)
	if err != nil || got >= first {
		t.Errorf("settled %d (%v) although %d waits", got, err, first)
	}
}

// If a waiting create has an earlier write folded into it that the node's row reports settled, a later state of the node wrote that row.
func TestFoldedCreateWaitsBehindTheRow(t *testing.T) {
	n := openNode(t, newShelf(t), t.TempDir(), nil)
	first := n.put(t, "teams", team("x", 1))
	n.put(t, "teams", team("y", 1))
	n.put(t, "teams", team("x", 2))
	if got := n.waitingNow(t); got != 2 {
		t.Fatalf("%d batches wait, want 2: the test needs the first write to be folded", got)
	}
	n.online(t)
	for _, settled := range []uint64{first - 1, first} {
		row := n.cloud.nodeRow(t)
		row[attrSettled] = attr.Int(int64(settled))
		n.cloud.foreign(t, "touchline-sync", nil, row)
		n = n.again(t) // a crash, which begins one more incarnation
		was := n.st.Incarnation()
		n.online(t)
		if behind := n.st.Incarnation() > was; behind != (settled == first) {
			t.Errorf("settled up to %d: noticed a later state: %v", settled-first, behind)
		}
	}
}

package simulation_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// A node whose clock is ahead hides an expiring item early. It still has the item: that is no divergence, but an old image below is,
// whatever readers are shown.
func TestHiddenByADriftedClockIsNoDivergence(t *testing.T) {
	for name, changed := range map[string]bool{"as in the cloud": false, "older than the cloud's": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSim(t, 1)
				n := newSimNode(s, "n0")
				n.fast = 12 * time.Second
				s.nodes = append(s.nodes, n)
				n.start()
				ends := time.Now().Add(20*time.Minute + 8*time.Second)
				row := attr.Item{"pk": attr.S("r2"), "v": attr.S(s.id("foreign")), "ttl": attr.Int(ends.Unix())}
				if err := s.foreign().Put("rows", row); err != nil {
					t.Fatal(err)
				}
				s.sleep(20 * time.Minute)
				if l := n.up(); len(l.rows("rows", false)) > 0 || len(l.rows("rows", true)) != 1 {
					t.Fatalf("shown: %v, kept: %v", l.rows("rows", false), l.rows("rows", true))
				}
				if s.broken() {
					t.Fatal(s.failed)
				}
				if changed {
					row["v"] = attr.S(s.id("foreign"))
					if err := s.foreign().Put("rows", row); err != nil {
						t.Fatal(err)
					}
				}
				s.book.converged()
				if s.broken() != changed {
					t.Errorf("violated: %v", s.failed)
				}
				n.kill()
				s.zoo.Wait()
				_ = os.RemoveAll(s.dir)
			})
		})
	}
}

// A machine paused while the faults end must run again as a whole before it is judged, however many pauses have overlapped. Otherwise
// its workers run, its feed does not, and what it has not learnt seems lost.
func TestAPausedMachineIsJudgedWhenItRuns(t *testing.T) {
	for name, pauses := range map[string]func(n *simNode){
		"suspended": func(n *simNode) { n.pause(10*time.Minute, true) },
		"suspended, then paused shorter": func(n *simNode) {
			n.pause(10*time.Minute, true)
			n.s.sleep(time.Minute)
			n.pause(25*time.Second, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSim(t, 1)
				n := newSimNode(s, "n0")
				s.nodes = append(s.nodes, n)
				n.start()
				s.sleep(time.Minute)
				pauses(n)
				s.sleep(time.Minute) // its loops have reached the points where they are blocked
				if err := s.foreign().Put("items", attr.Item{"pk": attr.S("i1"), "a": attr.S(s.id("foreign"))}); err != nil {
					t.Fatal(err)
				}
				s.heal()
				s.quiet()
				s.book.converged()
				if s.broken() {
					t.Errorf("violated: %v", s.failed)
				}
				if at := n.Now(); at.Boot-at.Mono != 10*time.Minute {
					t.Errorf("its monotonic clock stood still for %v", at.Boot-at.Mono)
				}
				n.kill()
				s.zoo.Wait()
				_ = os.RemoveAll(s.dir)
			})
		})
	}
}

package simulation_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// The effect of a late copy just before the account is read by all nodes before they are compared with the cloud.
func TestAccountBehindALateCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, 1)
		n := newSimNode(s, "n0")
		s.nodes = append(s.nodes, n)
		n.start()
		s.heal()
		s.timer.After(90*time.Second-time.Millisecond, func() {
			if err := s.foreign().Put("items", attr.Item{"pk": attr.S("i5"), "v": attr.S(s.id("foreign"))}); err != nil {
				t.Error(err)
			}
		})
		s.quiet()
		s.book.converged()
		if s.broken() {
			t.Error(s.failed)
		}
		n.kill()
		s.zoo.Wait()
		_ = os.RemoveAll(s.dir)
	})
}

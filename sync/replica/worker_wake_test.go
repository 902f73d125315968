package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
)

// A lane whose answer came while another found the cloud gone has nothing on its way and something to send: it is woken with
// the others.
func TestLaneWakesBehindAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, func(cfg *Config) { cfg.Lanes = 1 })
		n.put(t, "teams", team("x", 0))
		n.put(t, "teams", team("y", 0))
		gone := false
		c.set(func() {
			c.after = func(op, table string) error {
				if !gone && op == "write" && table == "teams" {
					gone = true
					n.linkLost(&intent.Error{Class: intent.Offline})
				}
				return nil
			}
		})
		stop := n.run(t)
		letPass(2 * time.Minute)
		if waiting := n.waitingNow(t); !gone || waiting != 0 {
			t.Errorf("two minutes after the cloud was there again %d writes wait", waiting)
		}
		stop()
	})
}

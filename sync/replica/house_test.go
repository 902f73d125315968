package replica

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// What is written goes out while somebody is told for long of a fence that has refused a write.
func TestErrandsHoldUpNoLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		asked := make(chan struct{}, 1)
		n := openNode(t, c, t.TempDir(), func(c *Config) {
			c.Deposed = func(ctx context.Context, _ string, _ int64) (int64, error) {
				asked <- struct{}{}
				<-ctx.Done()
				return 0, ctx.Err()
			}
		})
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		n.deposedBy("match:7", 9)
		<-asked
		n.put(t, "teams", team("x", 1))
		letPass(time.Second)
		if it := c.team(t, "x"); it == nil {
			t.Error("the write waits")
		}
	})
}

package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// An item past its TTL that nobody reads any more goes from here too when the cloud has let it go: ghosts do not pile up.
func TestGhostsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		ghost := attr.Item{"match": attr.S("7"), "ttl": attr.Int(n.clock.Now().Add(time.Hour).Unix())}
		n.put(t, "states", ghost)
		letPass(time.Minute)
		if it, _ := c.item("states", attr.Item{"match": attr.S("7")}); it == nil {
			t.Fatal("the cloud does not have it")
		}
		sweep := func() {
			for more := true; more; {
				var err error
				if more, err = n.st.Housekeep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		letPass(2 * time.Hour)
		sweep()
		if got := n.st.Stats(); got.Swept != 0 {
			t.Errorf("swept while the cloud has it")
		}
		c.foreign(t, "states", attr.Item{"match": attr.S("7")}, nil) // by its TTL
		for range 60 {
			letPass(15 * time.Minute)
			sweep()
		}
		n.inView(t, func(tx *store.Tx) error {
			tx.ShowExpired()
			it, err := tx.Get("states", attr.Item{"match": attr.S("7")})
			if it != nil {
				t.Errorf("the ghost is left: %v", it)
			}
			return err
		})
	})
}

package replica

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// That the tombstone of a delete is taken says nothing of the table of the delete: that stays stopped until it takes a write
// itself.
func TestTombstoneLiftsNoStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		var log bytes.Buffer
		n := openNode(t, c, t.TempDir(), func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		lives := map[string]string{"x": "b.1.5", "y": "b.1.6", "z": "b.1.7"} // of another node, which may not know that they end
		for id, life := range lives {
			c.foreign(t, "teams", nil, with(team(id, 1), attr.Item{"_c": attr.S(life), "_n": attr.Int(1)}))
			if err := n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey(id)); err != nil {
				t.Fatal(err)
			}
		}
		c.refuse(intent.Denied, func(op, table string) bool { return op == "write" && table == "teams" })
		stop := n.run(t)
		began := time.Now()
		for _, id := range []string{"x", "y", "z"} {
			n.remove(t, "teams", teamKey(id))
			var dead attr.Item
			for tries := 0; dead == nil && tries < 12; tries++ { // it is chance which of those that wait is the table's next try
				letPass(20 * time.Minute)
				var err error
				if dead, err = c.item("touchline-sync", attr.Item{"id": attr.S("dead#" + lives[id])}); err != nil {
					t.Fatal(err)
				}
			}
			if dead == nil {
				t.Errorf("%s has no tombstone", id)
			}
		}
		st, err := n.Status(t.Context())
		if err != nil || len(st.Tables) != 1 || st.Tables[0].Stopped == nil {
			t.Fatalf("%+v, %v", st.Tables, err)
		}
		if since := st.Tables[0].Stopped.Since.Sub(began); since > time.Minute {
			t.Errorf("it counts as stopped since %v after the first refusal", since)
		}
		c.heal()
		letPass(15 * time.Minute) // the table's next try, and then each write's own
		for id := range lives {
			if it := c.team(t, id); it != nil {
				t.Errorf("it is there still: %v", it)
			}
		}
		stop()
		if got := strings.Count(log.String(), "nothing of a table is sent"); got != 1 {
			t.Errorf("that the table is stopped was told %d times:\n%s", got, &log)
		}
	})
}

// The tombstone of a delete is no try of the table of the delete: the delete behind it is.
func TestTombstoneIsNoTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.foreign(t, "teams", nil, with(team("x", 1), attr.Item{"_c": attr.S("b.1.5"), "_n": attr.Int(1)}))
		if err := n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey("x")); err != nil {
			t.Fatal(err)
		}
		n.online(t)
		n.paces.Halt("teams", intent.Denied.String(), "a test", n.clock.Now())
		n.remove(t, "teams", teamKey("x"))
		letPass(time.Minute)
		l, _ := inHand(t, n)
		if len(l.window) != 1 || !n.net.Enter(l.sig) || !l.send(t.Context(), l.window[0]) {
			t.Fatal("it is not sent")
		}
		if it := c.team(t, "x"); it != nil || len(n.paces.StoppedTables()) != 0 {
			t.Errorf("it is there still: %v; stopped are %v", it, n.paces.StoppedTables())
		}
	})
}

package replica

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// A batch that is flagged as of a lost history between two steps of its sending is looked for before it is sent: what a step has
// found out does not take the flag away.
func TestFlaggedBetweenTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.foreign(t, "teams", nil, with(team("x", 1), attr.Item{"_c": attr.S("b.1.5"), "_n": attr.Int(1)}))
		flagged, before := false, 0
		var n *feedNode
		n = openNode(t, c, t.TempDir(), func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				dead, _ := c.item("touchline-sync", attr.Item{"id": attr.S("dead#b.1.5")})
				if point != "answer" || dead == nil || flagged {
					return
				}
				flagged, before = true, c.count("get teams")
				n.identity.Suspect("a test")
				if err := n.identity.Connect(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
		if err := n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey("x")); err != nil {
			t.Fatal(err)
		}
		n.remove(t, "teams", teamKey("x")) // of another's life: its tombstone comes first
		n.drained(t)
		if it := c.team(t, "x"); it != nil || !flagged {
			t.Errorf("the item is %v, flagged %v", it, flagged)
		}
		if c.count("get teams") == before {
			t.Error("it was sent without a look")
		}
	})
}

// What was flagged since a flight has read its batch stays flagged when the flight stores that it is being sent.
func TestAttemptKeepsAFlag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		read := func() (u *outbox.Batch) {
			n.inView(t, func(tx *store.Tx) error {
				return outbox.Each(tx, func(v *outbox.Batch) (bool, error) { u = v; return false, nil })
			})
			return u
		}
		f, flagged := &flight{Batch: read(), changed: true}, read()
		n.inTx(t, func(tx *store.Tx) error {
			flagged.Entries[0].MakeSure(false, time.Now())
			return outbox.Put(tx, flagged, outbox.Tally{})
		})
		_ = n.workers[0].attempt(t.Context(), f, &intent.Action{Kind: intent.ActSend, Attempt: true})
		if e := read().Entries[0]; !e.MakesSure() {
			t.Errorf("the flag is gone: %+v", e)
		}
	})
}

package replica

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// hooked is a shelf that calls before ahead of each write to the table teams.
type hooked struct {
	*shelf

	before func()
}

func (h *hooked) Write(ctx context.Context, call intent.Call) (attr.Item, error) {
	if call.Table == "teams" {
		h.before()
	}
	return h.shelf.Write(ctx, call)
}

// A create meets a foreign item, moves to its life, and is being sent there: what the application writes meanwhile is based on the item
// of the create, which it sees. It is no create itself, and a delete deletes.
func TestWrittenBehindAMovedCreate(t *testing.T) {
	for _, deletes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newShelf(t)
			h := &hooked{shelf: c, before: func() {}}
			n := openNode(t, c, t.TempDir(), func(cfg *Config) { cfg.Poll, cfg.Cloud = nil, h })
			c.foreign(t, "teams", nil, team("one", 7))
			n.put(t, "teams", team("one", 1))
			var writes atomic.Int32
			h.before = func() {
				if writes.Add(1) != 2 { // the create's label comes first, then the create on the life that has it
					return
				}
				n.update(t, "teams", teamKey("one"), "SET v = :v", attr.Item{":v": attr.S("x")})
				if !deletes {
					return
				}
				err := n.st.Update(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Delete(store.DeleteItem{Table: "teams", Key: teamKey("one")})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			stop := n.run(t)
			defer stop()
			letPass(time.Minute)
			if got := writes.Load(); got < 2 {
				t.Fatalf("%d writes", got)
			}
			n.waits(t, 0)
			it := c.team(t, "one")
			if deletes && it != nil || !deletes && (it["v"].Str() != "x" || it["n"].IsZero()) {
				t.Errorf("deletes %v: the cloud has %v", deletes, it)
			}
			n.recorded(t, 0)
		})
	}
}

// Schedule 7 with a crash: an ADD to a foreign item is applied, the node dies before it has settled the answer, and a foreign writer puts
// back what it had read. The restarted node still knows the earlier state, and does not add again.
func TestForeignPutAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.net.RecordProbe("", n.clock.Now())
		c.foreign(t, "teams", nil, team("x", 5))
		if err := n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey("x")); err != nil {
			t.Fatal(err)
		}
		n.bump(t, "x")
		l, _ := inHand(t, n)
		if !n.net.Enter(l.sig) || !l.send(t.Context(), l.inFlight[0]) || c.n(t, "x") != 6 {
			t.Fatal("it was not applied")
		}
		c.foreign(t, "teams", nil, team("x", 6))
		again := n.again(t) // after a crash
		again.drained(t)
		again.cloudHas(t, teams{"x": 6})
		for _, record := range again.recorded(t, 1) {
			if record.Kind != conflict.KindUnknown {
				t.Errorf("it is recorded as %v", record)
			}
		}
	})
}

// The time of a write that no server had confirmed is corrected once, and survives a crash.
func TestRestampedOnceOverACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.skew = -time.Hour // this clock is ahead
		n.put(t, "prefs", team("x", 1))
		stampOf := func(n *feedNode) (stamp int64, provisional bool) {
			_, u := waitingOne(t, n)
			return u.Entries[0].Stamp, u.Entries[0].Provisional
		}
		n.net.RecordProbe("", n.clock.Now())
		c.set(func() { c.shown = true })
		n.changeWaiting(t, "prefs", teamKey("x"), func(e *intent.Entry) { e.Provisional = true })
		l, _ := inHand(t, n)
		c.refuse(intent.Unknown, func(string, string) bool { return true })
		if !n.net.Enter(l.sig) || !l.send(t.Context(), l.inFlight[0]) {
			t.Fatal("it was not sent")
		}
		sent := l.inFlight[0].Entries[0].Stamp
		if got, provisional := stampOf(n.again(t)); got != sent || provisional {
			t.Errorf("sent under %d, kept %d, provisional %t", sent, got, provisional)
		}
	})
}

// An item that a recreated table lacks does not count as deleted, even if it is read at once.
func TestEnsureOfTableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "follows", follow("m", "ours"))
		c.foreign(t, "follows", nil, follow("m", "theirs"))
		letPass(time.Second)
		if err := n.feed.Ensure(t.Context(), "follows", follow("m", "theirs")); err != nil || n.row(t, "follows", follow("m", "theirs")) == nil {
			t.Fatal(err)
		}
		letPass(time.Minute)
		for _, user := range []string{"theirs", "ours"} {
			c.foreign(t, "follows", follow("m", user), nil)
		}
		c.set(func() { c.state["follows"] = remote.TableState{ID: "follows-2"} })
		for _, user := range []string{"theirs", "ours"} {
			if err := n.feed.Ensure(t.Context(), "follows", follow("m", user)); err != nil {
				t.Fatal(err)
			}
			if n.row(t, "follows", follow("m", user)) == nil {
				t.Errorf("%s was deleted here to match the new table", user)
			}
		}
	})
}

// The same for an update that is sent there before the table has been checked: it waits.
func TestUpdateOnTableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("ours", 1))
		letPass(time.Minute)
		c.makeAnew(t)
		n.bump(t, "ours")
		letPass(time.Minute)
		if got := n.row(t, "teams", teamKey("ours")); !got["n"].Equal(attr.Int(2)) {
			t.Errorf("readers see %v", got)
		}
		n.recorded(t, 0)
		n.waits(t, 1)
	})
}

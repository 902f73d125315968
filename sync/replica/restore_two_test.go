package replica

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/restore"
)

// A table that is restored again while what it had lost by the restore before is put back, or while the cloud is told that
// this was done, is not taken for the one before: what it has lost is put back too.
func TestRestoredAgainWhileItIsPutBack(t *testing.T) {
	for _, told := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			again := func() {}
			c, n := opened(t, func(cfg *Config) {
				cfg.Failpoint = func(point string) {
					if point == "restore-requeued" {
						again()
					}
				}
			})
			other := attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x")}
			c.foreign(t, "touchline-sync", nil, other) // has not replayed
			n.put(t, "teams", team("x", 1))
			n.drained(t)
			backup := c.backUp(t)
			letPass(time.Minute)
			n.bump(t, "x")
			n.drained(t)
			restored := func() {
				again = func() {}
				c.restoreTo(t, backup)
				if err := n.tables.Look(t.Context(), "teams"); err != nil {
					t.Error(err)
				}
			}
			if !told {
				again = restored
			}
			c.restoreTo(t, backup)
			n.lookAtTables(t)
			if told {
				n.drained(t)
				c.foreign(t, "touchline-sync", attr.Item{"id": other["id"]}, nil)
				again = restored
				c.loseAnswers(func(string, string) bool {
					c.unlocked(again)
					return false
				})
				n.tables.EndReplays(t.Context())
			}
			if b := n.book(t, "teams"); b.ID != "teams-3" || b.Noticed.IsZero() || b.Requeued {
				t.Errorf("told %v: what is remembered is %+v", told, b)
			}
			n.lookAtTables(t)
			n.drained(t)
			n.cloudHas(t, teams{"x": 2})
			n.recorded(t, 0)
		})
	}
}

// Two who find the same table restored, one while the other is about to note it: it is noted once, and what it has lost is put
// back once.
func TestRestoreIsNoticedByTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other, flagged := func() {}, 0
		c, n := opened(t, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				switch point {
				case "restore-flagged":
					flagged++
				case "restore-noticed":
					other()
				}
			}
		})
		backup := c.backUp(t)
		letPass(time.Minute)
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		c.restoreTo(t, backup)
		other = func() {
			other = func() {}
			letPass(time.Second)
			n.lookAtTables(t)
		}
		n.lookAtTables(t)
		if b := n.book(t, "teams"); flagged != 1 || !b.Requeued {
			t.Errorf("what it has lost was put back %d times: %+v", flagged, b)
		}
	})
}

// A lane and a feed come together to put back what a table has lost: one does it, and the other finds it done.
func TestPutBackByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n *feedNode
		flagged, done := 0, make(chan error, 1)
		c, made := opened(t, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				if point != "restore-flagged" {
					return
				}
				if flagged++; flagged == 1 {
					go func() { done <- n.tables.CheckAll(context.Background(), true) }()
					synctest.Wait() // until it waits for its turn, or has done what it does
				}
			}
		})
		n = made
		backup := c.backUp(t)
		letPass(time.Minute)
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		c.restoreTo(t, backup)
		n.lookAtTables(t)
		if err := <-done; err != nil || flagged != 1 {
			t.Errorf("it was put back %d times: %v", flagged, err)
		}
		n.drained(t)
		n.cloudHas(t, teams{"x": 1})
	})
}

// Of a transaction that an item proves, and of which another cannot be taken now, nothing is taken: nor is what waits before
// it on the one item settled by that.
func TestHalfOfATransactionIsNotAdopted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		for _, id := range []string{"x", "y"} {
			n.adoptNow(t, "teams", teamKey(id), team(id, 1))
		}
		n.bump(t, "x")
		whole := n.together(t, oneMore("x"), oneMore("y"))
		for _, id := range []string{"x", "y"} {
			n.changeWaiting(t, "teams", teamKey(id), func(e *intent.Entry) {
				e.MakeSure(true, time.UnixMilli(0))
			})
		}
		// The cloud has x with the mark of the transaction, and not y, of which nobody knows yet whether it comes back.
		n.cloud.foreign(t, "teams", nil, with(team("x", 3), attr.Item{intent.AttrMark + "a": n.pendingMark(t, "teams", teamKey("x"))}))
		n.setBook(t, "teams", restore.Book{ID: "teams-2", Noticed: time.Now(), Requeued: true, Until: time.Now().Add(time.Hour)})
		seqs := n.pendingOn(t, "x")
		if len(seqs) != 2 || seqs[1] != whole {
			t.Fatalf("on x wait %d, the transaction is %d", seqs, whole)
		}
		n.readNow(t, "teams", teamKey("x"))
		if got := n.pendingOn(t, "x"); len(got) != 2 {
			t.Errorf("on x wait %d", got)
		}
		n.inView(t, func(tx *store.Tx) error {
			return outbox.EachReplayed(tx, time.Time{}, func(_ time.Time, entries []*intent.Entry) (bool, error) {
				t.Errorf("what waits is in the replay log, as sent: %d", entries[0].Seq)
				return true, nil
			})
		})
		n.waits(t, 3)
		n.sees(t, "x", team("x", 3))
	})
}

// book is what is remembered of a table of the cloud, and setBook what is to be.
func (n *feedNode) book(t testing.TB, table string) (b restore.Book) {
	t.Helper()
	n.inView(t, func(tx *store.Tx) error {
		data, err := tx.Side(identity.Side).Get([]byte("table/" + table))
		if err != nil || data == nil {
			return err
		}
		return json.Unmarshal(data, &b)
	})
	return b
}

func (n *feedNode) setBook(t testing.TB, table string, b restore.Book) {
	t.Helper()
	data, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	n.inTx(t, func(tx *store.Tx) error { return tx.Side(identity.Side).Set([]byte("table/"+table), data) })
	if err := n.tables.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
}

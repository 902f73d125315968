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

// A table restored again while the losses of the first restore are put back, or while the cloud is told that this is done, counts as
// another table: what it has lost is put back too.
func TestRestoredAgainWhileItIsPutBack(t *testing.T) {
	for _, reporting := range []bool{false, true} {
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
				if err := n.tables.Inspect(t.Context(), "teams"); err != nil {
					t.Error(err)
				}
			}
			if !reporting {
				again = restored
			}
			c.restoreTo(t, backup)
			n.checkAllTables(t)
			if reporting {
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
				t.Errorf("reporting %v: the book is %+v", reporting, b)
			}
			n.checkAllTables(t)
			n.drained(t)
			n.cloudHas(t, teams{"x": 2})
			n.recorded(t, 0)
		})
	}
}

// Two callers find the same table restored, one while the other is about to record it: it is recorded once, and its losses are put back
// once.
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
			n.checkAllTables(t)
		}
		n.checkAllTables(t)
		if b := n.book(t, "teams"); flagged != 1 || !b.Requeued {
			t.Errorf("its losses were put back %d times: %+v", flagged, b)
		}
	})
}

// A worker and a feed set out at once to put back what a table has lost: one does it, and the other finds it done.
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
					synctest.Wait() // until it waits for its turn or is done
				}
			}
		})
		n = made
		backup := c.backUp(t)
		letPass(time.Minute)
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		c.restoreTo(t, backup)
		n.checkAllTables(t)
		if err := <-done; err != nil || flagged != 1 {
			t.Errorf("its losses were put back %d times: %v", flagged, err)
		}
		n.drained(t)
		n.cloudHas(t, teams{"x": 1})
	})
}

// An item proves a transaction, but another item of it cannot be adopted now: then nothing of the transaction is adopted, and what waits
// before it on the first item is not settled either.
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
				e.Verify(true, time.UnixMilli(0))
			})
		}
		// The cloud has x with the transaction's mark, and not y, which may yet come back.
		n.cloud.foreign(t, "teams", nil, with(team("x", 3), attr.Item{intent.AttrMark + "a": n.pendingMark(t, "teams", teamKey("x"))}))
		n.setBook(t, "teams", restore.Book{ID: "teams-2", Noticed: time.Now(), Requeued: true, Until: time.Now().Add(time.Hour)})
		seqs := n.pendingOn(t, "x")
		if len(seqs) != 2 || seqs[1] != whole {
			t.Fatalf("x has %d waiting, the transaction is %d", seqs, whole)
		}
		n.readNow(t, "teams", teamKey("x"))
		if got := n.pendingOn(t, "x"); len(got) != 2 {
			t.Errorf("x has %d waiting", got)
		}
		n.inView(t, func(tx *store.Tx) error {
			return outbox.EachReplayed(tx, time.Time{}, func(_ time.Time, entries []*intent.Entry) (bool, error) {
				t.Errorf("a waiting write is in the replay log as sent: %d", entries[0].Seq)
				return true, nil
			})
		})
		n.waits(t, 3)
		n.sees(t, "x", team("x", 3))
	})
}

// book reads what is recorded about a table of the cloud; setBook replaces it.
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

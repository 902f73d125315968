package replica

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// asking is a context that tells when it is first asked whether it has ended.
type asking struct {
	context.Context

	asked chan struct{}
	once  sync.Once
}

func (a *asking) Err() error {
	a.once.Do(func() { close(a.asked) })
	return a.Context.Err()
}

// What two change at once of what is remembered of a table is both remembered: the one whose turn comes later changes what
// the other has left, and not what there was when it began.
func TestTableBookChangedByTwo(t *testing.T) {
	_, n := opened(t, nil)
	until := time.Unix(1_800_000_000, 0)
	ctx := &asking{Context: context.Background(), asked: make(chan struct{})}
	done := make(chan error, 1)
	n.inTx(t, func(tx *store.Tx) error {
		go func() { done <- n.changeBook(ctx, "teams", func(b *tableBook) { b.Until = until }) }()
		<-ctx.asked // it waits for its turn
		return n.changeBookIn(tx, "teams", func(b *tableBook) { b.Through = 7 })
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"in memory", "in the store"} {
		if b, _ := n.book("teams"); b.Through != 7 || !b.Until.Equal(until) {
			t.Errorf("%s: %+v", when, b)
		}
		if err := n.loadBooks(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

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
				if err := n.lookAt(t.Context(), "teams"); err != nil {
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
				n.endReplays(t.Context())
			}
			if b, _ := n.book("teams"); b.ID != "teams-3" || !b.loses(n.restores.run) {
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
		if b, _ := n.book("teams"); flagged != 1 || !b.Requeued {
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
					go func() { done <- n.requeueAll(context.Background()) }()
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
		n.inTx(t, func(tx *store.Tx) error {
			return n.changeBookIn(tx, "teams", func(b *tableBook) {
				*b = tableBook{ID: "teams-2", Noticed: time.Now(), Requeued: true, Until: time.Now().Add(time.Hour)}
			})
		})
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

// That a write was before the instant of a restore says the same of a restore of another table to the same instant or a later
// one, and nothing of one further back: be both noticed at the same time or not.
func TestBeforeOneRestoreAndAnother(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	point := now.Add(-time.Hour)
	tests := []struct {
		name    string
		other   tableBook // that the write was before
		this    tableBook
		noticed time.Time // of the restore that the write was before; zero: that of the other table
		want    bool
	}{
		{name: "the same instant", other: tableBook{RestoredAt: point}, this: tableBook{RestoredAt: point}, want: true},
		{name: "this one to later", other: tableBook{RestoredAt: point}, this: tableBook{RestoredAt: point.Add(time.Minute)}, want: true},
		{name: "this one further back", other: tableBook{RestoredAt: point}, this: tableBook{RestoredAt: point.Add(-time.Minute)}},
		{name: "the other made anew", other: tableBook{Recreated: true}, this: tableBook{RestoredAt: point}},
		{name: "this one made anew", other: tableBook{RestoredAt: point}, this: tableBook{Recreated: true}},
		{name: "a restore before both", other: tableBook{RestoredAt: point}, this: tableBook{RestoredAt: point}, noticed: now.Add(-time.Minute)},
		{
			name: "a restore of this one before, to earlier", other: tableBook{RestoredAt: point},
			this: tableBook{RestoredAt: point, Earlier: point.Add(-time.Minute)}, noticed: now.Add(-time.Minute), want: true,
		},
	}
	for _, tt := range tests {
		for _, later := range []time.Duration{0, 5 * time.Second} {
			n := &Replica{}
			tt.other.Noticed, tt.this.Noticed = now, now.Add(later)
			n.restores.books = map[string]*tableBook{"follows": &tt.other, "teams": &tt.this}
			e := &intent.Entry{}
			e.MakeSure(true, now)
			if !tt.noticed.IsZero() {
				e.MakeSure(true, tt.noticed)
			}
			if got := n.keepsBefore(&tt.this, e); got != tt.want {
				t.Errorf("%s, noticed %v later: %v", tt.name, later, got)
			}
		}
	}
}

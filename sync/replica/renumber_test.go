package replica

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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

// restoredQueue returns a node on a restored snapshot whose queue the lost timeline has not sent. Writes of teams are throttled until the
// shelf is healed.
func restoredQueue(t *testing.T, write func(n *feedNode)) (c *shelf, r *feedNode) {
	t.Helper()
	c, n, snapshot := pastSnapshot(t, write)
	c.refuse(intent.Throttled, func(op, table string) bool { return table == "teams" && op != "get" && op != "table" })
	stop := n.run(t)
	letPass(time.Minute)
	stop()
	return c, n.backTo(t, snapshot)
}

// Callers that know only the old number of a renumbered entry get the right answer: it waits until the cloud has it.
func TestRenumberedIsFoundByItsOldNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seqs []uint64
		c, r := restoredQueue(t, func(n *feedNode) {
			for _, v := range []int64{1, 2} { // folded into one
				n.update(t, "teams", teamKey("x"), "SET v = :v", attr.Item{":v": attr.Int(v)})
				seqs = append(seqs, n.st.Seq())
			}
		})
		stop := r.run(t)
		defer stop()
		letPass(time.Minute)
		for _, seq := range seqs {
			if p, err := r.ProofOf(t.Context(), seq); err != nil || p != ProofPending {
				t.Errorf("Proved of %d while it waits: %v, %v", seq, p, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := r.Wait(ctx, seq); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Wait for %d while it waits: %v", seq, err)
			}
			cancel()
		}
		c.heal()
		letPass(time.Minute)
		for _, seq := range seqs {
			if p, err := r.ProofOf(t.Context(), seq); err != nil || p != ProofApplied {
				t.Errorf("Proved of %d: %v, %v", seq, p, err)
			}
		}
		if it := c.team(t, "x"); !it["v"].Equal(attr.Int(2)) {
			t.Errorf("the cloud has %v", it)
		}
	})
}

// hasLost makes the node record that it has lost a timeline, whatever it contained.
func (n *feedNode) hasLost(t testing.TB) {
	t.Helper()
	s := n.known(t)
	s.Lost = &lostTime{Next: 9 << incarnationShift}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	n.inTx(t, func(tx *store.Tx) error { return tx.Side(identity.Side).Set([]byte("state"), data) })
}

// If the transaction that renumbers an entry is rolled back, it can be repeated as if it had not run.
func TestRenumberIsMadeOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := restoredQueue(t, func(n *feedNode) {
			n.bump(t, "new")
			// Not folded into the first.
			n.updateIf(t, "teams", teamKey("new"), "SET v = :v", "attribute_not_exists(unheard)", attr.Item{":v": attr.Int(1)})
		})
		r.hasLost(t)
		var head *outbox.Batch
		var later uint64
		r.inView(t, func(tx *store.Tx) error {
			return outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
				if head == nil || u.ID.Seq < head.ID.Seq {
					head = u
				}
				later = max(later, u.ID.Seq)
				return true, nil
			})
		})
		was := head.Entries[0].Seq
		f := &flight{Batch: head, outcome: intent.Outcome{Result: intent.OutRenumber}}
		undone := errors.New("a test")
		settle := func(end error) error {
			return r.st.Update(t.Context(), func(tx *store.Tx) error {
				if err := r.settleBatches(r.box.Begin(tx), []*flight{f}, r.clock.Now()); err != nil {
					return err
				}
				return end
			})
		}
		if err := settle(undone); !errors.Is(err, undone) {
			t.Fatal(err)
		}
		f.unsettle()
		if err := settle(nil); err != nil {
			t.Fatal(err)
		}
		r.inView(t, func(tx *store.Tx) error {
			u, err := r.box.Find(tx, later)
			if err != nil || u == nil {
				t.Fatalf("%v, %v", u, err)
			}
			if got := u.Entries[0].Behind; got == was || got == 0 {
				t.Errorf("the write behind the create of %d refers to it as %d", was, got)
			} else if first, err := r.box.Find(tx, got); err != nil || first == nil {
				t.Errorf("there is nothing at %d: %v", got, err)
			}
			return nil
		})
	})
}

// A write that a restored table has lost is waited for even if it was renumbered since.
func TestRenumberedIsReplayedStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := restoredQueue(t, func(n *feedNode) { n.bump(t, "x") })
		seq := r.pendingOn(t, "x")[0]
		r.setBook(t, "teams", restore.Book{ID: "teams-2", Noticed: time.Now(), Requeued: true, Until: time.Now().Add(time.Hour), Through: seq})
		r.hasLost(t)
		r.inTx(t, func(tx *store.Tx) error {
			u, err := r.box.Find(tx, seq)
			if err != nil {
				return err
			}
			u.Entries[0].Verify(false, time.UnixMilli(0))
			f := &flight{Batch: u, outcome: intent.Outcome{Result: intent.OutRenumber}}
			return r.settleBatches(r.box.Begin(tx), []*flight{f}, r.clock.Now())
		})
		if b, now := r.book(t, "teams"), r.pendingOn(t, "x")[0]; now == seq || b.Through < now {
			t.Errorf("%d is now %d, but the replay waits only up to %d", seq, now, b.Through)
		}
		r.tables.EndReplays(t.Context())
		if replayed := c.nodeRow(t)[attrReplayed].Map(); !replayed["teams"].IsZero() {
			t.Errorf("the node reports that it has replayed: %v", replayed)
		}
	})
}

// What an earlier run has queued is not folded with writes of this run: if the store was restored to an earlier state, another run may
// have sent it.
func TestNoFoldingOverARestart(t *testing.T) {
	_, n := opened(t, nil)
	n.put(t, "teams", team("x", 1))
	n.put(t, "teams", team("x", 2))
	if got := n.waitingNow(t); got != 1 {
		t.Errorf("%d batches of one run wait", got)
	}
	n = n.again(t)
	n.put(t, "teams", team("x", 3))
	n.put(t, "teams", team("x", 4))
	if got := n.waitingNow(t); got != 2 {
		t.Errorf("%d batches of two runs wait", got)
	}
}

// What a restored table has lost goes ahead of what waits, even of entries that were renumbered after a lost timeline: two transactions
// on the same two items wait in one order on both, otherwise neither would ever be sent.
func TestPutBackBesideRenumbered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var backup backup
		c, r := restoredQueue(t, func(n *feedNode) {
			n.put(t, "teams", team("y", 0))
			n.drained(t)
			letPass(10 * time.Minute)
			backup = n.cloud.backUp(t)
			n.bump(t, "x") // lost in the restore; nothing of y is
			n.drained(t)
		})
		for range 2 {
			r.together(t, oneMore("x"), oneMore("y"))
		}
		stop := r.run(t)
		defer stop()
		letPass(time.Minute)
		if first := r.pendingOn(t, "y"); len(first) != 2 || first[0] < first[1] {
			t.Fatalf("on y wait %d: the test needs the first renumbered, and the second not", first)
		}
		c.restoreTo(t, backup)
		r.checkAllTables(t)
		if x, y := r.pendingOn(t, "x"), r.pendingOn(t, "y"); len(x) != 3 || !slices.Equal(x[1:], y) {
			t.Errorf("x has %d waiting, y has %d", x, y)
		}
		c.heal()
		letPass(10 * time.Minute)
		r.waits(t, 0)
		r.cloudHas(t, teams{"x": 3, "y": 2})
	})
}

// A write that follows any part of a renumbered transaction still follows it, and is refused with it.
func TestTailOfARenumberedTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := restoredQueue(t, func(n *feedNode) {
			n.put(t, "teams", team("y", 0))
			n.drained(t)
		})
		ifNone := store.UpdateItem{Table: "teams", Key: teamKey("x"), Update: "ADD n :one", Condition: "n = :none"}
		ifNone.Values = attr.Item{":one": attr.Int(1), ":none": attr.Int(0)}
		also := store.UpdateItem{Table: "teams", Key: teamKey("y"), Update: "SET n = :one"}
		also.Values = attr.Item{":one": attr.Int(1)}
		r.together(t, store.WriteItem{Update: &ifNone}, store.WriteItem{Update: &also})
		r.put(t, "teams", team("y", 2))
		stop := r.run(t)
		defer stop()
		letPass(time.Minute)
		if on := r.pendingOn(t, "y"); len(on) != 2 || on[0] < on[1] {
			t.Fatalf("on y wait %d: the test needs the first renumbered, and the second not", on)
		}
		theirs := c.team(t, "x")
		theirs["n"] = attr.Int(9)
		c.foreign(t, "teams", nil, theirs)
		c.heal()
		letPass(10 * time.Minute)
		r.waits(t, 0)
		r.cloudHas(t, teams{"y": 0})
		if got := r.recorded(t, 1); len(got) == 1 && len(got[0].Entries()) != 3 {
			t.Errorf("recorded: %v", got)
		}
	})
}

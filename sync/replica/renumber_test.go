package replica

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// restoredQueue is a node on a restored snapshot whose queue the lost timeline has not sent. Writes of teams are throttled
// until the shelf's fail is taken away.
func restoredQueue(t *testing.T, write func(n *feedNode)) (c *shelf, r *feedNode) {
	t.Helper()
	c = newShelf(t)
	dir, old := t.TempDir(), t.TempDir()
	n := openNode(t, c, dir, nil)
	n.put(t, "teams", team("x", 0))
	n.drained(t)
	write(n)
	n.close(t)
	copyDir(t, dir, old)
	c.set(func() {
		c.fail = func(op, table string) error {
			if table == "teams" && op != "get" && op != "table" {
				return &intent.Error{Class: intent.Throttled, Err: errors.New("slow down")}
			}
			return nil
		}
	})
	n = openNode(t, c, dir, nil)
	stop := n.run(t)
	letPass(time.Minute)
	stop()
	n.close(t)
	return c, openNode(t, c, old, nil)
}

// Who has the number of an entry that is given another one is told of it what is true: it waits, until the cloud has it.
func TestRenumberedIsFoundByItsOldNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seqs []uint64
		c, r := restoredQueue(t, func(n *feedNode) {
			for _, v := range []int64{1, 2} { // which fall into one
				n.update(t, "teams", teamKey("x"), "SET v = :v", attr.Item{":v": attr.Int(v)})
				seqs = append(seqs, n.st.Seq())
			}
		})
		stop := r.run(t)
		defer stop()
		letPass(time.Minute)
		for _, seq := range seqs {
			if p, err := r.Proved(t.Context(), seq); err != nil || p != ProofPending {
				t.Errorf("Proved of %d while it waits: %v, %v", seq, p, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := r.Wait(ctx, seq); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Wait for %d while it waits: %v", seq, err)
			}
			cancel()
		}
		c.set(func() { c.fail = nil })
		letPass(time.Minute)
		for _, seq := range seqs {
			if p, err := r.Proved(t.Context(), seq); err != nil || p != ProofApplied {
				t.Errorf("Proved of %d: %v, %v", seq, p, err)
			}
		}
		if it, _ := c.item("teams", teamKey("x")); !it["v"].Equal(attr.Int(2)) {
			t.Errorf("the cloud has %v", it)
		}
	})
}

// A transaction that gives an entry another number, and is undone, is made once more: as if it were the first time.
func TestRenumberIsMadeOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := restoredQueue(t, func(n *feedNode) {
			n.bump(t, "new")
			u := store.UpdateItem{Table: "teams", Key: teamKey("new"), Update: "SET v = :v", Condition: "attribute_not_exists(unheard)"}
			u.Values = attr.Item{":v": attr.Int(1)}
			if err := n.st.Update(t.Context(), func(tx *store.Tx) error { // which does not fall into the other
				_, err := tx.Update(u)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
		if err := r.changeState(t.Context(), func(_ *store.Tx, s *identityState) error {
			s.Lost = &lostQueue{Next: 9 << incarnationShift}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var head *unit
		var later uint64
		if err := r.st.View(t.Context(), func(tx *store.Tx) error {
			return eachUnit(tx, func(u *unit) (bool, error) {
				if head == nil || u.id.seq < head.id.seq {
					head = u
				}
				later = max(later, u.id.seq)
				return true, nil
			})
		}); err != nil {
			t.Fatal(err)
		}
		was := head.Entries[0].Seq
		f := &flight{unit: head, outcome: intent.Outcome{Result: intent.OutRenumber}}
		undone := errors.New("a test")
		settle := func(end error) error {
			return r.st.Update(t.Context(), func(tx *store.Tx) error {
				if err := r.settleUnits(r.newWork(tx), []*flight{f}, r.clock.Now()); err != nil {
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
		err := r.st.View(t.Context(), func(tx *store.Tx) error {
			u, err := r.findUnit(tx, later)
			if err != nil || u == nil {
				t.Fatalf("%v, %v", u, err)
			}
			if got := u.Entries[0].Behind; got == was || got == 0 {
				t.Errorf("what stands behind the create of %d has it at %d", was, got)
			} else if first, err := r.findUnit(tx, got); err != nil || first == nil {
				t.Errorf("there is nothing at %d: %v", got, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// What a restored table has lost is waited for also where it has got another number meanwhile.
func TestRenumberedIsReplayedStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := restoredQueue(t, func(n *feedNode) { n.bump(t, "x") })
		seq := r.pendingOn(t, "x")[0]
		book := tableBook{ID: "teams-2", Noticed: time.Now(), Requeued: true, Until: time.Now().Add(time.Hour), Through: seq}
		err := r.changeBook(t.Context(), "teams", func(b *tableBook) { *b = book })
		if err == nil {
			err = r.changeState(t.Context(), func(_ *store.Tx, s *identityState) error {
				s.Lost = &lostQueue{Next: 9 << incarnationShift}
				return nil
			})
		}
		if err == nil {
			err = r.st.Update(t.Context(), func(tx *store.Tx) error {
				u, err := r.findUnit(tx, seq)
				if err != nil {
					return err
				}
				u.Entries[0].Replay = true
				f := &flight{unit: u, outcome: intent.Outcome{Result: intent.OutRenumber}}
				return r.settleUnits(r.newWork(tx), []*flight{f}, r.clock.Now())
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		b, _ := r.book("teams")
		if waits, err := r.replayWaits(t.Context(), "teams", b.Through); err != nil || !waits {
			t.Errorf("it is not waited for: %v", err)
		}
		err = r.loadBooks(t.Context())
		if again, _ := r.book("teams"); err != nil || again.Through != b.Through {
			t.Errorf("up to %d, and after a restart up to %d: %v", b.Through, again.Through, err)
		}
	})
}

// What an earlier run has queued is not folded into what this run writes: if the file is an older state of itself, that
// was sent by another.
func TestNoFoldingOverARestart(t *testing.T) {
	dir := t.TempDir()
	n := openNode(t, newShelf(t), dir, nil)
	n.put(t, "teams", team("x", 1))
	n.put(t, "teams", team("x", 2))
	if got := n.waitingNow(t); got != 1 {
		t.Errorf("%d units wait, of one run", got)
	}
	n.close(t)
	n = openNode(t, newShelf(t), dir, nil)
	n.put(t, "teams", team("x", 3))
	n.put(t, "teams", team("x", 4))
	if got := n.waitingNow(t); got != 2 {
		t.Errorf("%d units wait, of two runs", got)
	}
}

// What a restored table has lost is put back in front of what waits, also of what has another number since a timeline was
// lost: two transactions that wait on two items do so in one order on both, or neither would ever be sent.
func TestPutBackBesideRenumbered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var point time.Time
		then := map[string]attr.Item{}
		c, r := restoredQueue(t, func(n *feedNode) {
			n.put(t, "teams", team("y", 0))
			n.drained(t)
			letPass(10 * time.Minute)
			point = time.Now()
			for _, it := range n.cloud.snapshot(t, "teams") {
				then[it["id"].Str()] = it
			}
			n.bump(t, "x") // which is lost, and nothing of y
			n.drained(t)
		})
		for range 2 {
			r.bumpBoth(t, "x", "y")
		}
		stop := r.run(t)
		defer stop()
		letPass(time.Minute)
		if first := r.pendingOn(t, "y"); len(first) != 2 || first[0] < first[1] {
			t.Fatalf("on y wait %d: the test needs the first of them to have a new number, and the second its old one", first)
		}
		c.restore(t, "teams", []attr.Item{then["x"], then["y"]}, "teams-2", point)
		if err := r.checkTables(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if x, y := r.pendingOn(t, "x"), r.pendingOn(t, "y"); len(x) != 3 || !slices.Equal(x[1:], y) {
			t.Errorf("on x wait %d, on y %d", x, y)
		}
		c.set(func() { c.fail = nil })
		letPass(10 * time.Minute)
		if got := r.waitingNow(t); got != 0 || c.n(t, "x") != 3 || c.n(t, "y") != 2 {
			t.Errorf("%d writes wait, x is %d, y is %d, recorded are %v", got, c.n(t, "x"), c.n(t, "y"), r.lostConflicts(t))
		}
	})
}

// What is behind any write of a renumbered transaction is behind it still: it goes with it when that is refused.
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
		if err := r.st.Update(t.Context(), func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: &ifNone}, {Update: &also}}})
		}); err != nil {
			t.Fatal(err)
		}
		r.put(t, "teams", team("y", 2))
		stop := r.run(t)
		defer stop()
		letPass(time.Minute)
		if on := r.pendingOn(t, "y"); len(on) != 2 || on[0] < on[1] {
			t.Fatalf("on y wait %d: the test needs the first of them to have a new number, and the second its old one", on)
		}
		theirs, _ := c.item("teams", teamKey("x"))
		theirs["n"] = attr.Int(9)
		c.foreign(t, "teams", nil, theirs)
		c.set(func() { c.fail = nil })
		letPass(10 * time.Minute)
		if got := r.lostConflicts(t); len(got) != 1 || len(got[0].Entries()) != 3 || c.n(t, "y") != 0 || r.waitingNow(t) != 0 {
			t.Errorf("y is %d, %d writes wait, recorded are %v", c.n(t, "y"), r.waitingNow(t), got)
		}
	})
}

// bumpBoth adds one to two teams in one transaction.
func (n *feedNode) bumpBoth(t testing.TB, ids ...string) {
	t.Helper()
	var w store.TransactWrite
	for _, id := range ids {
		u := store.UpdateItem{Table: "teams", Key: teamKey(id), Update: "ADD n :one"}
		u.Values = attr.Item{":one": attr.Int(1)}
		w.Items = append(w.Items, store.WriteItem{Update: &u})
	}
	if err := n.st.Update(t.Context(), func(tx *store.Tx) error { return tx.TransactWrite(w) }); err != nil {
		t.Fatal(err)
	}
}

// pendingOn lists the numbers of what waits on a team, in the order in which it does.
func (n *feedNode) pendingOn(t testing.TB, id string) (seqs []uint64) {
	t.Helper()
	if err := n.st.View(t.Context(), func(tx *store.Tx) error {
		it, err := n.newWork(tx).item("teams", teamKey(id))
		if err != nil {
			return err
		}
		for _, at := range it.sh.pending {
			seqs = append(seqs, at.seq)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return seqs
}

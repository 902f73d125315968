package replica

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What a restored snapshot writes before it can connect has sequences that were other writes' in the lost timeline. It is
// sent under new ones, whatever its items are: absent, of another life, or within a transaction.
func TestBehindTheForkIsRenumbered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.close(t)
		copyDir(t, dir, old)

		n = openNode(t, c, dir, nil)
		for _, id := range []string{"l1", "l2", "l3"} {
			n.put(t, "teams", team(id, 0))
		}
		lostPair := n.pair(t, "l4", "l5")
		n.drained(t)
		n.close(t)

		r := openNode(t, c, old, nil)
		seqs := map[string]uint64{"new": r.put(t, "teams", team("new", 1))}
		seqs["theirs"] = r.put(t, "teams", team("theirs", 1))
		r.bump(t, "x")
		if seqs["p"] = r.pair(t, "p", "q"); seqs["p"] != lostPair {
			t.Fatalf("the transactions are %d and %d: the test needs them to be one", seqs["p"], lostPair)
		}
		c.foreign(t, "teams", nil, with(team("theirs", 7), attr.Item{intent.AttrLife: attr.S("b.1.1")}))
		r.drained(t)
		if got := r.lostConflicts(t); len(got) != 0 {
			t.Errorf("conflicts %v", got)
		}
		for id, seq := range seqs {
			it, _ := c.item("teams", teamKey(id))
			if !it["n"].Equal(attr.Int(1)) {
				t.Errorf("%s is %v in the cloud", id, it)
				continue
			}
			if got, _ := markSeq(it[intent.AttrMark+"a"]); got <= seq || got>>incarnationShift == seq>>incarnationShift {
				t.Errorf("%s was sent as %d, and was given %d", id, got, seq)
			}
		}
		if c.n(t, "x") != 1 {
			t.Errorf("x is %d", c.n(t, "x"))
		}
	})
}

// pair writes two items in one transaction, and gives the first sequence of it.
func (n *feedNode) pair(t testing.TB, ids ...string) (seq uint64) {
	t.Helper()
	var w store.TransactWrite
	for _, id := range ids {
		w.Items = append(w.Items, store.WriteItem{Put: &store.PutItem{Table: "teams", Item: team(id, 1)}})
	}
	seq = n.st.Seq() + 1
	if err := n.st.Update(t.Context(), func(tx *store.Tx) error { return tx.TransactWrite(w) }); err != nil {
		t.Fatal(err)
	}
	return seq
}

// Two writes that wait on one item, and were not sent in the lost timeline: the first, under its new sequence, is no sign
// that the second was lost.
func TestAllThatWaitsOnAnItemIsRenumbered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := restoredQueue(t, func(n *feedNode) {
			for range 3 {
				n.update(t, "teams", teamKey("x"), "ADD n :one SET v = if_not_exists(v, :one)", attr.Item{":one": attr.Int(1)})
			}
		})
		c.set(func() { c.fail = nil })
		r.drained(t)
		if got := r.lostConflicts(t); len(got) != 0 || c.n(t, "x") != 3 {
			t.Errorf("x is %d, conflicts %v", c.n(t, "x"), got)
		}
	})
}

// What this node itself, or another, deleted within the slack before the restore point stays deleted, and so does what was
// replaced: it is recorded.
func TestDeletedBeforeTheRestorePointStaysDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(10 * time.Minute)
		for _, id := range []string{"gone", "other", "kept"} {
			n.put(t, "teams", team(id, 1))
		}
		letPass(time.Minute)
		c.foreign(t, "teams", teamKey("gone"), nil)
		theirs := with(team("other", 7), attr.Item{intent.AttrLife: attr.S("b.1.1"), intent.AttrCount: attr.Int(1)})
		c.foreign(t, "teams", nil, theirs)
		letPass(time.Minute)
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(time.Minute)
		n.put(t, "teams", team("lost", 1))
		letPass(time.Minute)
		c.restore(t, "teams", then, "teams-2", point)
		letPass(10 * time.Minute)
		if it, _ := c.item("teams", teamKey("gone")); it != nil {
			t.Errorf("what was deleted is back: %v", it)
		}
		if c.n(t, "other") != 7 || c.n(t, "kept") != 1 || c.n(t, "lost") != 1 {
			t.Errorf("the cloud has other %d, kept %d, lost %d", c.n(t, "other"), c.n(t, "kept"), c.n(t, "lost"))
		}
		if got := n.lostConflicts(t); len(got) != 2 || got[0].Code != string(intent.CodeRestored) || got[1].Code != string(intent.CodeRestored) {
			t.Errorf("recorded are %v", got)
		}
	})
}

// The replay log goes by the server's clock, as restore points do.
func TestReplayLogIsByTheServersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.skew = time.Hour // the node's clock is an hour behind
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		point, then := time.Now().Add(c.skew), c.snapshot(t, "teams")
		letPass(time.Minute)
		n.bump(t, "x")
		letPass(time.Minute)
		c.restore(t, "teams", then, "teams-2", point)
		letPass(10 * time.Minute)
		if c.n(t, "x") != 1 || len(n.lostConflicts(t)) != 0 {
			t.Errorf("x is %d, recorded are %v", c.n(t, "x"), n.lostConflicts(t))
		}
	})
}

// An answer that was on its way while a table was restored says what was true of the table before.
func TestAnswerFromBeforeARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(time.Minute)
		once := false
		c.set(func() {
			c.after = func(op, table string) error {
				if table != "teams" || op == "get" || once {
					return nil
				}
				once = true
				c.mu.Unlock() // it is held while a test's function is called
				defer c.mu.Lock()
				c.restore(t, "teams", then, "teams-2", point)
				if err := n.checkTables(t.Context(), true); err != nil {
					t.Error(err)
				}
				return nil
			}
		})
		n.bump(t, "x")
		letPass(10 * time.Minute)
		if !once || c.n(t, "x") != 1 || len(n.lostConflicts(t)) != 0 {
			t.Errorf("x is %d, recorded are %v", c.n(t, "x"), n.lostConflicts(t))
		}
	})
}

// A write that was applied in what is no more is sent again as what was put back is: the node has not replayed before.
func TestAnsweredTooLateIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		point, then, busy, once := time.Now(), c.snapshot(t, "teams"), false, false
		letPass(time.Minute)
		c.set(func() {
			c.fail = func(op, table string) error {
				if busy && table == "teams" && op == "write" {
					return &intent.Error{Class: intent.Throttled}
				}
				return nil
			}
			c.after = func(op, table string) error {
				if table != "teams" || op != "write" || once {
					return nil
				}
				c.mu.Unlock() // it is held while a test's function is called
				defer c.mu.Lock()
				c.restore(t, "teams", then, "teams-2", point)
				if err := n.checkTables(t.Context(), true); err != nil {
					t.Error(err)
				}
				busy, once = true, true
				return nil
			}
		})
		n.bump(t, "x")
		told := func() bool {
			row, _ := c.item("touchline-sync", nodeKey("a"))
			return row[attrReplayed].Map()["teams"].Str() == "teams-2"
		}
		letPass(10 * time.Minute)
		if told() || n.waitingNow(t) == 0 {
			t.Errorf("the node has told that it has replayed: %v; %d writes wait", told(), n.waitingNow(t))
		}
		c.set(func() { busy = false })
		letPass(10 * time.Minute)
		if !told() || c.n(t, "x") != 1 {
			t.Errorf("the node has told that it has replayed: %v; x is %d", told(), c.n(t, "x"))
		}
	})
}

// A snapshot of a node that was connected then, and has stayed so: that it is an older state shows by the row, though
// something waits for ever and settled stands still.
func TestSnapshotOfAConnectedNodeIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
		refused := map[string]bool{"teams": true, "follows": true}
		c.set(func() {
			c.fail = func(op, table string) error {
				if op != "get" && refused[table] {
					return &intent.Error{Class: intent.Throttled, Err: errors.New("slow down")}
				}
				return nil
			}
		})
		n := openNode(t, c, dir, nil)
		stop := n.run(t)
		n.put(t, "follows", attr.Item{"match": attr.S("m"), "user": attr.S("u")}) // waits for ever
		n.put(t, "teams", team("q", 0))
		letPass(time.Minute)
		copyDir(t, dir, old)
		c.set(func() { delete(refused, "teams") })
		letPass(3 * time.Minute)
		if it, _ := c.item("teams", teamKey("q")); it == nil {
			t.Fatal("it was not sent")
		}
		stop()
		n.close(t)
		r := openNode(t, c, old, nil)
		r.online(t)
		if r.stateNow().Lost == nil {
			t.Error("the node does not know that it has a past which it has forgotten")
		}
	})
}

// A crash between the choice of what is sent next and its new number: it was not sent, and takes one all the same.
func TestRenumberedAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old, crashed := newShelf(t), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "crashed")
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.close(t)
		copyDir(t, dir, old)
		n = openNode(t, c, dir, nil)
		n.put(t, "teams", team("l", 0))
		n.drained(t)
		n.close(t)
		flagged := false
		r := openNode(t, c, old, func(cfg *Config) {
			cfg.Fail = func(point string) {
				flagged = flagged || point == "identity-flagged"
				if flagged && point == "settled" && os.Mkdir(crashed, 0o700) == nil {
					copyDir(t, old, crashed)
					c.set(func() {
						c.fail = func(string, string) error { return &intent.Error{Class: intent.Offline, Err: errors.New("dead")} }
					})
				}
			}
		})
		seq := r.put(t, "teams", team("new", 1))
		stop := r.run(t)
		letPass(time.Minute)
		stop()
		r.close(t)
		c.set(func() { c.fail = nil })
		r = openNode(t, c, crashed, nil)
		r.drained(t)
		it, _ := c.item("teams", teamKey("new"))
		if got, ok := markSeq(it[intent.AttrMark+"a"]); !ok || got>>incarnationShift == seq>>incarnationShift {
			t.Errorf("%v was sent as %d, and was given %d", it, got, seq)
		}
	})
}

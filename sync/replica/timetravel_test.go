package replica

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// What a restored snapshot writes before it can connect has sequences that the lost timeline gave to other writes. It is sent under new
// ones, whether its item is absent, of another life, or part of a transaction.
func TestBehindTheForkIsRenumbered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, snapshot := pastSnapshot(t, nil)
		for _, id := range []string{"l1", "l2", "l3"} {
			n.put(t, "teams", team(id, 0))
		}
		lostPair := n.pair(t, "l4", "l5")
		n.drained(t)

		r := n.backTo(t, snapshot)
		seqs := map[string]uint64{"new": r.put(t, "teams", team("new", 1))}
		seqs["theirs"] = r.put(t, "teams", team("theirs", 1))
		r.bump(t, "x")
		if seqs["p"] = r.pair(t, "p", "q"); seqs["p"] != lostPair {
			t.Fatalf("the transactions are %d and %d: the test needs equal numbers", seqs["p"], lostPair)
		}
		c.foreign(t, "teams", nil, with(team("theirs", 7), attr.Item{intent.AttrLife: attr.S("b.1.1")}))
		r.drained(t)
		r.recorded(t, 0)
		r.cloudHas(t, teams{"x": 1, "new": 1, "theirs": 1, "p": 1})
		for id, seq := range seqs {
			r.renumbered(t, id, seq)
		}
	})
}

// Several writes wait on one item, and the lost timeline has sent none of them: the first, under its new sequence, is no sign that the
// others were lost.
func TestAllThatWaitsOnAnItemIsRenumbered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := restoredQueue(t, func(n *feedNode) {
			for range 3 {
				n.update(t, "teams", teamKey("x"), "ADD n :one SET v = if_not_exists(v, :one)", attr.Item{":one": attr.Int(1)})
			}
		})
		c.heal()
		r.drained(t)
		r.cloudHas(t, teams{"x": 3})
		r.recorded(t, 0)
	})
}

// What this node or another deleted or replaced shortly before the restore point, within the slack, stays so: it is recorded, not sent
// again.
func TestDeletedBeforeTheRestorePointStaysDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(10 * time.Minute)
		for _, id := range []string{"gone", "other", "kept"} {
			n.put(t, "teams", team(id, 1))
		}
		letPass(time.Minute)
		c.foreign(t, "teams", teamKey("gone"), nil)
		theirs := with(team("other", 7), attr.Item{intent.AttrLife: attr.S("b.1.1"), intent.AttrCount: attr.Int(1)})
		c.foreign(t, "teams", nil, theirs)
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(time.Minute)
		n.put(t, "teams", team("lost", 1))
		letPass(time.Minute)
		c.restoreTo(t, backup)
		letPass(10 * time.Minute)
		if it := c.team(t, "gone"); it != nil {
			t.Errorf("the deleted item is back: %v", it)
		}
		n.cloudHas(t, teams{"other": 7, "kept": 1, "lost": 1})
		for _, record := range n.recorded(t, 2) {
			if record.Code != string(intent.CodeRestored) {
				t.Errorf("it is recorded as %v", record)
			}
		}
	})
}

// A transaction over two tables, one of which is restored, is half there. The other half cannot be repaired without perhaps applying it
// twice, so a person is asked.
func TestHalfOfATransactionIsRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(10 * time.Minute)
		follow := attr.Item{"match": attr.S("7"), "user": attr.S("ann")}
		n.together(t, oneMore("x"), store.WriteItem{Put: &store.PutItem{Table: "follows", Item: follow}})
		letPass(time.Minute)
		n.cloudHas(t, teams{"x": 1})
		c.restoreTo(t, backup)
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 0})
		record := n.recorded(t, 1)[0]
		if record.Code != string(intent.CodeHalf) || record.Kind != conflict.KindUnknown || record.State != conflict.StateOpen {
			t.Errorf("it is recorded as %s, %s (%s)", record.Code, record.State, record.Kind)
		}
	})
}

// The replay log uses the server's clock, as restore points do.
func TestReplayLogIsByTheServersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.skew = time.Hour // the node's clock is an hour behind
		defer n.run(t)()
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(time.Minute)
		n.bump(t, "x")
		letPass(time.Minute)
		c.restoreTo(t, backup)
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 1})
		n.recorded(t, 0)
	})
}

// An answer in flight while a table was restored describes the table before the restore.
func TestAnswerFromBeforeARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(time.Minute)
		var once atomic.Bool
		c.loseAnswers(func(op, table string) bool {
			if table == "teams" && op != "get" && once.CompareAndSwap(false, true) {
				c.unlocked(func() {
					c.restoreTo(t, backup)
					n.checkAllTables(t)
				})
			}
			return false
		})
		n.bump(t, "x")
		letPass(10 * time.Minute)
		if !once.Load() {
			t.Error("nothing was sent")
		}
		n.cloudHas(t, teams{"x": 1})
		n.recorded(t, 0)
	})
}

// A write applied to a table that was then restored is sent again, like one that is put back: the node has not replayed before that.
func TestAnsweredTooLateIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		backup, once := c.backUp(t), false
		letPass(time.Minute)
		write := func(op, table string) bool { return op == "write" && table == "teams" }
		c.refuse(intent.Throttled, func(op, table string) bool { return once && write(op, table) })
		c.loseAnswers(func(op, table string) bool {
			if write(op, table) && !once {
				c.unlocked(func() {
					c.restoreTo(t, backup)
					n.checkAllTables(t)
				})
				once = true
			}
			return false
		})
		n.bump(t, "x")
		reported := func() bool { return c.nodeRow(t)[attrReplayed].Map()["teams"].Str() == "teams-2" }
		letPass(10 * time.Minute)
		if reported() || n.waitingNow(t) == 0 {
			t.Errorf("the node reports that it has replayed: %v; %d writes wait", reported(), n.waitingNow(t))
		}
		c.heal()
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 1})
		if !reported() {
			t.Error("the node does not report that it has replayed")
		}
	})
}

// A snapshot of a connected node that stayed connected: the row shows that it is an older state, although a write waits for ever and
// settled does not advance.
func TestSnapshotOfAConnectedNodeIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		refused := map[string]bool{"teams": true, "follows": true}
		c.refuse(intent.Throttled, func(op, table string) bool { return op != "get" && refused[table] })
		stop := n.run(t)
		n.put(t, "follows", follow("m", "u")) // waits for ever
		n.put(t, "teams", team("q", 0))
		letPass(time.Minute)
		snapshot := n.disk(t)
		c.set(func() { delete(refused, "teams") })
		letPass(3 * time.Minute)
		if it := c.team(t, "q"); it == nil {
			t.Fatal("it was not sent")
		}
		stop()
		r := n.backTo(t, snapshot)
		r.online(t)
		if r.known(t).Lost == nil {
			t.Error("the node has not noticed its lost timeline")
		}
	})
}

// A first image of policy state waits in place of an older one, which names the life that it begins. The node does not report the older
// one settled: restored to a snapshot with it, it would count it as sent in the lost timeline, and record it.
func TestFirstImageThatTookAnothersPlaceIsNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		image := func(score int64) attr.Item { return attr.Item{"match": attr.S("7"), "score": attr.Int(score)} }
		var first uint64
		c, n, snapshot := pastSnapshot(t, func(n *feedNode) {
			first = n.put(t, "states", image(1))
			n.put(t, "states", image(2))
			if got := n.waitingNow(t); got != 1 {
				t.Fatalf("%d writes wait, want 1", got)
			}
		})
		c.refuse(intent.Throttled, func(op, table string) bool { return table == "states" && op != "get" && op != "table" })
		stop := n.run(t)
		letPass(time.Minute)
		stop()
		if got, err := outbox.SettledHere(t.Context(), n.st); err != nil || got >= first {
			t.Errorf("settled %d (%v), although %d waits", got, err, first)
		}
		c.heal()
		r := n.backTo(t, snapshot)
		r.drained(t)
		r.recorded(t, 0)
		if it, _ := c.item("states", attr.Item{"match": attr.S("7")}); !it["score"].Equal(attr.Int(2)) {
			t.Errorf("the cloud has %v", it)
		}
	})
}

// A crash between the choice of what is sent next and its renumbering: it was not sent, and is renumbered all the same.
func TestRenumberedAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, snapshot := pastSnapshot(t, nil)
		n.put(t, "teams", team("l", 0))
		n.drained(t)
		n.close(t)
		var mu sync.Mutex // the workers reach their failpoints concurrently
		flagged, crashed := false, ""
		r := openNode(t, c, snapshot, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				mu.Lock()
				defer mu.Unlock()
				flagged = flagged || point == "identity-flagged"
				if flagged && point == "settled" && crashed == "" {
					crashed = t.TempDir()
					copyDir(t, snapshot, crashed)
					c.set(func() { c.fail = away })
				}
			}
		})
		seq := r.put(t, "teams", team("new", 1))
		stop := r.run(t)
		letPass(time.Minute)
		stop()
		r.close(t)
		c.heal()
		r = openNode(t, c, crashed, nil)
		r.drained(t)
		r.renumbered(t, "new", seq)
	})
}

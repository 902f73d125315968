package replica

import (
	"cmp"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// A write in flight when a table was found restored is in the outbox as never sent, except for its mark: it is verified like a known
// unanswered one. A transaction's proof lies in another table, and proves nothing about what the restored one has lost.
func TestOnItsWayOverARestore(t *testing.T) {
	for _, c := range []struct {
		name, held string
		lost       bool // the held answer never comes
		dies       bool // the node dies meanwhile
	}{
		{name: "the images are not read", held: "get", lost: true},
		{name: "the images are read late", held: "get"},
		{name: "the answer is late", held: "transact"},
		{name: "the answer is lost", held: "transact", lost: true},
		{name: "the node dies", held: "get", lost: true, dies: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { onItsWay(t, c.held, c.lost, c.dies) })
		})
	}
}

func onItsWay(t *testing.T, held string, lost, dies bool) {
	c, n := opened(t, nil)
	stop := n.run(t)
	letPass(time.Minute)
	backup := c.backUp(t)
	letPass(time.Second)
	hold, release := true, make(chan struct{})
	c.loseAnswers(func(op, table string) bool {
		if !hold || op != held || table != "teams" {
			return false
		}
		hold = false
		c.unlocked(func() { <-release })
		return lost
	})
	n.pair(t, "x", "y")
	letPass(2 * time.Second)
	if c.n(t, "x") != 1 || n.waitingNow(t) != 2 {
		t.Fatalf("the transaction is not in flight: x is %d, %d wait", c.n(t, "x"), n.waitingNow(t))
	}
	c.restoreTo(t, backup)
	n.checkAllTables(t)
	disk := n.disk(t)
	close(release)
	if dies {
		stop()
		c.replaceTeams(t, backup) // undoes what the released request has done
		n = n.backTo(t, disk)
		stop = n.run(t)
	}
	letPass(10 * time.Minute)
	n.cloudHas(t, teams{"x": 1, "y": 1})
	n.waits(t, 0)
	stop()
}

// A write that followed another is in flight when a feed sees its mark and its table is restored: it is put back, and follows nothing
// now. Its late or lost answer does not change that.
func TestPutBackWhileOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(5*time.Second))
		stop := n.run(t)
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(time.Second)
		var sent atomic.Int64
		release := make(chan struct{})
		c.loseAnswers(func(op, table string) bool {
			if op != "write" || table != "teams" {
				return false
			}
			second := sent.Add(1) == 2
			if second {
				c.unlocked(func() { <-release })
			}
			return second
		})
		n.inTx(t, func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "teams", Item: team("first", 1)})
			behind := store.Sending{After: []store.ItemRef{{Table: "teams", Key: teamKey("first")}}}
			_, err2 := tx.Put(store.PutItem{Table: "teams", Item: team("second", 1), Sending: behind})
			return cmp.Or(err, err2)
		})
		letPass(8 * time.Second) // a scan has shown it
		if sent.Load() != 2 || n.waitingNow(t) != 0 {
			t.Fatalf("it is not in flight with its mark seen: %d were sent, %d wait", sent.Load(), n.waitingNow(t))
		}
		c.restoreTo(t, backup)
		n.checkAllTables(t)
		close(release)
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"first": 1, "second": 1})
		n.waits(t, 0)
		n.recorded(t, 0)
		stop()
	})
}

// A tombstone put before a restore may be lost in it: a delete in flight then puts it again.
func TestTombstoneOfADeleteOnItsWayOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(5*time.Second))
		theirs := team("x", 1)
		theirs[intent.AttrLife] = attr.S("b.1.5")
		c.foreign(t, "teams", nil, theirs)
		stop := n.run(t)
		letPass(time.Minute)
		backup := c.backUp(t)
		dead := attr.Item{intent.SyncKey: attr.S(intent.DeadID("b.1.5"))}
		letPass(time.Second)
		var held atomic.Bool
		release := make(chan struct{})
		c.loseAnswers(func(op, table string) bool {
			if op != "write" || table != "teams" || held.Swap(true) {
				return false
			}
			c.unlocked(func() { <-release })
			return true
		})
		n.remove(t, "teams", teamKey("x"))
		letPass(time.Second)
		if it, err := c.item("touchline-sync", dead); !held.Load() || it == nil || err != nil {
			t.Fatalf("the delete is not in flight after its tombstone: %v, %v", it, err)
		}
		c.restoreTo(t, backup)
		c.foreign(t, "touchline-sync", dead, nil)
		n.checkAllTables(t)
		close(release)
		letPass(10 * time.Minute)
		n.waits(t, 0)
		if it, err := c.item("touchline-sync", dead); c.team(t, "x") != nil || it == nil || err != nil {
			t.Errorf("the cloud has the item %v and the tombstone %v, %v; recorded: %v", c.team(t, "x"), it, err, n.conflicts(t))
		}
		stop()
	})
}

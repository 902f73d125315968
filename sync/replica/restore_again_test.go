package replica

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// If a restored table still has several writes of one item, the mark of the last proves those before it.
func TestRestoredTableHasTheLastOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("x", 1))
		n.pair(t, "y", "z")
		for range 3 {
			n.bump(t, "x")
			n.bump(t, "y")
			letPass(10 * time.Second)
		}
		backup := c.backUp(t)
		letPass(10 * time.Second)
		n.bump(t, "x")
		letPass(10 * time.Second)
		c.restoreTo(t, backup)
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 5, "y": 4, "z": 1})
		n.recorded(t, 0)
	})
}

// What was sent to a restored table before the restore was noticed proves nothing about what the table has lost.
func TestMarkFromAfterTheRestoreProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("x", 1))
		letPass(10 * time.Second)
		backup := c.backUp(t)
		letPass(10 * time.Second)
		n.bump(t, "x")
		letPass(10 * time.Second)
		c.restoreTo(t, backup)
		n.bump(t, "x")
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 2})
		n.recorded(t, 1)
	})
}

// One table found to be restored makes the node check all tables: the others get back what they have lost, although nothing read or
// written there would show it.
func TestOneRestoredTableTellsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(10 * time.Second)
		backup := c.backUp(t)
		letPass(time.Second)
		n.put(t, "teams", team("x", 1))
		n.put(t, "follows", follow("m", "u"))
		letPass(30 * time.Second)
		c.restoreTo(t, backup)
		c.foreign(t, "follows", follow("m", "u"), nil)
		c.set(func() { c.state["follows"] = remote.TableState{ID: "follows-2", RestoredAt: backup.at} })
		n.bump(t, "x")
		letPass(time.Second) // all are checked soon anyway
		n.cloudHas(t, teams{"x": 2})
		if it, err := c.item("follows", follow("m", "u")); it == nil || err != nil {
			t.Errorf("in the other table the cloud has %v, %v", it, err)
		}
	})
}

// A table restored a second time before its losses are put back gets back what both restores took.
func TestRestoredAgainBeforeItIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		backup := c.backUp(t)
		letPass(time.Second)
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		letPass(time.Minute)
		c.restoreTo(t, backup)
		if err := n.tables.Inspect(t.Context(), "teams"); err != nil {
			t.Fatal(err)
		}
		letPass(19 * time.Minute)
		backup = c.backUp(t)
		letPass(time.Minute)
		c.restoreTo(t, backup)
		n.checkAllTables(t)
		n.drained(t)
		n.cloudHas(t, teams{"x": 1})
		n.recorded(t, 0)
	})
}

// A transaction in a snapshot's queue was sent in the lost timeline, and a restore of its table undid it. Its proof lies in another
// table, and proves nothing about the present one. It is not lost without a record.
func TestTransactionOfALostTimelineOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		backup := c.backUp(t)
		letPass(time.Minute)
		n.pair(t, "y", "z")
		snapshot := n.snapshot(t)
		n = n.again(t)
		n.drained(t)
		n.cloudHas(t, teams{"y": 1})
		letPass(time.Minute)
		c.restoreTo(t, backup)

		n = n.backTo(t, snapshot)
		n.drained(t)
		// Nothing shows any more what became of it then: it is recorded, and not sent over later decisions.
		n.cloudHas(t, teams{"y": 0, "z": 0})
		n.recorded(t, 1)
	})
}

// A second restore goes back further than the first: what was acknowledged before the first is not proved by what was sent between the
// two.
func TestRestoredFurtherBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("x", 0))
		letPass(10 * time.Minute)
		before := c.backUp(t)
		letPass(time.Minute)
		n.bump(t, "x")
		letPass(10 * time.Minute)
		n.bump(t, "x")
		letPass(time.Minute)
		later := c.backUp(t)
		letPass(time.Minute)
		write := func(op, table string) bool { return op == "write" && table == "teams" }
		c.refuse(intent.Throttled, write)
		c.restoreTo(t, later)
		letPass(6 * time.Minute) // the last write is to be verified, and is throttled
		c.restoreTo(t, before)
		var sent atomic.Bool
		c.refuse(intent.Throttled, func(op, table string) bool { return sent.Load() && write(op, table) })
		c.loseAnswers(func(op, table string) bool {
			if write(op, table) {
				sent.Store(true)
			}
			return write(op, table)
		})
		letPass(6 * time.Minute) // it is applied there before the restore is noticed
		if !sent.Load() || c.n(t, "x") != 1 || n.book(t, "teams").ID != "teams-3" {
			t.Fatalf("sent %v, x is %d, the node takes the table for %s", sent.Load(), c.n(t, "x"), n.book(t, "teams").ID)
		}
		c.heal()
		letPass(20 * time.Minute)
		if got := n.conflicts(t); int(c.n(t, "x"))+len(got) != 2 {
			t.Errorf("x is %d, recorded: %v", c.n(t, "x"), got)
		}
	})
}

// If the old table is restored in place of a recreated one, it is used at once, and only what it has lost is sent again: what others had
// deleted before stays deleted.
func TestOldTableInPlaceOfOneMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				if point == "restore-flagged" { // before it is put back, when a write behind it might be sent first
					letPass(10 * time.Second)
				}
			}
		})
		n.put(t, "teams", team("gone", 1))
		n.put(t, "teams", team("x", 0))
		letPass(20 * time.Minute)
		c.foreign(t, "teams", teamKey("gone"), nil)
		letPass(20 * time.Minute)
		backup := c.backUp(t)
		letPass(time.Minute)
		n.bump(t, "x")
		letPass(time.Minute)
		c.makeAnew(t)
		letPass(10 * time.Minute)
		n.bump(t, "x")
		c.restoreTo(t, backup)
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"gone": 0, "x": 2})
		n.recorded(t, 0)
		if st := n.status(t); len(st.Alarms) != 0 || n.tables.Replaying() {
			t.Errorf("alarms %v, replaying %v", st.Alarms, n.tables.Replaying())
		}
	})
}

// A feed that sees the last write's mark before the workers have verified the earlier ones takes it as proof of all of them. Otherwise it
// would settle the last write alone, and no worker would find a write with that mark waiting.
func TestManyOfOneItemBesideAFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, scanTeams(time.Second))
		backup := n.manyOf(t, 20)
		c.refuse(intent.Throttled, func(op, table string) bool { return table == "teams" && op != "table" && op != "read" })
		c.restoreTo(t, backup)
		letPass(6 * time.Minute)
		n.waits(t, 21)
		c.foreign(t, "teams", nil, with(c.team(t, "x"), attr.Item{"seen": attr.Int(1)})) // a change for the feed to read
		letPass(10 * time.Second)
		n.waits(t, 1) // the one that the table has lost
		c.heal()
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 21})
		n.recorded(t, 0)
	})
}

// More writes go back than fit in one transaction: no worker looks for any of them before the last one waits, since its mark proves the
// others.
func TestManyOfOneItemGoBackInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pieces atomic.Int32
		c, n := running(t, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				if point == "restore-requeued" {
					pieces.Add(1)
					letPass(10 * time.Second) // time for the workers
				}
			}
		})
		backup := n.manyOf(t, manyWrites)
		c.restoreTo(t, backup)
		letPass(20 * time.Minute)
		if got := pieces.Load(); got < 2 {
			t.Errorf("put back in %d transactions, want several", got)
		}
		n.cloudHas(t, teams{"x": manyWrites + 1})
		n.recorded(t, 0)
	})
}

// More goes back than fits in one transaction, and the workers read the outbox between two of them: the earlier writes wait for the last
// one, whose mark proves them.
func TestWorkersWaitForTheLastPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n *feedNode
		var slices atomic.Int32
		c, made := opened(t, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				if point == "restore-requeued" {
					slices.Add(1)
					n.rescan()
					letPass(10 * time.Second)
				}
			}
		})
		n = made
		defer n.run(t)()
		n.addMany(t, manyWrites)
		c.restoreTo(t, c.backUp(t))
		letPass(20 * time.Minute)
		if got := slices.Load(); got < 2 {
			t.Errorf("%d transactions: the test needs several", got)
		}
		n.cloudHas(t, teams{"x": manyWrites})
		n.recorded(t, 0)
		n.waits(t, 0)
	})
}

// A node that dies or fails between two of these transactions continues with the rest, and only then starts its workers.
func TestPuttingBackGoesOn(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprintf("dies %t", dies), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				c, n := opened(t, func(cfg *Config) {
					cfg.Failpoint = func(point string) {
						if point == "restore-requeued" {
							cancel()
						}
					}
				})
				stop := n.run(t)
				n.addMany(t, manyWrites)
				if dies {
					stop()
					n.close(t)
				}
				c.restoreTo(t, c.backUp(t))
				if dies {
					n = openNode(t, c, n.dir, crashAt("restore-requeued"))
					crashes(t, func() { n.online(t) })
					n.close(t)
					n = openNode(t, c, n.dir, nil)
					stop = n.run(t)
				} else if err := n.tables.CheckAll(ctx, true); !errors.Is(err, context.Canceled) {
					t.Errorf("putting back ended with %v", err)
				}
				letPass(20 * time.Minute)
				n.cloudHas(t, teams{"x": manyWrites})
				n.recorded(t, 0)
				n.waits(t, 0)
				stop()
			})
		})
	}
}

// manyWrites is more than one transaction puts back (200).
const manyWrites = 200 + 10

// addMany makes many writes of one item and lets them be sent.
func (n *feedNode) addMany(t *testing.T, many int) {
	t.Helper()
	n.put(t, "teams", team("x", 0))
	for range many {
		n.bump(t, "x")
		letPass(100 * time.Millisecond)
	}
	letPass(10 * time.Second)
}

// manyOf makes many writes of one item, a backup after they were sent, and one write after the backup.
func (n *feedNode) manyOf(t *testing.T, many int) (b backup) {
	t.Helper()
	n.addMany(t, many)
	b = n.cloud.backUp(t)
	letPass(10 * time.Second)
	n.bump(t, "x")
	letPass(10 * time.Second)
	return b
}

// A transaction that only this timeline has, after the fork, was never sent: it gets new sequences, even if its table was restored
// meanwhile.
func TestTransactionBehindTheForkOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, snapshot := pastSnapshot(t, nil)
		n.pair(t, "l1", "l2")
		n.drained(t)
		c.restoreTo(t, c.backUp(t))

		r := n.backTo(t, snapshot)
		seq := r.pair(t, "y", "z")
		r.drained(t)
		r.renumbered(t, "y", seq)
	})
}

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

// Of several writes of one item that a restored table still has, the last one's mark proves those before it.
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

// What went to a restored table before anybody had noticed proves nothing of what that table has lost.
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

// One table that turns out to be restored has all looked at: the others get again what they have lost, though nobody asks for
// anything that would show it.
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
		letPass(time.Second) // all are looked at soon anyway
		n.cloudHas(t, teams{"x": 2})
		if it, err := c.item("follows", follow("m", "u")); it == nil || err != nil {
			t.Errorf("of the other table the cloud has %v, %v", it, err)
		}
	})
}

// A table that is restored once more before what it had lost is put back gets what both restores took.
func TestRestoredAgainBeforeItIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		backup := c.backUp(t)
		letPass(time.Second)
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		letPass(time.Minute)
		c.restoreTo(t, backup)
		if err := n.tables.Look(t.Context(), "teams"); err != nil {
			t.Fatal(err)
		}
		letPass(19 * time.Minute)
		backup = c.backUp(t)
		letPass(time.Minute)
		c.restoreTo(t, backup)
		n.lookAtTables(t)
		n.drained(t)
		n.cloudHas(t, teams{"x": 1})
		n.recorded(t, 0)
	})
}

// A transaction that waits in a snapshot was sent in the time that was lost, and a restore of its table has undone that: its
// proof lies in another table, and proves nothing of what is there now. It is not lost without a record.
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
		// Nobody can tell any more what became of it then: it is recorded, and not sent over what was decided.
		n.cloudHas(t, teams{"y": 0, "z": 0})
		n.recorded(t, 1)
	})
}

// A second restore to an instant before the first: what had been acknowledged before the first is not proved by what was sent
// between the two.
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
		letPass(6 * time.Minute) // the last write is to be made sure of, and is not
		c.restoreTo(t, before)
		var sent atomic.Bool
		c.refuse(intent.Throttled, func(op, table string) bool { return sent.Load() && write(op, table) })
		c.loseAnswers(func(op, table string) bool {
			if write(op, table) {
				sent.Store(true)
			}
			return write(op, table)
		})
		letPass(6 * time.Minute) // it is done there, before anybody has noticed
		if !sent.Load() || c.n(t, "x") != 1 || n.book(t, "teams").ID != "teams-3" {
			t.Fatalf("sent %v, x is %d, the table is taken for %s", sent.Load(), c.n(t, "x"), n.book(t, "teams").ID)
		}
		c.heal()
		letPass(20 * time.Minute)
		if got := n.conflicts(t); int(c.n(t, "x"))+len(got) != 2 {
			t.Errorf("x is %d, recorded are %v", c.n(t, "x"), got)
		}
	})
}

// Who restores the old table in the place of one that was made anew has it used at once, and nothing is sent again but what
// that has lost: what others had deleted before stays deleted.
func TestOldTableInPlaceOfOneMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				if point == "restore-flagged" { // before it is put back: what waits behind it could be quicker
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

// A feed that sees the last write's mark before the lanes have made sure of those before it takes it for the proof of all: it
// settles the last write, and no lane would find that mark waiting any more.
func TestManyOfOneItemBesideAFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, scanTeams(time.Second))
		backup := n.manyOf(t, 20)
		c.refuse(intent.Throttled, func(op, table string) bool { return table == "teams" && op != "table" && op != "read" })
		c.restoreTo(t, backup)
		letPass(6 * time.Minute)
		n.waits(t, 21)
		c.foreign(t, "teams", nil, with(c.team(t, "x"), attr.Item{"seen": attr.Int(1)})) // news for the feed
		letPass(10 * time.Second)
		n.waits(t, 1) // what the table has lost
		c.heal()
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 21})
		n.recorded(t, 0)
	})
}

// More than goes back in one transaction: no lane looks for any of it before the last of it waits, for that proves the others.
func TestManyOfOneItemGoBackInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pieces atomic.Int32
		c, n := running(t, func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				if point == "restore-requeued" {
					pieces.Add(1)
					letPass(10 * time.Second) // in which the lanes do what they can
				}
			}
		})
		backup := n.manyOf(t, manyWrites)
		c.restoreTo(t, backup)
		letPass(20 * time.Minute)
		if got := pieces.Load(); got < 2 {
			t.Errorf("put back in %d pieces", got)
		}
		n.cloudHas(t, teams{"x": manyWrites + 1})
		n.recorded(t, 0)
	})
}

// More goes back than in one transaction, and lanes look at the outbox between two of them: what was written first waits until
// the last write is there, whose mark proves it.
func TestLanesWaitForTheLastPutBack(t *testing.T) {
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
			t.Errorf("the test needs more than one transaction: there were %d", got)
		}
		n.cloudHas(t, teams{"x": manyWrites})
		n.recorded(t, 0)
		n.waits(t, 0)
	})
}

// A node that dies or fails between two of them goes on with it, and then with the lanes.
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

// manyWrites are more than one transaction puts back.
const manyWrites = 200 + 10 // more than are put back in one transaction

// addMany has many writes of one item be sent.
func (n *feedNode) addMany(t *testing.T, many int) {
	t.Helper()
	n.put(t, "teams", team("x", 0))
	for range many {
		n.bump(t, "x")
		letPass(100 * time.Millisecond)
	}
	letPass(10 * time.Second)
}

// manyOf has many writes of one item be sent, and one more behind a backup.
func (n *feedNode) manyOf(t *testing.T, many int) (b backup) {
	t.Helper()
	n.addMany(t, many)
	b = n.cloud.backUp(t)
	letPass(10 * time.Second)
	n.bump(t, "x")
	letPass(10 * time.Second)
	return b
}

// A transaction that is of this timeline alone, behind the fork, was never sent: it gets new sequences, though its table was
// restored meanwhile.
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

package replica

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Of several writes of one item that a restored table still has, the last one's mark proves those before it.
func TestRestoredTableHasTheLastOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 1))
		n.pair(t, "y", "z")
		for range 3 {
			n.bump(t, "x")
			n.bump(t, "y")
			letPass(10 * time.Second)
		}
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(10 * time.Second)
		n.bump(t, "x")
		letPass(10 * time.Second)
		c.restore(t, "teams", then, "teams-2", point)
		letPass(10 * time.Minute)
		if c.n(t, "x") != 5 || c.n(t, "y") != 4 || c.n(t, "z") != 1 {
			t.Errorf("x is %d, y is %d, z is %d", c.n(t, "x"), c.n(t, "y"), c.n(t, "z"))
		}
		if got := n.lostConflicts(t); len(got) != 0 {
			t.Errorf("conflicts %v", got)
		}
	})
}

// What went to a restored table before anybody had noticed proves nothing of what that table has lost.
func TestMarkFromAfterTheRestoreProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 1))
		letPass(10 * time.Second)
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(10 * time.Second)
		n.bump(t, "x")
		letPass(10 * time.Second)
		c.restore(t, "teams", then, "teams-2", point)
		n.bump(t, "x")
		letPass(10 * time.Minute)
		if got := n.lostConflicts(t); c.n(t, "x") != 2 || len(got) != 1 {
			t.Errorf("x is %d, recorded are %v", c.n(t, "x"), got)
		}
	})
}

// One table that turns out to be restored has all looked at: the others get again what they have lost, though nobody asks for
// anything that would show it.
func TestOneRestoredTableTellsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(10 * time.Second)
		point := time.Now()
		letPass(time.Second)
		n.put(t, "teams", team("x", 1))
		n.put(t, "follows", attr.Item{"match": attr.S("m"), "user": attr.S("u")})
		letPass(30 * time.Second)
		c.restore(t, "teams", nil, "teams-2", point)
		c.foreign(t, "follows", attr.Item{"match": attr.S("m"), "user": attr.S("u")}, nil)
		c.set(func() { c.state["follows"] = TableState{ID: "follows-2", RestoredAt: point} })
		n.bump(t, "x")
		letPass(time.Second) // all are looked at soon anyway
		if it, _ := c.item("follows", attr.Item{"match": attr.S("m"), "user": attr.S("u")}); it == nil || c.n(t, "x") != 2 {
			t.Errorf("the cloud has %v of the one table, x is %d in the other", it, c.n(t, "x"))
		}
	})
}

// A table that is restored once more before what it had lost is put back gets what both restores took.
func TestRestoredAgainBeforeItIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		point := time.Now()
		letPass(time.Second)
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		letPass(time.Minute)
		c.restore(t, "teams", nil, "teams-2", point)
		if err := n.lookAt(t.Context(), "teams"); err != nil {
			t.Fatal(err)
		}
		letPass(20 * time.Minute)
		c.restore(t, "teams", nil, "teams-3", time.Now().Add(-time.Minute))
		if err := n.checkTables(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		n.drained(t)
		if c.n(t, "x") != 1 {
			t.Error("what the first restore has taken is not sent again")
		}
		if got := n.lostConflicts(t); len(got) != 0 {
			t.Errorf("conflicts %v", got)
		}
	})
}

// A transaction that waits in a snapshot was sent in the time that was lost, and a restore of its table has undone that: its
// proof lies in another table, and proves nothing of what is there now. It is not lost without a record.
func TestTransactionOfALostTimelineOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(time.Minute)
		n.pair(t, "y", "z")
		n.close(t)
		copyDir(t, dir, old)

		n = openNode(t, c, dir, nil)
		n.drained(t)
		n.close(t)
		if c.n(t, "y") != 1 {
			t.Fatal("it was not sent")
		}
		letPass(time.Minute)
		c.restore(t, "teams", then, "teams-2", point)

		n = openNode(t, c, old, nil)
		n.drained(t)
		// Nobody can tell any more what became of it then: it is recorded, and not sent over what was decided.
		if got := n.lostConflicts(t); len(got) != 1 || c.n(t, "y") != 0 || c.n(t, "z") != 0 {
			t.Errorf("y is %d, z is %d, recorded are %v", c.n(t, "y"), c.n(t, "z"), got)
		}
	})
}

// A second restore to an instant before the first: what had been acknowledged before the first is not proved by what was sent
// between the two.
func TestRestoredFurtherBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, deaf := newShelf(t), false
		c.set(func() {
			c.after = func(op, table string) error {
				if deaf && table == "teams" && op == "write" {
					return &intent.Error{Class: intent.Unknown}
				}
				return nil
			}
		})
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 0))
		letPass(10 * time.Minute)
		second, long := time.Now(), c.snapshot(t, "teams")
		letPass(time.Minute)
		n.bump(t, "x")
		letPass(10 * time.Minute)
		n.bump(t, "x")
		letPass(time.Minute)
		first, then := time.Now(), c.snapshot(t, "teams")
		letPass(time.Minute)
		c.set(func() { deaf = true })
		c.restore(t, "teams", then, "teams-2", first)
		letPass(6 * time.Minute) // the last write is made sure of, and not answered
		c.restore(t, "teams", long, "teams-3", second)
		letPass(6 * time.Minute) // it is done there, before anybody has noticed
		c.set(func() { deaf = false })
		letPass(20 * time.Minute)
		if got := n.lostConflicts(t); int(c.n(t, "x"))+len(got) != 2 {
			t.Errorf("x is %d, recorded are %v", c.n(t, "x"), got)
		}
	})
}

// Who restores the old table in the place of one that was made anew has it used at once, and nothing is sent again but what
// that has lost: what others had deleted before stays deleted.
func TestOldTableInPlaceOfOneMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("gone", 1))
		n.put(t, "teams", team("x", 0))
		letPass(20 * time.Minute)
		c.foreign(t, "teams", teamKey("gone"), nil)
		letPass(20 * time.Minute)
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(time.Minute)
		n.bump(t, "x")
		letPass(time.Minute)
		c.restore(t, "teams", nil, "teams-2", time.Time{})
		letPass(10 * time.Minute)
		n.bump(t, "x")
		c.restore(t, "teams", then, "teams-3", point)
		letPass(10 * time.Minute)
		if it, _ := c.item("teams", teamKey("gone")); it != nil || c.n(t, "x") != 2 || len(n.lostConflicts(t)) != 0 {
			t.Errorf("gone is %v, x is %d, recorded are %v", it, c.n(t, "x"), n.lostConflicts(t))
		}
		if st, err := n.Status(t.Context()); err != nil || len(st.Alarms()) != 0 || n.replaying() {
			t.Errorf("alarms %v, %v, replaying %v", st.Alarms(), err, n.replaying())
		}
	})
}

// More than goes back in one transaction, beside a feed that sees the last write's mark before the lanes have made sure of the
// others: they are proved all the same.
func TestManyOfOneItemBesideAFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), scanTeams(time.Second))
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 0))
		const many = requeueSlice + 100
		for range many {
			n.bump(t, "x")
			letPass(100 * time.Millisecond)
		}
		letPass(10 * time.Second)
		c.foreign(t, "teams", teamKey("x"), with(inCloud(t, c, "x"), attr.Item{"seen": attr.Int(1)})) // news for the feed
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(10 * time.Second)
		n.bump(t, "x")
		letPass(10 * time.Second)
		c.restore(t, "teams", then, "teams-2", point)
		letPass(20 * time.Minute)
		if c.n(t, "x") != many+1 || len(n.lostConflicts(t)) != 0 {
			t.Errorf("x is %d, recorded are %d", c.n(t, "x"), len(n.lostConflicts(t)))
		}
	})
}

// More goes back than in one transaction, and lanes look at the outbox between two of them: what was written first waits until
// the last write is there, whose mark proves it.
func TestLanesWaitForTheLastPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, slices := newShelf(t), 0
		var n *feedNode
		n = openNode(t, c, t.TempDir(), func(cfg *Config) {
			cfg.Fail = func(point string) {
				if point == "restore-requeued" {
					slices++
					n.rescan()
					letPass(10 * time.Second)
				}
			}
		})
		stop := n.run(t)
		defer stop()
		n.addMany(t)
		c.restore(t, "teams", c.snapshot(t, "teams"), "teams-2", time.Now())
		letPass(20 * time.Minute)
		if slices < 2 {
			t.Errorf("the test needs more than one transaction: there were %d", slices)
		}
		if got := len(n.lostConflicts(t)); got != 0 || c.n(t, "x") != manyWrites || n.waitingNow(t) != 0 {
			t.Errorf("recorded are %d, x is %d, %d wait", got, c.n(t, "x"), n.waitingNow(t))
		}
	})
}

// A node that dies or fails between two of them goes on with it, and then with the lanes.
func TestPuttingBackGoesOn(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprintf("dies %t", dies), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, dir := newShelf(t), t.TempDir()
				ctx, cancel := context.WithCancel(t.Context())
				n := openNode(t, c, dir, func(cfg *Config) {
					cfg.Fail = func(point string) {
						if point == "restore-requeued" {
							cancel()
						}
					}
				})
				stop := n.run(t)
				n.addMany(t)
				if dies {
					stop()
					n.close(t)
				}
				c.restore(t, "teams", c.snapshot(t, "teams"), "teams-2", time.Now())
				if dies {
					runsInto(t, "restore-requeued", func(fail func(*Config)) {
						n = openNode(t, c, dir, fail)
						n.online(t)
					})
					n.close(t)
					n = openNode(t, c, dir, nil)
					stop = n.run(t)
				} else if err := n.checkTables(ctx, true); !errors.Is(err, context.Canceled) {
					t.Errorf("putting back ended with %v", err)
				}
				letPass(20 * time.Minute)
				if got := len(n.lostConflicts(t)); got != 0 || c.n(t, "x") != manyWrites || n.waitingNow(t) != 0 {
					t.Errorf("recorded are %d, x is %d, %d wait", got, c.n(t, "x"), n.waitingNow(t))
				}
				stop()
			})
		})
	}
}

const manyWrites = requeueSlice + 100

// addMany writes to one item more often than one transaction puts back.
func (n *feedNode) addMany(t *testing.T) {
	t.Helper()
	n.put(t, "teams", team("x", 0))
	for range manyWrites {
		n.bump(t, "x")
		letPass(100 * time.Millisecond)
	}
	letPass(10 * time.Second)
}

func inCloud(t *testing.T, c *shelf, id string) attr.Item {
	t.Helper()
	it, err := c.item("teams", teamKey(id))
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// A transaction that is of this timeline alone, behind the fork, was never sent: it gets new sequences, though its table was
// restored meanwhile.
func TestTransactionBehindTheForkOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		n.close(t)
		copyDir(t, dir, old)

		n = openNode(t, c, dir, nil)
		n.pair(t, "l1", "l2")
		n.drained(t)
		point, then := time.Now(), c.snapshot(t, "teams")
		n.close(t)
		c.restore(t, "teams", then, "teams-2", point)

		r := openNode(t, c, old, nil)
		seq := r.pair(t, "y", "z")
		r.drained(t)
		it := inCloud(t, c, "y")
		if got, _ := markSeq(it[intent.AttrMark+"a"]); got <= seq || got>>incarnationShift == seq>>incarnationShift {
			t.Errorf("it was sent as %d, and was given %d: %v, %v", got, seq, it, r.lostConflicts(t))
		}
	})
}

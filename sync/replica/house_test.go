package replica

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Writes are sent even while Config.FencedOff takes long to handle a fence that has refused a write.
func TestBackgroundTasksHoldUpNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		asked := make(chan struct{}, 1)
		n := openNode(t, c, t.TempDir(), func(c *Config) {
			c.FencedOff = func(ctx context.Context, _ string, _ int64) (int64, error) {
				asked <- struct{}{}
				<-ctx.Done()
				return 0, ctx.Err()
			}
		})
		stop := n.run(t)
		defer stop()
		letPass(time.Second)
		n.fencedOffBy("match:7", 9)
		<-asked
		n.put(t, "teams", team("x", 1))
		letPass(time.Second)
		if it := c.team(t, "x"); it == nil {
			t.Error("the write waits")
		}
	})
}

// An item past its TTL that nobody reads is also removed here once the cloud has removed it: expired items do not pile up.
func TestExpiredItemsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		expired := attr.Item{"match": attr.S("7"), "ttl": attr.Int(n.clock.Now().Add(time.Hour).Unix())}
		n.put(t, "states", expired)
		letPass(time.Minute)
		if it, _ := c.item("states", attr.Item{"match": attr.S("7")}); it == nil {
			t.Fatal("the cloud does not have it")
		}
		sweep := func() {
			for more := true; more; {
				var err error
				if more, err = n.st.Housekeep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		letPass(2 * time.Hour)
		sweep()
		if got := n.st.Stats(); got.Swept != 0 {
			t.Errorf("swept while the cloud has it")
		}
		c.foreign(t, "states", attr.Item{"match": attr.S("7")}, nil) // as the cloud's TTL does
		for range 60 {
			letPass(15 * time.Minute)
			sweep()
		}
		n.inView(t, func(tx *store.Tx) error {
			tx.ShowExpired()
			it, err := tx.Get("states", attr.Item{"match": attr.S("7")})
			if it != nil {
				t.Errorf("the expired item is still here: %v", it)
			}
			return err
		})
	})
}

// writtenAt sets the time at which what waits on an item was written, as a wrong clock would have stamped it.
func (n *feedNode) writtenAt(t *testing.T, table string, key attr.Item, at time.Time) {
	t.Helper()
	n.changeWaiting(t, table, key, func(e *intent.Entry) { e.At = at })
}

// logSent puts what waits on an item into the replay log, as sent at a given time.
func (n *feedNode) logSent(t *testing.T, table string, key attr.Item, at time.Time) {
	t.Helper()
	n.withWaiting(t, table, key, func(w *outbox.Work, entries []*intent.Entry) error {
		return w.Replay(w.BySeq[entries[0].Seq], at)
	})
}

// doChores runs the periodic housekeeping.
func (n *feedNode) doChores(t *testing.T, now time.Time) {
	t.Helper()
	if _, err := n.chores(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

func (n *feedNode) wantLogged(t *testing.T, want int64, when string) {
	t.Helper()
	if got := n.logged(t); got != want {
		t.Errorf("%s: %d in the replay log", when, got)
	}
}

// logged returns the number of writes in the replay log.
func (n *feedNode) logged(t *testing.T) int64 {
	t.Helper()
	var s outbox.LogSums
	n.inView(t, func(tx *store.Tx) (err error) {
		s, err = outbox.ReadReplaySums(tx)
		return err
	})
	return s.Entries
}

// A write made before the machine knew the time is not decades old: it does not exhaust the age budget, and further writes are accepted.
func TestUnsetClockUsesUpNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		n.writtenAt(t, "teams", teamKey("x"), time.Unix(60, 0))
		n.doChores(t, n.clock.Now())
		n.put(t, "teams", team("y", 1)) // must not be refused
		if drained, err := n.IsDrained(t.Context()); drained || err != nil {
			t.Errorf("drained: %t, %v", drained, err)
		}
	})
}

// A write made before the machine knew the time counts as having no age, and does not hide the age of what waits behind it.
func TestUnsetClockIsNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		n.writtenAt(t, "teams", teamKey("x"), time.Unix(60, 0))
		if st := n.status(t); st.Waiting != 1 || !st.Oldest.IsZero() || st.LagSeconds != 0 {
			t.Errorf("%d wait since %s, for %v s", st.Waiting, st.Oldest, st.LagSeconds)
		}
		letPass(time.Minute)
		second := n.clock.Now()
		n.pair(t, "x", "y")
		letPass(time.Minute)
		if st := n.status(t); !st.Oldest.Equal(second) || st.LagSeconds != 60 {
			t.Errorf("%d wait since %s, for %v s", st.Waiting, st.Oldest, st.LagSeconds)
		}
	})
}

// The replay log is dropped when there is no room, but not because a write has waited for long or because the clock is ahead without a
// server having corrected it: dropping it makes no waiting write younger, and the cloud may be restored tomorrow.
func TestAgeLeavesTheReplayLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		n.logSent(t, "teams", teamKey("x"), n.clock.Now())
		n.writtenAt(t, "teams", teamKey("x"), n.clock.Now().Add(-20*24*time.Hour))
		letPass(time.Hour)
		n.doChores(t, n.clock.Now())
		n.wantLogged(t, 1, "with a write that has waited for long")
		n.doChores(t, n.clock.Now().Add(365*24*time.Hour))
		n.wantLogged(t, 1, "with a clock that is a year ahead, offline")
		n.online(t)
		letPass(80 * time.Hour)
		n.doChores(t, n.clock.Now())
		n.wantLogged(t, 0, "after its time")
	})
}

// An entry of a transaction is found in its batch even if an entry with a batch of its own lies between the transaction's entries, in the
// same Update and of the same worker.
func TestAnEntryIsFoundBehindAnotherBatch(t *testing.T) {
	_, n := opened(t, func(c *Config) { c.Workers = 1 })
	put := func(seqs ...uint64) *outbox.Batch {
		u := &outbox.Batch{ID: outbox.ID{Seq: seqs[0]}}
		for _, seq := range seqs {
			u.Batch.Entries = append(u.Batch.Entries, &intent.Entry{Write: intent.Write{Seq: seq, Table: "teams", Policy: store.PolicyIntent, Op: store.OpDelete, Key: teamKey(fmt.Sprint(seq))}})
		}
		return u
	}
	n.inTx(t, func(tx *store.Tx) error {
		for _, u := range []*outbox.Batch{put(10, 12), put(11)} {
			if err := outbox.Put(tx, u, outbox.Tally{}); err != nil {
				return err
			}
		}
		for seq, want := range map[uint64]uint64{10: 10, 11: 11, 12: 10, 9: 0, 13: 0} {
			u, err := n.box.Find(tx, seq)
			if err != nil || (u == nil) != (want == 0) || u != nil && u.ID.Seq != want {
				t.Errorf("entry %d: in %v, %v; want batch %d", seq, u, err, want)
			}
		}
		return nil
	})
}

// The one-word state, the time since when, and the reason follow from the figures.
func TestStatusInAWord(t *testing.T) {
	made := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	later, now := made.Add(time.Hour), made.Add(2*time.Hour)
	up, away := flow.LinkState{Up: true}, flow.LinkState{Away: later}
	barred := flow.LinkState{Away: later, Why: "denied", Do: "allow it"}
	for _, tt := range []struct {
		name, state, reason string
		since               time.Time
		lag                 float64
		of                  Status
	}{
		{"all is there", "in_step", "", time.Time{}, 0, Status{LinkState: up}},
		{"something waits", "behind", "", later, 3600, Status{LinkState: up, Waiting: 1, Oldest: later}},
		{"of before the clock was set", "behind", "", time.Time{}, 0, Status{LinkState: up, Waiting: 1}},
		{"from a clock ahead", "behind", "", now.Add(time.Hour), 0, Status{LinkState: up, Waiting: 1, Oldest: now.Add(time.Hour)}},
		{"never reached", "offline", "", made, 0, Status{}},
		{"away", "offline", "", later, 3600, Status{LinkState: away, Waiting: 1, Oldest: later}},
		{"barred", "stopped", "denied; allow it", later, 0, Status{LinkState: barred}},
		{"a clone", "stopped", "another", later, 0, Status{LinkState: barred, Node: identity.Status{Stopped: "another"}}},
	} {
		st := tt.of
		st.At = now
		st.deriveAlarms(made)
		if st.State != tt.state || !st.Since.Equal(tt.since) || st.Reason != tt.reason || st.LagSeconds != tt.lag || (len(st.Alarms) > 0) != (tt.reason != "") {
			t.Errorf("%s: %s since %v for %q, lag %v, alarms %q", tt.name, st.State, st.Since, st.Reason, st.LagSeconds, st.Alarms)
		}
	}
}

// wantAlarms checks the alarms of the cloud, and that those of a standstill are what the node's check of readiness warns of.
func (n *feedNode) wantAlarms(t testing.TB, when string, want ...string) {
	t.Helper()
	st := n.status(t)
	if strings.Join(st.Alarms, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s: state %s, alarms %q, want %q", when, st.State, st.Alarms, want)
	}
	if what, err := n.Standing(t.Context()); err != nil || what != strings.Join(st.Standstill, " ") {
		t.Errorf("%s: %q, %v", when, what, err)
	}
}

// A table that may be written and not read is said to be so, in words, and no longer once it is read again. While the cloud is away, and when it
// has just come back, there is nothing to say.
func TestUnreadTableIsAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, func(cfg *Config) {
			cfg.Poll = []feed.Rule{{Table: "teams", Every: 5 * time.Second}, {Table: "leagues"}, {Table: "follows"}}
		})
		stop := n.run(t)
		letPass(2 * time.Minute)
		n.wantAlarms(t, "while all is read")
		c.refuse(intent.Denied, func(op, table string) bool { return op == "read" && table != "follows" })
		letPass(30 * time.Second)
		n.wantAlarms(t, "after half a minute")
		letPass(270 * time.Second)
		n.put(t, "teams", team("x", 0))
		letPass(5 * time.Second)
		n.waits(t, 0)
		n.wantAlarms(t, "after five minutes", "What others write to teams, leagues does not arrive here; not read completely for 5 minutes: "+
			"this node may not read them (docs/cloud.md has the policy).")
		if st := n.status(t); len(st.Standstill) != 1 || st.Feed[0].LateSince.IsZero() || !st.Feed[2].LateSince.IsZero() {
			t.Errorf("%+v", st.Feed)
		}
		c.set(func() { c.fail = away })
		letPass(10 * time.Minute)
		n.wantAlarms(t, "while the cloud is away")
		c.heal()
		n.online(t)
		n.wantAlarms(t, "when it has come back")
		letPass(10 * time.Minute)
		n.wantAlarms(t, "when all is read again")
		stop()
	})
}

// Writes of which none is sent although the cloud can be reached are an alarm; those that wait as the protocol wants are none.
func TestStandstillIsAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		stop := n.run(t)
		n.online(t)
		c.refuse(intent.Unknown, func(op, table string) bool { return op == "write" && table == "teams" })
		n.put(t, "teams", team("x", 0))
		n.put(t, "leagues", team("y", 0))
		letPass(time.Minute)
		n.wantAlarms(t, "after a minute")
		letPass(210 * time.Second)
		n.wantAlarms(t, "after four minutes and a half", "Nothing has been sent to the table teams for 4 minutes, and 1 write waits for it: no answer.")
		c.heal()
		letPass(2 * time.Minute)
		n.waits(t, 0)
		n.wantAlarms(t, "when it was sent")
		stop()
	})
}

// A transaction that waits for a table in which it does not begin counts there, and if the cloud does not say which table it is, all are named.
func TestTransactionWaitsForOtherTable(t *testing.T) {
	both := func(t testing.TB, n *feedNode, id string) {
		n.together(t, store.WriteItem{Put: &store.PutItem{Table: "teams", Item: team(id, 0)}}, store.WriteItem{Put: &store.PutItem{Table: "leagues", Item: team(id, 0)}})
	}
	t.Run("the table is known", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, n := opened(t, nil)
			stop := n.run(t)
			n.online(t)
			missing := &intent.Error{Class: intent.NoTable, Err: errors.New("there is no leagues")}
			c.set(func() {
				c.fail = func(op, table string) error {
					if op == "transact" || op == "write" && table == "leagues" {
						return missing
					}
					return nil
				}
			})
			n.put(t, "leagues", team("y", 0))
			letPass(time.Second)
			both(t, n, "x")
			letPass(4 * time.Minute)
			n.wantAlarms(t, "after four minutes", "Nothing is sent to the table leagues (2 writes wait): no table: there is no leagues.")
			c.heal()
			letPass(20 * time.Minute) // pauses between checks of a missing table have jitter
			n.waits(t, 0)
			n.wantAlarms(t, "when it was sent")
			stop()
		})
	})
	t.Run("nobody says which", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, n := opened(t, nil)
			stop := n.run(t)
			n.online(t)
			c.refuse(intent.NoTable, func(op, _ string) bool { return op == "transact" })
			both(t, n, "x")
			letPass(4 * time.Minute)
			n.wantAlarms(t, "after four minutes", "One of the tables leagues, teams is missing in the cloud, or this node may not write to it, and 1 write waits for it: "+
				"touchline migrate --cloud creates tables, and docs/cloud.md has the policy.")
			c.heal()
			letPass(20 * time.Minute) // pauses between checks of a missing table have jitter
			n.waits(t, 0)
			stop()
		})
	})
}

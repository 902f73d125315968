package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// A batch pushed while its worker handles its answer, and then parks it, is looked at again: nobody pushes it twice.
func TestPushedWhileInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.net.RecordProbe("", n.clock.Now())
		n.put(t, "teams", team("x", 1))
		l, u := inHand(t, n)
		now := n.clock.Now()
		f := l.inFlight[0]
		l.inFlight = nil
		f.outcome, f.idle = intent.Outcome{Result: intent.OutParked}, true // its events are not settled
		l.done = append(l.done, f)
		n.push(u.ID) // now they are
		l.admitReady(now)
		if err := l.settleAnswered(t.Context(), false, now); err != nil {
			t.Fatal(err)
		}
		l.admitReady(now)
		if len(l.ready) != 1 {
			t.Errorf("%d batches are ready, %d aside", len(l.ready), len(l.aside))
		}
	})
}

// waitingOne returns the one batch that waits, and its worker.
func waitingOne(t testing.TB, n *feedNode) (l *worker, found *outbox.Batch) {
	t.Helper()
	err := n.st.View(t.Context(), func(tx *store.Tx) error {
		return outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
			l, found = n.workers[u.ID.Worker], u
			return false, nil
		})
	})
	if err != nil || found == nil {
		t.Fatal(found, err)
	}
	return l, found
}

// inHand makes the worker take the one batch that waits, so that it is about to be sent.
func inHand(t testing.TB, n *feedNode) (*worker, *outbox.Batch) {
	t.Helper()
	l, u := waitingOne(t, n)
	now := n.clock.Now()
	l.admitReady(now)
	if err := l.fill(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	return l, u
}

// A batch that has left the outbox while its worker holds it is not sent any more. Others rely on that.
func TestSettledElsewhereIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.net.RecordProbe("", n.clock.Now())
		n.put(t, "teams", team("x", 1))
		n.unanswered(t, "teams", teamKey("x"))
		l, u := inHand(t, n)
		n.inTx(t, func(tx *store.Tx) error { // a feed has seen its mark
			w := n.box.Begin(tx)
			have, err := w.Batch(u.ID)
			if err != nil {
				return err
			}
			if err := n.settleShown(w, have); err != nil {
				return err
			}
			return w.Finish()
		})
		if !n.net.Enter(l.sig) || !l.send(t.Context(), l.inFlight[0]) {
			t.Fatal("the worker is not done with it")
		}
		if it := c.team(t, "x"); it != nil {
			t.Errorf("it was sent: %v", it)
		}
		l.done, l.inFlight = l.inFlight, nil
		if err := l.settleAnswered(t.Context(), false, n.clock.Now()); err != nil {
			t.Error(err)
		}
		if len(l.inHand) != 0 {
			t.Errorf("%d batches in hand", len(l.inHand))
		}
	})
}

// A write quarantined for weeks does not count towards the age budget: it waits for a person, not for the cloud.
func TestQuarantineDoesNotAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		n.changeWaiting(t, "teams", teamKey("x"), func(e *intent.Entry) { e.Held = intent.HoldPoison })
		letPass(20 * 24 * time.Hour)
		n.doChores(t, n.clock.Now())
		n.put(t, "teams", team("y", 1)) // must not be refused
	})
}

// Renumbered entries keep the group in which they were written, and state waits for them even behind later entries.
func TestStateWaitsForRenumberedEvents(t *testing.T) {
	_, n := opened(t, nil)
	n.inTx(t, func(tx *store.Tx) error {
		for _, e := range []intent.Entry{{Write: intent.Write{Seq: 7, Group: 7}}, {Write: intent.Write{Seq: 1 << 41, Group: 5}}} {
			e.Lock, e.Fence = "match:7", 3
			if err := (&outbox.Batch{Batch: intent.Batch{Entries: []*intent.Entry{&e}}}).Index(tx, true); err != nil {
				return err
			}
		}
		for group, want := range map[uint64]bool{4: true, 5: false, 6: false, 7: false} {
			if done, err := outbox.EventsDone(tx, "match:7", 3, group); err != nil || done != want {
				t.Errorf("events up to group %d done: %t, %v", group, done, err)
			}
		}
		return nil
	})
}

// Batches whose waiters are gone are not remembered for ever.
func TestEventWaitsAreForgotten(t *testing.T) {
	_, n := opened(t, nil)
	state := func(seq uint64) *outbox.Batch {
		return &outbox.Batch{ID: outbox.ID{Seq: seq}, Batch: intent.Batch{Entries: []*intent.Entry{{Write: intent.Write{Seq: seq, Lock: "match:7", Policy: store.PolicyState}}}}}
	}
	for seq := range uint64(100) { // each folded into the next
		n.events.expect(state(seq))
		n.events.notifyBehind(n.Replica, &outbox.Batch{Batch: intent.Batch{Entries: []*intent.Entry{{Write: intent.Write{Lock: "match:7", Policy: store.PolicyIntent}}}}})
	}
	if got := len(n.events.locks); got > 1 {
		t.Errorf("%d locks", got)
	}
	if got := len(n.events.locks["match:7"]); got > 1 {
		t.Errorf("%d batches are remembered", got)
	}
}

// A node that started with a slow clock waits for a time of the server by the server's clock, once it knows it.
func TestParkedByAWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		for id, wait := range map[string]time.Duration{"x": 3 * time.Hour, "y": 4 * time.Hour} {
			n.put(t, "teams", team(id, 1))
			n.park(t, "teams", teamKey(id), n.clock.Now().Add(wait))
		}
		c.set(func() { c.fail = away })
		stop := n.run(t)
		defer stop()
		letPass(time.Minute)
		c.set(func() { c.fail, c.skew = nil, 3*time.Hour })
		letPass(time.Minute)
		x := c.team(t, "x")
		y := c.team(t, "y")
		if x == nil || y != nil {
			t.Errorf("the cloud has x: %v, and y, whose time has not come: %v", x, y)
		}
	})
}

// A write that other nodes keep overtaking rests, by the time that the server gave then. That time was wrong by an hour and is corrected:
// the write does not rest for an hour.
func TestRestOfALyingClock(t *testing.T) {
	quicker := func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{
			Table: "teams", Key: teamKey("x"), Update: "ADD n :one, #count :one",
			Params: expr.Params{Names: map[string]string{"#count": intent.AttrCount}, Values: attr.Item{":one": attr.Int(1)}},
		})
		return err
	}
	for name, again := range map[string]bool{"runs on": false, "starts anew": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, n := opened(t, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.put(t, "teams", team("x", 1))
				c.set(func() {
					c.skew = time.Hour
					c.fail = func(op, table string) error {
						if op == "write" && table == "teams" { // another node is faster every time
							c.unlocked(func() { c.inTx(t, quicker) })
						}
						return nil
					}
				})
				stop, parked := n.run(t), ""
				letPass(time.Minute)
				for _, l := range n.status(t).Workers {
					for _, p := range l.Parked {
						parked += p.Why
					}
				}
				if parked != intent.WhyCount {
					t.Fatalf("parked because of %q", parked)
				}
				c.set(func() { c.skew, c.fail = 0, nil })
				if again {
					stop()
					n = n.again(t)
					stop = n.run(t)
				}
				letPass(2 * time.Minute)
				if waits := n.waitingNow(t); waits != 0 {
					t.Errorf("%d writes wait", waits)
				}
				stop()
			})
		})
	}
}

// park makes what waits on an item wait until a time of the server.
func (n *feedNode) park(t testing.TB, table string, key attr.Item, until time.Time) {
	t.Helper()
	n.changeWaiting(t, table, key, func(e *intent.Entry) { e.NotBefore, e.Why = until, intent.WhyHold })
}

// Wait for a write that is folded into a later one returns when the later one settles; if the later one does not keep its number, as with
// an image of policy state, soon after.
func TestWaitForWhatIsFolded(t *testing.T) {
	for _, c := range []struct {
		table  string
		writes []attr.Item
		within time.Duration
	}{
		{"teams", []attr.Item{team("x", 1), team("x", 2)}, time.Second},
		{"states", []attr.Item{state(0, 1), state(0, 2), state(0, 3)}, asideWait},
	} {
		t.Run(c.table, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, n := opened(t, nil)
				for _, it := range c.writes[:len(c.writes)-2] { // the base of the later ones
					n.put(t, c.table, it)
					n.drained(t)
				}
				seq := n.put(t, c.table, c.writes[len(c.writes)-2])
				waited, began := make(chan error, 1), time.Now()
				go func() { waited <- n.Wait(t.Context(), seq) }()
				synctest.Wait()
				n.put(t, c.table, c.writes[len(c.writes)-1])
				if got := n.waitingNow(t); got != 1 {
					t.Fatalf("%d writes wait, want 1", got)
				}
				defer n.run(t)()
				select {
				case err := <-waited:
					if took := time.Since(began); err != nil || took > c.within {
						t.Errorf("Wait returned %v after %v", err, took)
					}
				case <-time.After(10 * time.Minute):
					t.Errorf("Wait has not returned; %d writes wait", n.waitingNow(t))
				}
			})
		})
	}
}

// A worker whose answer came while another found the cloud lost has nothing in flight and something to send: it is woken with the others.
func TestWorkerWakesBehindAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, func(cfg *Config) { cfg.Workers = 1 })
		n.put(t, "teams", team("x", 0))
		n.put(t, "teams", team("y", 0))
		gone := false
		c.set(func() {
			c.after = func(op, table string) error {
				if !gone && op == "write" && table == "teams" {
					gone = true
					n.identity.Reconnect("a test")
				}
				return nil
			}
		})
		stop := n.run(t)
		letPass(2 * time.Minute)
		if waiting := n.waitingNow(t); !gone || waiting != 0 {
			t.Errorf("%d writes wait two minutes after the cloud came back", waiting)
		}
		stop()
	})
}

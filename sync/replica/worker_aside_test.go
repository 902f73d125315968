package replica

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// An update finds its item gone, and the check of the table, which decides whether to believe that, is not answered: only the fact that
// the update was sent is stored. A later write is not folded into it.
func TestAttemptedStaysWhereTheTableIsNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(cfg *Config) { cfg.Poll = nil })
		n.put(t, "teams", team("one", 1))
		letPass(10 * time.Second)
		c.foreign(t, "teams", teamKey("one"), nil)
		c.refuse(intent.Unknown, func(op, table string) bool { return op == "table" && table == "teams" })
		write := func(name string) (seq uint64) {
			n.inTx(t, func(tx *store.Tx) error {
				u := store.UpdateItem{Table: "teams", Key: teamKey("one"), Update: "SET v = :v", Condition: "attribute_exists(id)"}
				u.Values = attr.Item{":v": attr.S(name)}
				_, err := tx.Update(u)
				seq = tx.Seq()
				return err
			})
			return seq
		}
		first := write("first")
		letPass(5 * time.Second)
		if c.count("table teams") < 2 {
			t.Fatal("the table was not checked")
		}
		second := write("second")
		c.heal()
		var ids []outbox.ID
		var sent int
		err := n.st.View(t.Context(), func(tx *store.Tx) error {
			return outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
				ids = append(ids, u.ID)
				sent += u.Entries[0].Sent
				return true, nil
			})
		})
		if err != nil || len(ids) != 2 || ids[0].Seq != first || ids[1].Seq != second || sent != 1 {
			t.Errorf("the outbox has %v, sent %d times: %v", ids, sent, err)
		}
		letPass(2 * time.Minute)
		for _, seq := range []uint64{first, second} {
			if p, err := n.ProofOf(t.Context(), seq); err != nil || p != ProofRefused {
				t.Errorf("%d: %v %v", seq, p, err)
			}
		}
	})
}

// An answer that cannot be stored is shown in the status, stops no other batch, and is stored as soon as that is possible, not only at
// the next start.
func TestAnAnswerThatCannotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(c *Config) { c.Workers = 1 })
		letPass(time.Second)
		c.refuse(intent.TooLarge, func(op, table string) bool { return table == "prefs" && op == "write" })
		sums := func(raw []byte) {
			if err := n.st.Update(t.Context(), func(tx *store.Tx) error { return tx.Side(conflict.SideConflicts).Set([]byte("t"), raw) }); err != nil {
				t.Fatal(err)
			}
		}
		sums([]byte("damaged"))
		n.put(t, "prefs", team("x", 1)) // becomes a record, which cannot be stored
		letPass(time.Minute)
		n.put(t, "teams", team("y", 1))
		letPass(time.Minute)
		if it := c.team(t, "y"); it == nil {
			t.Error("the batch behind it was held up")
		}
		parked, unkept := n.workers[0].parkedBatches(), n.workers[0].stuckBatches()
		if unkept != 1 || len(parked) == 0 || !strings.Contains(parked[0].Why, "cannot be stored") {
			t.Errorf("%d unkept, parked %+v", unkept, parked)
		}
		asked := len(c.requests())
		sums([]byte("{}"))
		letPass(20 * time.Minute)
		if st := n.status(t); st.Unkept != 0 || st.Conflicts.Quarantined != 1 {
			t.Errorf("%d unkept, %+v", st.Unkept, st.Conflicts)
		}
		for _, what := range c.requests()[asked:] {
			if what == "write prefs" {
				t.Errorf("asked again: %s", what)
			}
		}
	})
}

// A batch flagged as from a lost history between two steps of its sending is looked for before it is sent: what a step has found does not
// clear the flag.
func TestFlaggedBetweenTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.foreign(t, "teams", nil, with(team("x", 1), attr.Item{"_c": attr.S("b.1.5"), "_n": attr.Int(1)}))
		flagged, before := false, 0
		var n *feedNode
		n = openNode(t, c, t.TempDir(), func(cfg *Config) {
			cfg.Failpoint = func(point string) {
				dead, _ := c.item("touchline-sync", attr.Item{"id": attr.S("dead#b.1.5")})
				if point != "answer" || dead == nil || flagged {
					return
				}
				flagged, before = true, c.count("get teams")
				n.identity.Suspect("a test")
				if err := n.identity.Connect(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
		if err := n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey("x")); err != nil {
			t.Fatal(err)
		}
		n.remove(t, "teams", teamKey("x")) // an item of another node's life: its tombstone comes first
		n.drained(t)
		if it := c.team(t, "x"); it != nil || !flagged {
			t.Errorf("the item is %v, flagged %v", it, flagged)
		}
		if c.count("get teams") == before {
			t.Error("it was sent without a read")
		}
	})
}

// A flag set since a flight has read its batch remains when the flight stores that it is being sent.
func TestAttemptKeepsAFlag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		read := func() (u *outbox.Batch) {
			n.inView(t, func(tx *store.Tx) error {
				return outbox.Each(tx, func(v *outbox.Batch) (bool, error) { u = v; return false, nil })
			})
			return u
		}
		f, flagged := &flight{Batch: read(), changed: true}, read()
		n.inTx(t, func(tx *store.Tx) error {
			flagged.Entries[0].Verify(false, time.Now())
			return outbox.Put(tx, flagged, outbox.Tally{})
		})
		_ = n.workers[0].attempt(t.Context(), f, &intent.Action{Kind: intent.ActSend, Attempt: true})
		if e := read().Entries[0]; !e.Verifying() {
			t.Errorf("the flag is gone: %+v", e)
		}
	})
}

// An accepted tombstone says nothing about the table of the delete: that stays stopped until it accepts a write itself.
func TestTombstoneLiftsNoStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		var log bytes.Buffer
		n := openNode(t, c, t.TempDir(), func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		lives := map[string]string{"x": "b.1.5", "y": "b.1.6", "z": "b.1.7"} // of another node, which may not know that they have ended
		for id, life := range lives {
			c.foreign(t, "teams", nil, with(team(id, 1), attr.Item{"_c": attr.S(life), "_n": attr.Int(1)}))
			if err := n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey(id)); err != nil {
				t.Fatal(err)
			}
		}
		c.refuse(intent.Denied, func(op, table string) bool { return op == "write" && table == "teams" })
		stop := n.run(t)
		began := time.Now()
		for _, id := range []string{"x", "y", "z"} {
			n.remove(t, "teams", teamKey(id))
			var dead attr.Item
			for tries := 0; dead == nil && tries < 12; tries++ { // which waiting write is the table's next try is random
				letPass(20 * time.Minute)
				var err error
				if dead, err = c.item("touchline-sync", attr.Item{"id": attr.S("dead#" + lives[id])}); err != nil {
					t.Fatal(err)
				}
			}
			if dead == nil {
				t.Errorf("%s has no tombstone", id)
			}
		}
		st, err := n.Status(t.Context())
		if err != nil || len(st.Tables) != 1 || st.Tables[0].Stopped == nil {
			t.Fatalf("%+v, %v", st.Tables, err)
		}
		if since := st.Tables[0].Stopped.Since.Sub(began); since > time.Minute {
			t.Errorf("stopped since %v after the first refusal", since)
		}
		c.heal()
		letPass(15 * time.Minute) // the table's next try, and then each write's own
		for id := range lives {
			if it := c.team(t, id); it != nil {
				t.Errorf("it is still there: %v", it)
			}
		}
		stop()
		if got := strings.Count(log.String(), "nothing is sent to a table"); got != 1 {
			t.Errorf("the stop was logged %d times:\n%s", got, &log)
		}
	})
}

// A delete's tombstone is no try of the delete's table: the delete after it is.
func TestTombstoneIsNoTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.foreign(t, "teams", nil, with(team("x", 1), attr.Item{"_c": attr.S("b.1.5"), "_n": attr.Int(1)}))
		if err := n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey("x")); err != nil {
			t.Fatal(err)
		}
		n.online(t)
		n.paces.Halt("teams", intent.Denied.String(), "a test", n.clock.Now())
		n.remove(t, "teams", teamKey("x"))
		letPass(time.Minute)
		l, _ := inHand(t, n)
		if len(l.inFlight) != 1 || !n.net.Enter(l.sig) || !l.send(t.Context(), l.inFlight[0]) {
			t.Fatal("the delete was not sent")
		}
		if it := c.team(t, "x"); it != nil || len(n.paces.StoppedTables()) != 0 {
			t.Errorf("it is still there: %v; stopped: %v", it, n.paces.StoppedTables())
		}
	})
}

// append appends to a list of an item, which shows the order of the writes.
func (n *feedNode) append(t testing.TB, id string, turn int) {
	t.Helper()
	n.update(t, "teams", teamKey(id), "SET turns = list_append(if_not_exists(turns, :none), :turn)", attr.Item{
		":none": attr.L(), ":turn": attr.L(attr.Int(int64(turn))),
	})
}

// byOlderVersion rewrites the outbox as an earlier version did: an item's batches are with the worker of its partition, not the
// present one, and no place is shared.
func (n *feedNode) byOlderVersion(t testing.TB) {
	t.Helper()
	n.inTx(t, func(tx *store.Tx) error {
		var batches []*outbox.Batch
		err := outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
			batches = append(batches, u)
			return true, nil
		})
		if err != nil {
			return err
		}
		w := n.box.Begin(tx)
		for _, u := range batches {
			old := u.ID
			if err := tx.Side(outbox.SideOutbox).Delete(old.Key()); err != nil {
				return err
			}
			u.ID.Worker = (u.ID.Worker + 5) % n.box.Express()
			if err := tx.Side(outbox.SideOutbox).Set(u.ID.Key(), u.Encode()); err != nil {
				return err
			}
			err := w.EachItem(u, func(it *outbox.WorkItem) { it.Remote.Pending[it.Remote.Index(old)] = outbox.Place{ID: u.ID} })
			if err != nil {
				return err
			}
		}
		for _, it := range w.Order {
			if err := outbox.KeepRemote(tx, &it.Item, it.Remote); err != nil {
				return err
			}
		}
		return nil
	})
}

// What an earlier version has left in the outbox is sent first, in its order, whatever queues it is in; later writes follow.
func TestOutboxOfAnEarlierVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		ids := []string{"a", "b", "c", "d"}
		turn := 0
		write := func() {
			for range 3 {
				turn++
				for _, id := range ids {
					n.append(t, id, turn)
				}
				check := store.ConditionCheck{Table: "teams", Key: teamKey("a"), Condition: "attribute_exists(id)"}
				n.together(t, oneMore("b"), oneMore("c"), store.WriteItem{Check: &check})
			}
		}
		write()
		n.byOlderVersion(t)
		n = n.again(t)
		write()
		n.drained(t)
		want := ""
		for i := range turn {
			want += fmt.Sprint(i+1, " ")
		}
		for _, id := range ids {
			got := ""
			for _, v := range c.team(t, id)["turns"].List() {
				got += v.Str() + " "
			}
			if got != want {
				t.Errorf("%s: the order is %s, want %s", id, got, want)
			}
		}
		if got := c.n(t, "b"); got != int64(turn) {
			t.Errorf("%d transactions were applied, want %d", got, turn)
		}
	})
}

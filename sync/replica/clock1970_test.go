package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// writtenAt gives what waits on an item another instant, as a clock that was wrong would have.
func (n *feedNode) writtenAt(t *testing.T, table string, key attr.Item, at time.Time) {
	t.Helper()
	err := n.st.Update(t.Context(), func(tx *store.Tx) error {
		w := n.newWork(tx)
		it, err := w.item(table, key)
		if err != nil {
			return err
		}
		entries, err := w.entries(it)
		for _, e := range entries {
			e.At = at
			w.changed(e)
		}
		if err != nil {
			return err
		}
		return w.finish()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// logSent puts what waits on an item into the replay log, as sent at an instant.
func (n *feedNode) logSent(t *testing.T, table string, key attr.Item, at time.Time) {
	t.Helper()
	err := n.st.Update(t.Context(), func(tx *store.Tx) error {
		w := n.newWork(tx)
		it, err := w.item(table, key)
		if err != nil {
			return err
		}
		entries, err := w.entries(it)
		if err != nil {
			return err
		}
		if err := w.replay(w.bySeq[entries[0].Seq], at); err != nil {
			return err
		}
		return w.finish()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// logged is how many writes the replay log has.
func (n *feedNode) logged(t *testing.T) int64 {
	t.Helper()
	var s replaySums
	err := n.st.View(t.Context(), func(tx *store.Tx) (err error) {
		s, err = readReplaySums(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.entries
}

// What was written before the machine knew the time is not thirty years old: it keeps nobody from writing.
func TestUnsetClockUsesUpNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, newShelf(t), t.TempDir(), nil)
		n.put(t, "teams", team("x", 1))
		n.writtenAt(t, "teams", teamKey("x"), time.Unix(60, 0))
		if _, err := n.chores(t.Context(), n.clock.Now()); err != nil {
			t.Fatal(err)
		}
		err := n.st.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "teams", Item: team("y", 1)})
			return err
		})
		if err != nil {
			t.Errorf("another write: %v", err)
		}
		if drained, err := n.Drained(t.Context()); drained || err != nil {
			t.Errorf("drained: %t, %v", drained, err)
		}
	})
}

// What was written before the machine knew the time does not wait since 1970, and does not hide what waits behind it.
func TestUnsetClockIsNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, newShelf(t), t.TempDir(), nil)
		n.put(t, "teams", team("x", 1))
		n.writtenAt(t, "teams", teamKey("x"), time.Unix(60, 0))
		st, err := n.Status(t.Context())
		if err != nil || st.Waiting != 1 || !st.Oldest.IsZero() || st.Lag() != 0 {
			t.Errorf("%d wait since %s, for %s; %v", st.Waiting, st.Oldest, st.Lag(), err)
		}
		letPass(time.Minute)
		second := n.clock.Now()
		n.pair(t, "x", "y")
		letPass(time.Minute)
		if st, err = n.Status(t.Context()); err != nil || !st.Oldest.Equal(second) || st.Lag() != time.Minute {
			t.Errorf("%d wait since %s, for %s; %v", st.Waiting, st.Oldest, st.Lag(), err)
		}
	})
}

// The replay log is dropped where there is no room, and not because something waits for long, or a clock is ahead that no
// server has set right: nothing becomes younger by it, and the cloud may be restored tomorrow.
func TestAgeLeavesTheReplayLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, newShelf(t), t.TempDir(), nil)
		n.put(t, "teams", team("x", 1))
		n.logSent(t, "teams", teamKey("x"), n.clock.Now())
		n.writtenAt(t, "teams", teamKey("x"), n.clock.Now().Add(-20*24*time.Hour))
		letPass(time.Hour)
		if _, err := n.chores(t.Context(), n.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if got := n.logged(t); got != 1 {
			t.Errorf("behind a write that has waited for long: %d in the replay log", got)
		}
		if _, err := n.chores(t.Context(), n.clock.Now().Add(365*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got := n.logged(t); got != 1 {
			t.Errorf("with a clock that is a year ahead, offline: %d in the replay log", got)
		}
		n.online(t)
		letPass(80 * time.Hour)
		if _, err := n.chores(t.Context(), n.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if got := n.logged(t); got != 0 {
			t.Errorf("after its time: %d in the replay log", got)
		}
	})
}

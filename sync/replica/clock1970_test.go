package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// writtenAt gives what waits on an item another instant, as a clock that was wrong would have.
func (n *feedNode) writtenAt(t *testing.T, table string, key attr.Item, at time.Time) {
	t.Helper()
	n.changeWaiting(t, table, key, func(e *intent.Entry) { e.At = at })
}

// logSent puts what waits on an item into the replay log, as sent at an instant.
func (n *feedNode) logSent(t *testing.T, table string, key attr.Item, at time.Time) {
	t.Helper()
	n.withWaiting(t, table, key, func(w *outbox.Work, entries []*intent.Entry) error {
		return w.Replay(w.BySeq[entries[0].Seq], at)
	})
}

// doChores does what is done now and then.
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

// logged is how many writes the replay log has.
func (n *feedNode) logged(t *testing.T) int64 {
	t.Helper()
	var s outbox.LogSums
	n.inView(t, func(tx *store.Tx) (err error) {
		s, err = outbox.ReadReplaySums(tx)
		return err
	})
	return s.Entries
}

// What was written before the machine knew the time is not thirty years old: it keeps nobody from writing.
func TestUnsetClockUsesUpNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		n.writtenAt(t, "teams", teamKey("x"), time.Unix(60, 0))
		n.doChores(t, n.clock.Now())
		n.put(t, "teams", team("y", 1)) // which is not refused
		if drained, err := n.Drained(t.Context()); drained || err != nil {
			t.Errorf("drained: %t, %v", drained, err)
		}
	})
}

// What was written before the machine knew the time does not wait since 1970, and does not hide what waits behind it.
func TestUnsetClockIsNoAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		n.writtenAt(t, "teams", teamKey("x"), time.Unix(60, 0))
		if st := n.status(t); st.Waiting != 1 || !st.Oldest.IsZero() || st.Lag() != 0 {
			t.Errorf("%d wait since %s, for %s", st.Waiting, st.Oldest, st.Lag())
		}
		letPass(time.Minute)
		second := n.clock.Now()
		n.pair(t, "x", "y")
		letPass(time.Minute)
		if st := n.status(t); !st.Oldest.Equal(second) || st.Lag() != time.Minute {
			t.Errorf("%d wait since %s, for %s", st.Waiting, st.Oldest, st.Lag())
		}
	})
}

// The replay log is dropped where there is no room, and not because something waits for long, or a clock is ahead that no
// server has set right: nothing becomes younger by it, and the cloud may be restored tomorrow.
func TestAgeLeavesTheReplayLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, nil)
		n.put(t, "teams", team("x", 1))
		n.logSent(t, "teams", teamKey("x"), n.clock.Now())
		n.writtenAt(t, "teams", teamKey("x"), n.clock.Now().Add(-20*24*time.Hour))
		letPass(time.Hour)
		n.doChores(t, n.clock.Now())
		n.wantLogged(t, 1, "behind a write that has waited for long")
		n.doChores(t, n.clock.Now().Add(365*24*time.Hour))
		n.wantLogged(t, 1, "with a clock that is a year ahead, offline")
		n.online(t)
		letPass(80 * time.Hour)
		n.doChores(t, n.clock.Now())
		n.wantLogged(t, 0, "after its time")
	})
}

package replica

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Schedule 7 with a crash: an ADD to a foreign item is applied, the node dies before it has settled the answer, and a foreign
// writer puts back what it had read. The restarted node has not forgotten what was there before: it does not add again.
func TestForeignPutAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		n := openNode(t, c, dir, nil)
		n.net.probed("", n.clock.Now())
		c.foreign(t, "teams", nil, team("x", 5))
		if err := n.refresh(t.Context(), "teams", teamKey("x")); err != nil {
			t.Fatal(err)
		}
		n.bump(t, "x")
		l, _ := inLane(t, n)
		now := n.clock.Now()
		l.take(now)
		if err := l.fill(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		if !n.net.enter(l.sig) || !l.send(t.Context(), l.window[0]) || c.n(t, "x") != 6 {
			t.Fatal("it was not applied")
		}
		n.close(t) // and dies
		c.foreign(t, "teams", nil, team("x", 6))
		again := openNode(t, c, dir, nil)
		again.drained(t)
		if got := c.n(t, "x"); got != 6 {
			t.Errorf("x is %d", got)
		}
		if got := again.lostConflicts(t); len(got) != 1 || got[0].Kind != KindUnknown {
			t.Errorf("records %v", got)
		}
	})
}

// The time of a write that no server had confirmed is corrected once, and stays so over a crash.
func TestRestampedOnceOverACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		c.skew = -time.Hour // this clock is ahead
		n := openNode(t, c, dir, nil)
		n.put(t, "prefs", team("x", 1))
		stampOf := func(n *feedNode) (stamp int64, provisional bool) {
			_, u := inLane(t, n)
			return u.Entries[0].Stamp, u.Entries[0].Provisional
		}
		n.net.probed("", n.clock.Now())
		l, u := inLane(t, n)
		u.Entries[0].Provisional = true
		if err := n.st.Update(t.Context(), func(tx *store.Tx) error { return putUnit(tx, u, tally{}) }); err != nil {
			t.Fatal(err)
		}
		now := n.clock.Now()
		l.take(now)
		if err := l.fill(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		lost := errors.New("no answer")
		c.set(func() {
			c.fail = func(string, string) error { return &intent.Error{Class: intent.Unknown, Err: lost} }
		})
		if !n.net.enter(l.sig) || !l.send(t.Context(), l.window[0]) {
			t.Fatal("it was not sent")
		}
		sent := l.window[0].Entries[0].Stamp
		n.close(t)
		if got, provisional := stampOf(openNode(t, c, dir, nil)); got != sent || provisional {
			t.Errorf("sent under %d, kept %d, provisional %t", sent, got, provisional)
		}
	})
}

// An item that a new table does not have is no deleted one, also where it is looked for at once.
func TestEnsureOfTableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "follows", follow("m", "ours"))
		c.foreign(t, "follows", nil, follow("m", "theirs"))
		letPass(time.Second)
		if err := n.Ensure(t.Context(), "follows", follow("m", "theirs")); err != nil || n.row(t, "follows", follow("m", "theirs")) == nil {
			t.Fatal(err)
		}
		letPass(time.Minute)
		for _, user := range []string{"theirs", "ours"} {
			c.foreign(t, "follows", follow("m", user), nil)
		}
		c.set(func() { c.state["follows"] = TableState{ID: "follows-2"} })
		for _, user := range []string{"theirs", "ours"} {
			if err := n.Ensure(t.Context(), "follows", follow("m", user)); err != nil {
				t.Fatal(err)
			}
			if n.row(t, "follows", follow("m", user)) == nil {
				t.Errorf("%s was deleted to match", user)
			}
		}
	})
}

// The same for an update that is sent there before anybody has looked which table it is: it waits.
func TestUpdateOnTableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("ours", 1))
		letPass(time.Minute)
		c.restore(t, "teams", nil, "teams-2", time.Time{})
		n.bump(t, "ours")
		letPass(time.Minute)
		if got := n.row(t, "teams", teamKey("ours")); !got["n"].Equal(attr.Int(2)) {
			t.Errorf("readers see %v", got)
		}
		if got := n.lostConflicts(t); len(got) != 0 {
			t.Errorf("records %v", got)
		}
		if got := n.waitingNow(t); got != 1 {
			t.Errorf("%d writes wait", got)
		}
	})
}

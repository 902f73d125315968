package feed

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store/attr"
)

// isWhole fails the test unless a partition of the follows, or all of them, was read whole as wanted.
func (n *reader) isWhole(what string, partition attr.Value, after uint64, want bool) {
	n.t.Helper()
	got, err := n.IsWhole("follows", partition, after)
	if err != nil || got != want {
		n.t.Errorf("%s: whole is %t, want %t (%v)", what, got, want, err)
	}
}

// A round that ends by its budget has not read the table whole, and does not count as a complete pass.
func TestRoundThatEndsByItsBudgetIsNotWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t, Rule{Table: "follows"})
		n.Page = 1
		for i := range roundPages + 5 {
			n.foreign("follows", follow("m", fmt.Sprintf("%05d", i)))
		}
		n.next()
		if st := n.Status()[0]; st.Passes != 0 || !st.LastPass.IsZero() {
			t.Errorf("after the first round: %+v", st)
		}
		n.isWhole("after the first round", attr.Value{}, 0, false)
		n.next()
		if st := n.Status()[0]; st.Passes != 1 || st.LastPass.IsZero() {
			t.Errorf("after the second round: %+v", st)
		}
		n.isWhole("after the second round", attr.Value{}, 0, true)
		n.isWhole("a partition of the table", attr.S("m"), 0, true)
	})
}

// A pass is whole for what was known before it began, not for what was learnt since.
func TestWholeIsByAPassThatBeganLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		n.foreign("follows", follow("m", "ada"))
		n.isWhole("nothing was read", attr.S("m"), 0, false)
		n.read("m", 9)
		n.isWhole("the partition was read", attr.S("m"), 0, true)
		n.isWhole("another partition", attr.S("o"), 0, false)
		n.isWhole("the table", attr.Value{}, 0, false)
		known := n.LatestPass()
		n.isWhole("for what is learnt now", attr.S("m"), known, false)
		n.read("m", 9)
		n.isWhole("once it was read again", attr.S("m"), known, true)
	})
}

// A pass that an earlier run began cannot tell what is gone, so it is not whole.
func TestPassOfTwoRunsIsNotWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		n.Page = 1
		for i := range 3 {
			n.foreign("follows", follow("m", fmt.Sprint(i)))
		}
		n.read("m", 1)
		n.again()
		n.Page = 1
		n.read("m", 9)
		n.isWhole("begun by an earlier run", attr.S("m"), 0, false)
		n.read("m", 9)
		n.isWhole("from the start", attr.S("m"), 0, true)
	})
}

// A pass that could not remove everything that the cloud no longer has is not whole.
func TestWholeWithoutWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		for i := range absentMost + 1 {
			n.foreign("follows", follow("m", fmt.Sprintf("%05d", i)))
		}
		n.read("m", 9)
		known := n.LatestPass()
		letPass(time.Second)
		for i := range absentMost + 1 {
			n.foreignDelete("follows", follow("m", fmt.Sprintf("%05d", i)))
		}
		n.read("m", 9)
		n.isWhole("with one row that is gone", attr.S("m"), known, false)
		n.read("m", 9)
		n.isWhole("with none", attr.S("m"), known, true)
	})
}

// The feed reads what is wanted though no rule names it, over several rounds if it is long, and tells who waits. Nothing is whole while
// the cloud is away, nor after it until it was read again.
func TestWantedIsReadWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t)
		n.Page = 1
		for i := range 2*roundPages + 5 {
			n.foreign("follows", follow("m", fmt.Sprintf("%05d", i)))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = n.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		sig := clock.NewSignal()
		defer n.WatchWhole(sig)()
		wait := func(what string) {
			t.Helper()
			within, done := context.WithTimeout(ctx, 5*time.Minute)
			defer done()
			if err := n.WantWhole("follows", attr.S("m")); err != nil {
				t.Fatal(err)
			}
			if err := n.Clock.Wait(within, time.Time{}, sig); err != nil {
				t.Fatalf("%s: nobody was told: %v", what, err)
			}
			n.isWhole(what, attr.S("m"), 0, true)
		}
		wait("at first")
		n.Link.RecordLoss("away", time.Now())
		n.isWhole("while the cloud is away", attr.S("m"), 0, false)
		letPass(time.Minute)
		n.Link.RecordProbe("", time.Now())
		letPass(2 * time.Second)
		n.isWhole("when it is back", attr.S("m"), 0, false)
		wait("when it is back")
	})
}

// A page that could not be stored is read again, before the pass counts as whole.
func TestPageThatCannotBeStoredIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t, Rule{Table: "follows"})
		n.Page = 1
		for i := range 3 {
			n.foreign("follows", follow("m", fmt.Sprintf("%05d", i)))
		}
		n.read("m", 1)
		ctx, cancel := context.WithCancel(t.Context())
		n.Failpoint = func(string) { cancel() }
		raw, err := attr.AppendKey(nil, attr.S("m"))
		if err != nil {
			t.Fatal(err)
		}
		pages := 1
		if _, err := n.continuePass(ctx, newPass(n.Box.Spec("follows"), attr.S("m"), raw), &pages); err == nil {
			t.Fatal("the second page was stored: this test tests nothing")
		}
		n.Failpoint = func(string) {}
		n.read("m", 10)
		n.isWhole("after the pass", attr.S("m"), 0, true)
		for i := range 3 {
			if key := follow("m", fmt.Sprintf("%05d", i)); n.row("follows", key) == nil {
				t.Errorf("%v is not here", key)
			}
		}
	})
}

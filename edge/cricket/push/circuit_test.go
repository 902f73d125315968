package push

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/clock"
)

// TestCircuit opens after a run of failures, for a while by the injected clock, and lets one push try then.
func TestCircuit(t *testing.T) {
	clk := clock.NewStepped(time.Unix(1e9, 0))
	pass := func(d time.Duration) {
		t.Helper()
		if err := clk.Wait(t.Context(), clk.Now().Add(d), nil); err != nil {
			t.Fatal(err)
		}
	}
	b := circuit{clock: clk, log: slog.New(slog.DiscardHandler), after: 2}
	is := func(want string, blamed time.Duration) {
		t.Helper()
		state, until := b.status()
		if state != want || blamed == 0 != until.IsZero() || blamed > 0 && until.Sub(clk.Now()) != blamed {
			t.Errorf("%s, blamed until %v, want %s and %v", state, until, want, blamed)
		}
	}
	enter := func() int {
		t.Helper()
		turn, ok := b.enter()
		if !ok {
			t.Fatal("held back")
		}
		return turn
	}
	failed, worked := &apns.Result{Action: apns.Retry}, &apns.Result{Action: apns.Suspend}
	is("closed", 0)
	late := enter()
	b.leave(enter(), failed)
	b.leave(enter(), worked) // any answer ends a run
	b.leave(enter(), failed)
	is("closed", 0)
	b.leave(enter(), &apns.Result{Action: apns.Reconnect})
	is("open", 0)
	b.leave(late, worked) // it went out before
	if _, ok := b.enter(); ok {
		t.Error("a push while it is open")
	}
	pass(tripFor - time.Second)
	is("open", 0)
	pass(time.Second)
	is("half-open", 0)
	turn := enter()
	if _, ok := b.enter(); ok {
		t.Error("a second trial beside the first")
	}
	b.leave(turn, failed)
	pass(tripFor)
	turn = enter() // its caller gives up
	pass(tripFor)
	b.leave(enter(), worked)
	b.leave(turn, failed)
	is("closed", 0)

	stop := &apns.Result{Action: apns.Stop}
	turn = enter()
	b.leave(enter(), stop)
	is("open", pauseAfter)
	b.leave(turn, worked)
	is("open", pauseAfter)
	b.leave(turn, &apns.Result{Action: apns.Stop, RetryAfter: 20 * time.Minute})
	is("open", 20*time.Minute)
	pass(20 * time.Minute)
	is("half-open", 0)
	b.leave(enter(), worked)
	is("closed", 0)
}

// TestAppleIsSilent holds the pushes of all phones back after a run of failures. Then one goes first, and the others once it
// has been answered.
func TestAppleIsSilent(t *testing.T) {
	r := newRig(t)
	r.after, r.workers = 20, 10 // with more workers, all 60 may be under way before the first has failed
	const phones = 60
	r.fixture("7")
	r.live("7")
	for i := range phones {
		user := fmt.Sprint("u", i)
		r.follow("7", user)
		r.activate("7", user, "upd "+user)
	}
	r.score("7", 1, "")
	r.run(r.out)
	r.pass(2 * time.Second)
	r.out.take()
	r.out.script(func(sent) apns.Result { return unavailable })
	r.score("7", 2, "")
	r.settle()
	if n := len(r.out.take()); n < 20 || n >= phones {
		t.Errorf("%d pushes failed before the others were held back", n)
	}
	if st := r.coord.Status(); st.Circuit != "open" || !st.Paused.IsZero() {
		t.Errorf("status %+v", st)
	}
	r.pass(tripFor + time.Second)
	if n := len(r.out.take()); n != 1 {
		t.Errorf("%d pushes after the wait, want one", n)
	}
	r.out.script(nil)
	r.pass(tripFor + time.Second)
	if n := len(r.out.take()); n != phones {
		t.Errorf("%d pushes once Apple answers", n)
	}
}

// TestCallerEnds: a notice whose sender gives up says nothing about Apple.
func TestCallerEnds(t *testing.T) {
	r := newRig(t)
	r.after = 1
	r.run(r.out)
	r.out.script(func(sent) apns.Result { return apns.Result{Action: apns.Retry, Err: context.Canceled} })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, held := r.coord.deliver(ctx, apns.Push{}); held || r.coord.Status().Circuit != "closed" {
		t.Errorf("held %v, %+v", held, r.coord.Status())
	}
	if _, held := r.coord.deliver(t.Context(), apns.Push{}); held || r.coord.Status().Circuit != "open" {
		t.Errorf("held %v, %+v", held, r.coord.Status())
	}
}

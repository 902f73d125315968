package push

import (
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/fault"
)

// A requested refresh sends the display again once, without an alert, to the phones that show the match.
func TestRefreshRequested(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.follow("7", "bob") // no token yet: nothing to send to
	r.pass(5 * time.Second)
	r.out.take()
	refresh := func(id string, want int) {
		t.Helper()
		if n, err := r.coord.Refresh(t.Context(), id); n != want || err != nil {
			t.Fatalf("%s: %d phones, %v, want %d", id, n, err, want)
		}
	}
	last := int64(0)
	for range 2 {
		refresh("7", 1)
		r.pass(2 * time.Second)
		p := r.one()
		if p.Token != token("upd ada") || p.Event != "update" || p.Priority != apns.PriorityNormal || p.Alert != "" || p.Runs != 1 || p.Stamp <= last {
			t.Errorf("%s with stamp %d after %d", describe([]sent{p}), p.Stamp, last)
		}
		last = p.Stamp
	}
	r.pass(time.Minute)
	for _, p := range r.out.take() {
		if p.Event != "start" { // bob's start may be repeated
			t.Errorf("after the refresh: %s", describe([]sent{p}))
		}
	}

	r.score("7", 4, "")
	refresh("7", 1)
	refresh("7", 1)
	r.pass(10 * time.Second)
	updates := 0
	for _, p := range r.out.take() {
		if p.Event == "start" {
			continue
		}
		if updates++; updates > 3 || p.Runs != 4 {
			t.Errorf("refresh with a new score: %s", describe([]sent{p}))
		}
	}

	r.score("8", 1, "")
	refresh("8", 0) // nobody shows it
	r.active("7", cricket.ActiveEnded, cricket.PhaseCompleted, r.clk.Now())
	refresh("7", 0)
	if n, err := r.coord.Refresh(t.Context(), "9"); n != 0 || !fault.Is(err, fault.Conflict) {
		t.Errorf("without a display: %d, %v", n, err)
	}
}

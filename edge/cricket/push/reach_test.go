package push

import (
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// reached returns how many phones the alert of an event reached.
func (r *rig) reached(event string) int {
	r.t.Helper()
	v, err := r.coord.View(r.ctx, "7")
	if err != nil {
		r.t.Fatal(err)
	}
	return v.Reached[event]
}

// TestReached counts the phones that an alert reached, without those that have no update token or a rejected one. The
// counts survive restarts.
func TestReached(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.follow("7", "bob")
	r.activate("7", "bob", "upd bob")
	r.follow("7", "cal") // no update token
	r.pass(2 * time.Second)
	r.score("7", 2, "both")
	r.pass(2 * time.Second)
	r.out.script(func(p sent) apns.Result {
		if p.Token == token("upd bob") {
			return apns.Result{Action: apns.Suspend, Status: 400, Reason: "BadDeviceToken"}
		}
		return apns.Result{Action: apns.Accepted, Status: 200}
	})
	r.score("7", 3, "one")
	r.pass(2 * time.Second)
	r.out.script(nil)
	r.score("7", 4, "")
	r.pass(2 * time.Second)
	for range 2 {
		if both, one, none := r.reached("w:1:1"), r.reached("w:1:2"), r.reached("w:1:3"); both != 2 || one != 1 || none != 0 {
			t.Errorf("reached %d, %d and %d phones", both, one, none)
		}
		r.halt()
		r.run(r.out)
		r.pass(2 * time.Second)
	}
}

// TestReachedByAChannel counts the listeners.
func TestReachedByAChannel(t *testing.T) {
	r := newWithChannels(t, "18.1", "18.2", "17.5")
	r.run(r.client)
	r.pass(3 * time.Second)
	r.score("7", 2, "WICKET!")
	r.pass(2 * time.Second)
	if n := r.reached("w:1:1"); n != 3 {
		t.Errorf("%d phones", n)
	}
}

package push

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
)

// renewals returns the rounds of pushes to the phones of a rig since a record: starts by phone, and ends, in order.
func (r *withPhones) renewals(after uint64) (order []string) {
	for _, rec := range r.box.Records(after) {
		if rec.Event == "start" || rec.Event == "end" {
			order = append(order, rec.Event+" "+rec.Phone)
		}
	}
	return order
}

// shown counts the alerts with a text on each phone.
func (r *withPhones) shown(body string) map[string]int {
	n := map[string]int{}
	for _, v := range r.box.Phones() {
		for _, a := range v.Alerts {
			if a.Body == body {
				n[v.Name]++
			}
		}
	}
	return n
}

// cards counts the cards on a phone that have not ended.
func (r *withPhones) cards(name string) (n int) {
	for _, v := range r.box.Phones() {
		for _, a := range v.Activities {
			if v.Name == name && !a.Ended {
				n++
			}
		}
	}
	return n
}

// Cards on a channel are renewed as others are: new ones first, and the old ones end when the tokens of those have come, at the latest at 7 h
// 55. Meanwhile every alert is told once on each phone.
func TestChannelRenewal(t *testing.T) {
	for name, tc := range map[string]struct {
		down   time.Duration // how long Apple answers starts with 503
		silent bool          // the apps do not report the tokens
		stays  time.Duration // how long the old cards stay at least, from 7 h 30
		ends   time.Duration // when they have ended
		active bool          // the new cards have tokens then
	}{
		"at once":       {ends: 5 * time.Second, active: true},
		"Apple is down": {down: 4 * time.Minute, stays: 4 * time.Minute, ends: 5*time.Minute + 5*time.Second, active: true},
		"no token":      {silent: true, stays: tokenWait - 5*time.Second, ends: tokenWait + 10*time.Second},
		"down for long": {down: time.Hour, stays: renewBy - renewAfter - 10*time.Second, ends: renewBy - renewAfter + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWithChannels(t, "18.1", "18.2")
			r.run(r.client)
			r.pass(3 * time.Second)
			if r.session("7", "u0").ChannelID == "" {
				t.Fatal("no channel")
			}
			r.pass(renewAfter - 10*time.Second)
			_, _, seen := r.broadcasts(0)
			r.mute.Store(tc.silent)
			for _, p := range r.phones {
				if tc.down > 0 {
					r.box.Script(p.PushToStartToken, 0, sandbox.Reply{Status: 503, Reason: "ServiceUnavailable"})
				}
			}
			r.pass(8 * time.Second) // 7 h 30 have passed
			if tc.stays > 0 {
				r.score("7", 2, "wicket between")
				r.pass(min(tc.stays, tc.down))
				if tc.down < tc.stays {
					r.pass(tc.stays - tc.down)
				} else if tc.down == tc.stays {
					r.box.ClearScripts()
				}
				if got := r.renewals(seen); slices.Contains(got, "end ") {
					t.Fatalf("the old cards have ended already: %q", got)
				}
			}
			r.pass(tc.ends - tc.stays)
			got := r.renewals(seen)
			first := slices.Index(got, "end ")
			if first < 2 || slices.Contains(got[first+1:], "end ") || tc.down < time.Hour && first != len(got)-1 {
				t.Errorf("starts and ends: %q", got)
			}
			r.score("7", 3, "wicket after")
			r.pass(5 * time.Second)
			for _, u := range []string{"u0", "u1"} {
				s := r.session("7", u)
				if (s.Status == phone.SessionActive) != tc.active || s.ChannelID != "" || s.FormerChannel != "" || (s.UpdateToken != "") != tc.active {
					t.Errorf("%s: %+v", u, s)
				}
				if want := 1; tc.down < time.Hour && r.cards(u) != want {
					t.Errorf("%s has %d cards", u, r.cards(u))
				}
				for body, want := range map[string]bool{"wicket between": tc.stays > 0, "wicket after": tc.active} {
					if n := r.shown(body)[u]; want && n != 1 {
						t.Errorf("%s: %q is told %d times", u, body, n)
					}
				}
			}
		})
	}
}

// A device that has five cards has no room for another: the old one ends first, at 7 h 30.
func TestRenewalWithFiveCards(t *testing.T) {
	r := newRig(t)
	r.atOnce("ada", maxCards)
	r.pass(10 * time.Second)
	for i := range maxCards {
		r.activate(fmt.Sprint(100+i), "ada", fmt.Sprint("upd ", i))
	}
	r.pass(renewAfter - 20*time.Second)
	r.out.take()
	r.pass(5 * time.Minute)
	var order []string
	for _, p := range r.out.take() {
		if p.Event == "start" || p.Event == "end" {
			order = append(order, p.Event)
		}
	}
	if len(order) == 0 || order[0] != "end" || !slices.Contains(order, "start") {
		t.Errorf("starts and ends: %q", order)
	}
}

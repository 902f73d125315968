package push

import (
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/machine"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// TestUpdates sends the newest state of the display once per change, at least a second apart, at normal priority.
func TestUpdates(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	first := r.one() // the current display is sent once at the start
	if first.Runs != 1 || first.Priority != apns.PriorityNormal || first.Event != "update" || first.Token != token("upd ada") {
		t.Errorf("first push %+v", first)
	}
	r.score("7", 1, "")
	r.pass(5 * time.Second)
	r.none("the same display, written again")
	r.score("7", 2, "")
	r.settle()
	if p := r.one(); p.Runs != 2 || p.Stamp <= first.Stamp || p.Stamp != r.clk.Now().Unix() {
		t.Errorf("second push %+v", p)
	}
	r.score("7", 3, "")
	r.settle()
	r.score("7", 4, "")
	r.settle()
	r.none("within a second of the last")
	r.pass(time.Second)
	if p := r.one(); p.Runs != 4 {
		t.Errorf("coalesced push has %d runs", p.Runs)
	}
	if life := first.Expiration.Sub(dayOne); life < 30*time.Second || life > 2*time.Minute {
		t.Errorf("expires after %v", life)
	}
}

// TestAlert sends an alert once and immediately, with the newest state.
func TestAlert(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.score("7", 5, "WICKET! Guptill")
	r.settle()
	p := r.one()
	if p.Alert != "WICKET! Guptill" || p.Priority != apns.PriorityUrgent || p.Runs != 5 || p.Event != "update" {
		t.Errorf("alert %+v", p)
	}
	r.pass(10 * time.Minute)
	r.none("after the alert")
	// Two alerts of one transaction are sent one after the other.
	r.do(func(tx *store.Tx) error {
		if err := r.tick(tx, "7", 6, "first"); err != nil {
			return err
		}
		return r.tick(tx, "7", 7, "second")
	})
	r.settle()
	if p := r.one(); p.Alert != "first" || p.Runs != 7 {
		t.Errorf("first of two %+v", p)
	}
	r.pass(time.Second)
	if p := r.one(); p.Alert != "second" {
		t.Errorf("second of two %+v", p)
	}
}

// TestRefresh sends the state again after 15 minutes of silence, before it becomes stale on the phone.
func TestRefresh(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	first := r.one()
	r.pass(14 * time.Minute)
	r.none("before 15 minutes of silence")
	r.pass(time.Minute)
	p := r.one()
	if p.Stamp <= first.Stamp || p.Priority != apns.PriorityNormal {
		t.Errorf("refresh %+v", p)
	}
	if stale := int64(p.body["stale-date"].(float64)); stale < r.clk.Now().Add(15*time.Minute).Unix() {
		t.Error("stale before the next refresh")
	}
	r.pass(15*time.Minute + time.Second)
	r.one()
}

// TestMatchEnd sends the final state at once, ends the activity 15 minutes later, and nothing after that.
func TestMatchEnd(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	over := r.clk.Now()
	r.score("7", 9, "NZ win")
	r.active("7", cricket.ActiveLive, cricket.PhaseCompleted, over)
	r.settle()
	if p := r.one(); p.Alert != "NZ win" {
		t.Errorf("result %+v", p)
	}
	r.score("7", 10, "")
	r.pass(2 * time.Second)
	if p := r.one(); p.Runs != 10 || p.Event != "update" {
		t.Errorf("late correction %+v", p)
	}
	r.pass(12 * time.Minute)
	r.none("before the end")
	r.pass(3 * time.Minute)
	p := r.one()
	if p.Event != "end" || p.Runs != 10 || p.Priority != apns.PriorityNormal {
		t.Errorf("end %+v", p)
	}
	linger := int64(p.body["dismissal-date"].(float64)) - p.Stamp
	if linger < 15*60 || linger > 30*60 {
		t.Errorf("it stays on the lock screen for %d s", linger)
	}
	if life := p.Expiration.Unix() - p.Stamp; life > 4*3600 || life < 3600 {
		t.Errorf("the end expires after %d s", life)
	}
	if s := r.session("7", "ada"); s.Status != phone.SessionEnded || s.EndReason != phone.EndMatchEnded || s.UpdateToken != "" {
		t.Errorf("row %+v", s)
	}
	r.unfollow("7", "ada") // as the match's clean-up does
	r.active("7", cricket.ActiveEnded, cricket.PhaseCompleted, over)
	r.score("7", 11, "too late")
	r.pass(24 * time.Hour)
	r.none("after the end")
	if v, err := r.coord.View(t.Context(), "7"); err != nil || v.Pushes != (Counts{4, 4, 0}) {
		t.Errorf("view %+v, %v", v, err)
	}
}

// TestReopened withdraws the result within 15 minutes: the activity is not ended.
func TestReopened(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.active("7", cricket.ActiveLive, cricket.PhaseCompleted, r.clk.Now())
	r.pass(10 * time.Minute)
	r.live("7")
	r.pass(time.Hour)
	for _, p := range r.out.take() {
		if p.Event != "update" {
			t.Errorf("%+v", p)
		}
	}
}

// TestStumps ends the activity overnight and starts one in the morning.
func TestStumps(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.score("7", 100, "Stumps day 1")
	r.active("7", cricket.ActiveLive, cricket.PhaseStumps, time.Time{})
	r.settle()
	if p := r.one(); p.Alert != "Stumps day 1" {
		t.Errorf("alert %+v", p)
	}
	r.pass(restAfter - time.Second)
	r.none("while a wrong status may be corrected")
	r.pass(time.Second)
	if p := r.one(); p.Event != "end" {
		t.Errorf("end of the day %+v", p)
	}
	if s := r.session("7", "ada"); s.Status != phone.SessionPending {
		t.Errorf("overnight %+v", s)
	}
	r.pass(16 * time.Hour)
	r.none("overnight")
	r.live("7")
	r.settle()
	p := r.one()
	if p.Event != "start" || p.Token != token("pts ada") || p.Priority != apns.PriorityUrgent || p.Alert == "" {
		t.Errorf("morning %+v", p)
	}
	if p.body["attributes-type"] != "MatchAttributes" || p.body["attributes"] == nil {
		t.Errorf("start %v", p.body)
	}
	r.activate("7", "ada", "second day")
	r.pass(2 * time.Second)
	r.none("the start carried the state already")
	r.score("7", 101, "")
	r.settle()
	if p := r.one(); p.Token != token("second day") || p.Runs != 101 {
		t.Errorf("second day %+v", p)
	}
}

// TestRenewal replaces an activity before the system ends it after eight hours: the new one first, and the old one ends when the token of
// the new one has come, or after 7 h 55. With a 503 for minutes there is a card all the time.
func TestRenewal(t *testing.T) {
	for name, tc := range map[string]struct {
		comes time.Duration // after the start was accepted; 0: never
		down  time.Duration // how long Apple answers 503
	}{
		"at once": {comes: 3 * time.Second}, "late": {comes: 10 * time.Minute}, "never": {}, "Apple is down": {comes: 3 * time.Second, down: 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.ready(r.out)
			r.pass(renewAfter - 3*time.Second)
			r.out.take()
			if tc.down > 0 {
				r.out.script(func(sent) apns.Result { return unavailable })
				r.pass(tc.down)
				for _, p := range r.out.take() {
					if p.Event == "end" {
						t.Error("an end before the new card")
					}
				}
				r.out.script(nil)
				r.pass(longestRetry)
			} else {
				r.pass(2 * time.Second)
			}
			first := r.out.take()
			if len(first) == 0 || first[0].Event != "start" || first[0].Token != token("pts ada") {
				t.Fatalf("first %s", describe(first))
			}
			limit := renewBy - renewAfter
			if tc.comes > 0 {
				r.pass(tc.comes)
				for _, p := range r.out.take() {
					if p.Event == "end" {
						t.Error("an end before the token")
					}
				}
				r.activate("7", "ada", "upd new")
				limit = 3 * time.Second
			}
			r.pass(limit)
			var ends []sent
			for _, p := range r.out.take() {
				switch p.Event {
				case "end":
					ends = append(ends, p)
				case "start":
					t.Error("a second start")
				}
			}
			if len(ends) != 1 || ends[0].Token != token("upd ada") || int64(ends[0].body["dismissal-date"].(float64)) > r.clk.Now().Unix() {
				t.Fatalf("ends %s", describe(ends))
			}
			r.score("7", 50, "")
			r.pass(3 * time.Second)
			all := r.out.take()
			if tc.comes > 0 && (len(all) != 1 || all[0].Token != token("upd new") || all[0].Runs != 50) || tc.comes == 0 && len(all) != 0 {
				t.Errorf("afterwards %s", describe(all))
			}
			if s := r.session("7", "ada"); s.FormerToken != "" || (s.Status == phone.SessionActive) != (tc.comes > 0) {
				t.Errorf("row %+v", s)
			}
		})
	}
}

// States of a match have one collapse id if that is switched on; alerts to a card never have one.
func TestCollapse(t *testing.T) {
	for _, on := range []bool{false, true} {
		r := newRig(t)
		r.collapse = on
		r.ready(r.out)
		r.out.take()
		r.score("7", 2, "")
		r.pass(2 * time.Second)
		if p := r.one(); p.CollapseID != "" != on {
			t.Errorf("switched on %t: a state has the id %q", on, p.CollapseID)
		}
		r.score("7", 3, "wicket")
		r.pass(2 * time.Second)
		if p := r.one(); p.CollapseID != "" {
			t.Errorf("switched on %t: an alert has the id %q", on, p.CollapseID)
		}
	}
}

// TestRenewalIsNotStarved renews an activity in time however fast the score changes.
func TestRenewalIsNotStarved(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.pass(renewAfter - 5*time.Second)
	r.out.take()
	for i := range 20 {
		r.score("7", 100+i, "")
		r.pass(500 * time.Millisecond)
	}
	if n := r.starts(); n != 1 {
		t.Errorf("%d starts", n)
	}
}

// TestTimestampsOnlyRise continues from the last timestamp when the clock restarts earlier, as a replay's does.
func TestTimestampsOnlyRise(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.pass(time.Minute)
	r.score("7", 2, "")
	r.settle()
	r.halt()
	before := r.out.take()
	last := before[len(before)-1].Stamp
	again := &rig{t: t, ctx: r.ctx, clk: clock.NewStepped(dayOne), s: r.s, out: r.out}
	again.node = machine.New(again.clk)
	leave := again.clk.Join()
	defer leave()
	again.run(again.out)
	again.pass(2 * time.Second)
	again.score("7", 3, "")
	again.pass(2 * time.Second)
	again.halt()
	all := again.out.take()
	if len(all) != 2 {
		t.Fatalf("%d pushes", len(all))
	}
	for _, p := range all {
		if p.Stamp <= last {
			t.Errorf("timestamp %d after %d", p.Stamp, last)
		}
		last = p.Stamp
	}
}

// TestAlertsNotSent: an event whose row is written again is not announced again, and an activity that began after an event
// does not get its alert.
func TestAlertsNotSent(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.do(func(tx *store.Tx) error {
		if err := r.tick(tx, "7", 2, "WICKET!"); err != nil {
			return err
		}
		_, err := tx.Update(store.UpdateItem{
			Table:  tables.Events,
			Key:    attr.Item{"matchId": attr.S("7"), "eventKey": attr.S("w:1:1")},
			Update: "SET detail = :d", Params: expr.Params{Values: attr.Item{":d": attr.S("bowled")}},
		})
		return err
	})
	r.pass(10 * time.Second)
	r.one()
	r.out.script(func(p sent) apns.Result {
		if p.Alert == "" || p.Token == token("upd bob") {
			return apns.Result{Action: apns.Accepted, Status: 200}
		}
		return apns.Result{Action: apns.Retry, Status: 503}
	})
	r.score("7", 3, "WICKET AGAIN!")
	r.settle()
	r.activate("7", "bob", "upd bob")
	r.pass(5 * time.Second)
	for _, p := range r.out.take() {
		if p.Token == token("upd bob") && p.Alert != "" {
			t.Error("an alert from before the activity began")
		}
	}
}

// TestStarts sends one start and waits for its update token, even if the device registers again: a second start would be a
// second card. A rejected update token suspends the session, but does not end it.
func TestStarts(t *testing.T) {
	r := newRig(t)
	r.waits("7", "ada")
	if s := r.session("7", "ada"); s.Status != phone.SessionPending || s.StartTries != 1 || s.StartAnswer != phone.StartTaken {
		t.Errorf("%+v", s)
	}
	r.pass(time.Hour)
	r.follow("7", "ada") // the app was opened: its device registers again
	r.pass(cardLife - 2*time.Hour)
	r.none("while the card may be on the lock screen")
	r.pass(2 * time.Hour)
	if p := r.one(); p.Event != "start" {
		t.Errorf("after the life of an activity %+v", p)
	}
	r.activate("7", "ada", "upd 1")
	r.pass(2 * time.Second)
	r.out.take()
	r.out.script(func(p sent) apns.Result {
		return apns.Result{Action: apns.Suspend, Status: 400, Reason: "BadDeviceToken"}
	})
	r.score("7", 2, "")
	r.settle()
	r.one()
	if s := r.session("7", "ada"); s.Status != phone.SessionSuspended || s.EndReason != "" || s.UpdateToken != "" {
		t.Errorf("suspended %+v", s)
	}
}

// TestNoDevice waits for a follower to get a phone.
func TestNoDevice(t *testing.T) {
	r := newRig(t)
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.do(func(tx *store.Tx) error {
		_, _, err := phone.Follows{}.Add(tx, "7", "bob", 0)
		return err
	})
	r.run(r.out)
	r.pass(5 * time.Minute)
	r.none("without a device")
	r.follow("7", "bob")
	r.settle()
	if p := r.one(); p.Event != "start" {
		t.Errorf("%+v", p)
	}
}

// TestUnfollow ends the activity at once. If Apple does not accept the end, it is retried, also after a restart.
func TestUnfollow(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.out.script(func(sent) apns.Result { return apns.Result{Action: apns.Retry, Status: 503} })
	r.do(func(tx *store.Tx) error { return phone.Follows{}.Remove(tx, "7", "ada") })
	r.settle()
	if p := r.one(); p.Event != "end" || p.Priority != apns.PriorityNormal {
		t.Errorf("%+v", p)
	}
	r.halt() // the owed end survives the process
	r.out.script(nil)
	r.out.take()
	r.run(r.out)
	r.pass(2 * time.Second)
	if p := r.one(); p.Event != "end" {
		t.Errorf("after a restart %+v", p)
	}
	if s := r.session("7", "ada"); s.UpdateToken != "" || s.EndReason != phone.EndUnfollowed {
		t.Errorf("row %+v", s)
	}
	r.score("7", 9, "wicket")
	r.pass(time.Hour)
	r.none("after the end")
}

// TestEndIsGivenUp stops retrying an end after four hours.
func TestEndIsGivenUp(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.script(func(sent) apns.Result { return apns.Result{Action: apns.Retry, Status: 503} })
	r.do(func(tx *store.Tx) error { return phone.Follows{}.Remove(tx, "7", "ada") })
	r.pass(5 * time.Hour)
	if s := r.session("7", "ada"); s.UpdateToken != "" {
		t.Errorf("row %+v", s)
	}
	if n := len(r.out.take()); n < 200 || n > 1000 {
		t.Errorf("%d tries in four hours", n)
	}
}

// TestNoDisplayYet sends nothing for a match that has no state.
func TestNoDisplayYet(t *testing.T) {
	r := newRig(t)
	r.fixture("7")
	r.follow("7", "ada")
	r.activate("7", "ada", "early") // the app started an activity before play
	r.run(r.out)
	r.settle()
	r.active("7", cricket.ActiveIdle, cricket.PhasePrematch, time.Time{})
	r.pass(time.Hour)
	r.none("before the first display")
	r.live("7")
	r.score("7", 0, "")
	r.settle()
	if p := r.one(); p.Token != token("early") || p.Event != "update" {
		t.Errorf("%+v", p)
	}
}

package push

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

var unavailable = apns.Result{Action: apns.Retry, Status: 503, Reason: "ServiceUnavailable"}

// first answers the first n pushes with res and accepts the others.
func (o *outbox) first(n int, res apns.Result) {
	o.script(func(p sent) apns.Result {
		if n--; n >= 0 {
			return res
		}
		return apns.Result{Action: apns.Accepted, Status: 200, ID: p.ID}
	})
}

// TestRetryTakesTheNewest retries with the newest state.
func TestRetryTakesTheNewest(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.out.first(1, unavailable)
	r.score("7", 2, "")
	r.settle()
	failed := r.one()
	r.score("7", 3, "")
	r.pass(3 * time.Second)
	if p := r.one(); p.Runs != 3 || p.Stamp <= failed.Stamp {
		t.Errorf("retry %+v", p)
	}
}

// TestOutage retries often for ten seconds, then at long intervals, and catches up after the outage.
func TestOutage(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.out.script(func(sent) apns.Result { return unavailable })
	r.score("7", 2, "")
	r.pass(10 * time.Second)
	if n := len(r.out.take()); n < 3 || n > 6 {
		t.Errorf("%d tries in ten seconds", n)
	}
	r.pass(10 * time.Minute)
	if n := len(r.out.take()); n < 15 || n > 25 {
		t.Errorf("%d tries in ten minutes", n)
	}
	r.out.script(nil)
	r.pass(slowRetry + 10*time.Second)
	if p := r.one(); p.Runs != 2 {
		t.Errorf("after the outage %+v", p)
	}
}

func TestRetryAfter(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	asked := unavailable
	asked.RetryAfter = 40 * time.Second
	r.out.first(1, asked)
	r.score("7", 2, "")
	r.pass(39 * time.Second)
	r.one()
	r.pass(2 * time.Second)
	r.one()
}

// TestAlertRetries retries a refused alert for two minutes, but not one that may have arrived.
func TestAlertRetries(t *testing.T) {
	for _, tc := range []struct {
		name   string
		res    apns.Result
		outage time.Duration
		alerts int // that arrived
	}{
		{"refused for a minute", unavailable, time.Minute, 1},
		{"refused for three minutes", unavailable, 3 * time.Minute, 0},
		{"answer lost", apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: true}, 30 * time.Second, 0},
		{"no connection", apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer}, 30 * time.Second, 1},
		{"too many for this token", apns.Result{Action: apns.Later, Status: 429}, 30 * time.Second, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			r.ready(r.out)
			r.out.script(func(sent) apns.Result { return tc.res })
			r.score("7", 2, "WICKET!")
			r.pass(tc.outage)
			tried := 0
			for _, p := range r.out.take() {
				if p.Alert != "" {
					tried++
				}
			}
			if tc.res.Maybe && tried != 1 {
				t.Errorf("sent %d times", tried)
			}
			r.out.script(nil)
			r.pass(2 * time.Minute)
			arrived, state := 0, 0
			for _, p := range r.out.take() {
				state = p.Runs
				if p.Alert != "" {
					arrived++
				}
			}
			if arrived != tc.alerts {
				t.Errorf("%d alerts after the outage, want %d", arrived, tc.alerts)
			}
			if state != 2 {
				t.Errorf("the phone shows %d runs", state)
			}
		})
	}
}

// TestTooMany sends nothing to a token for five seconds, then ten, and then the newest state.
func TestTooMany(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.out.first(2, apns.Result{Action: apns.Later, Status: 429, Reason: "TooManyRequests"})
	r.score("7", 2, "")
	r.settle()
	r.one()
	r.pass(4 * time.Second)
	r.none("within five seconds")
	r.pass(2 * time.Second)
	r.one()
	r.pass(8 * time.Second)
	r.none("within ten seconds")
	r.pass(2 * time.Second)
	r.one()
}

func TestShrink(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	large := apns.Result{Action: apns.Shrink, Alarm: true, Status: 413, Reason: "PayloadTooLarge"}
	r.out.script(func(sent) apns.Result { return large })
	r.score("7", 2, "")
	r.pass(time.Minute)
	if n := len(r.out.take()); n != 2 {
		t.Errorf("%d tries of a push too large, want a second, smaller one", n)
	}
}

// TestStop pauses all pushes for a minute after an answer that blames this node, and suspends no session.
func TestStop(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.out.first(1, apns.Result{Action: apns.Stop, Alarm: true, Status: 403, Reason: "InvalidProviderToken"})
	r.score("7", 2, "")
	r.settle()
	r.one()
	if v, _ := r.coord.View(t.Context(), "7"); !v.Paused {
		t.Error("not paused")
	}
	r.score("7", 3, "")
	r.pass(58 * time.Second)
	r.none("while paused")
	if s := r.session("7", "ada"); s.Status != phone.SessionActive {
		t.Errorf("row %+v", s)
	}
	r.pass(3 * time.Second)
	if p := r.one(); p.Runs != 3 {
		t.Errorf("after the pause %+v", p)
	}
}

// TestStorm takes many tokens rejected at once for a wrong configuration, and suspends no session.
func TestStorm(t *testing.T) {
	for _, tc := range []struct {
		phones  int
		suspend bool
	}{{stormSize, false}, {stormSize - 1, true}} {
		t.Run(fmt.Sprint(tc.phones), func(t *testing.T) {
			r := newRig(t)
			r.fixture("7")
			r.live("7")
			r.score("7", 1, "")
			for i := range tc.phones {
				user := fmt.Sprintf("u%02d", i)
				r.follow("7", user)
				r.activate("7", user, user)
			}
			r.run(r.out)
			r.pass(3 * time.Second)
			r.out.script(func(sent) apns.Result {
				return apns.Result{Action: apns.Suspend, Status: 400, Reason: "BadDeviceToken"}
			})
			r.score("7", 2, "")
			r.settle()
			want := phone.SessionActive
			if tc.suspend {
				want = phone.SessionSuspended
			}
			if s := r.session("7", "u00"); s.Status != want {
				t.Errorf("%d rejected: %s, want %s", tc.phones, s.Status, want)
			}
		})
	}
}

// TestDeadStartToken drops a push-to-start token that Apple calls dead, unless it was registered after Apple's timestamp.
func TestDeadStartToken(t *testing.T) {
	for name, after := range map[string]time.Duration{"older": time.Minute, "newer": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fixture("7")
			r.live("7")
			r.score("7", 1, "")
			r.follow("7", "ada")
			r.out.script(func(sent) apns.Result {
				return apns.Result{Action: apns.Gone, Status: 410, Reason: "Unregistered", Gone: dayOne.Add(after)}
			})
			r.run(r.out)
			r.pass(10 * time.Minute)
			var d []phone.Device
			r.do(func(tx *store.Tx) (err error) {
				d, err = phone.Devices{}.OfUser(tx, "ada")
				return err
			})
			if kept := d[0].PushToStartToken != ""; kept != (after < 0) {
				t.Errorf("kept %v", kept)
			}
			if n := len(r.out.take()); after > 0 && n != 1 || n > startTries {
				t.Errorf("%d tries", n)
			}
		})
	}
}

// TestUrgentBudget has one phone follow three matches: beyond the budget alerts are still sent, at normal priority.
func TestUrgentBudget(t *testing.T) {
	r := newRig(t)
	r.run(r.out)
	for m := range 3 {
		id := fmt.Sprint(m)
		r.fixture(id)
		r.follow(id, "ada")
		r.activate(id, "ada", "upd "+id)
		r.score(id, 1, "")
		r.live(id)
	}
	r.pass(2 * time.Second)
	r.out.take()
	for i := range 10 {
		for m := range 3 {
			r.score(fmt.Sprint(m), i+2, fmt.Sprintf("wicket %d in %d", i, m))
			r.pass(time.Minute)
		}
	}
	urgent, alerts := 0, 0
	for _, p := range r.out.take() {
		if p.Alert != "" {
			alerts++
		}
		if p.Priority == apns.PriorityUrgent {
			urgent++
		}
	}
	if alerts != 30 || urgent != urgentHourly {
		t.Errorf("%d alerts, %d of them urgent, in half an hour", alerts, urgent)
	}
}

// TestUrgentBudgetOverARestart counts the urgent pushes of the previous process, including those for an event that was
// withdrawn and announced again, and those to an activity that has been replaced.
func TestUrgentBudgetOverARestart(t *testing.T) {
	const renewed = "a renewed activity"
	for name, between := range map[string]func(*rig){
		"new events": func(*rig) {},
		"one event":  (*rig).withdraw,
		renewed: func(r *rig) {
			if r.n == 5 {
				r.pass(time.Minute)
				r.activate("7", "ada", "upd anew")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.ready(r.out)
			if name == renewed {
				r.pass(renewAfter - 6*time.Minute)
			}
			r.out.take()
			urgent := 0
			for i := range urgentHourly + 3 {
				r.score("7", i+2, fmt.Sprint("wicket ", i))
				r.pass(time.Minute)
				if i == 8 {
					r.restart()
				}
				between(r)
			}
			for _, p := range r.out.take() {
				if p.Priority == apns.PriorityUrgent {
					urgent++
				}
			}
			if urgent < urgentHourly-1 || urgent > urgentHourly {
				t.Errorf("%d urgent pushes in half an hour", urgent)
			}
		})
	}
}

// withdraw deletes the newest event, so that the next one gets its key.
func (r *rig) withdraw() {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: tables.Events, Key: attr.Item{"matchId": attr.S("7"), "eventKey": attr.S(fmt.Sprintf("w:1:%d", r.n))}})
		return err
	})
	r.n--
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	if _, err := New(Config{Registerer: reg}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Registerer: reg}); err == nil {
		t.Error("registered twice")
	}
}

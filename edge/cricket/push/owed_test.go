package push

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// restart shuts the coordinator down in order and starts another.
func (r *rig) restart() {
	r.t.Helper()
	r.halt()
	r.run(r.out)
}

// An alert that no push has carried before an orderly shutdown is sent by the next process. Here it waits because the phone
// got another push less than a second before.
func TestStopBeforeAnAlertLeaves(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.score("7", 2, "")
	r.settle()
	r.score("7", 2, "WICKET!")
	r.pass(100 * time.Millisecond)
	if n := timesSent(r.out.take(), "upd ada", "WICKET!"); n != 0 {
		t.Fatal("it was sent within a second of another push")
	}
	for range 2 {
		r.restart()
		r.pass(300 * time.Millisecond)
	}
	r.pass(time.Minute)
	r.restart()
	r.pass(time.Minute)
	if n := timesSent(r.out.take(), "upd ada", "WICKET!"); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// The same during the pause after Apple refused the provider token: the operator who fixes that restarts the node.
func TestStopInAPause(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.first(2, apns.Result{Action: apns.Stop, Alarm: true, Status: 403, Reason: "InvalidProviderToken"})
	r.score("7", 2, "refused")
	r.pass(5 * time.Second)
	r.score("7", 3, "kept back")
	r.pass(5 * time.Second)
	r.out.take()
	r.out.script(nil)
	r.restart()
	r.pass(10 * time.Second)
	r.restart()
	r.pass(10 * time.Second)
	all := r.out.take()
	for _, text := range []string{"refused", "kept back"} {
		if n := timesSent(all, "upd ada", text); n != 1 {
			t.Errorf("%q sent %d times", text, n)
		}
	}
}

// ending is the Sender of a process that is stopped while its push is under way.
type ending struct {
	r   *rig
	res apns.Result
}

// Send implements Sender.
func (e *ending) Send(_ context.Context, p apns.Push) apns.Result {
	if p.Priority != apns.PriorityUrgent {
		return apns.Result{Action: apns.Accepted, Status: 200}
	}
	e.r.kill()
	return e.res
}

// A push that was not sent does not count as an alert sent; one that may have arrived does.
func TestStopWhileAnAlertLeaves(t *testing.T) {
	for _, maybe := range []bool{false, true} {
		t.Run(fmt.Sprintf("maybe arrived %v", maybe), func(t *testing.T) {
			r := newRig(t)
			r.ready(&ending{r, apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: maybe, Err: context.Canceled}})
			r.score("7", 2, "WICKET!")
			r.pass(2 * time.Second)
			r.restart()
			r.pass(time.Minute)
			r.restart()
			r.pass(time.Minute)
			want := map[bool]int{false: 1, true: 0}[maybe]
			if n := timesSent(r.out.take(), "upd ada", "WICKET!"); n != want {
				t.Errorf("sent %d times by the next process, want %d", n, want)
			}
		})
	}
}

// An alert that could not be sent to anyone while it was news is marked and counted. One that was sent, or that had no
// recipients, is not.
func TestUnsentAlertIsMarked(t *testing.T) {
	r := newRig(t)
	r.score("8", 1, "")
	r.live("8")
	r.score("8", 2, "nobody follows")
	lonely := fmt.Sprintf("w:1:%d", r.n)
	r.ready(r.out)
	r.score("7", 2, "delivered")
	delivered := fmt.Sprintf("w:1:%d", r.n)
	r.pass(2 * time.Second)
	r.out.script(func(sent) apns.Result { return unavailable })
	r.score("7", 3, "refused for two minutes")
	refused := fmt.Sprintf("w:1:%d", r.n)
	r.pass(5 * time.Minute)
	r.restart()
	r.pass(time.Minute)
	if e := r.event("7", refused); e.Alert || e.Dropped != cricket.StaleRule {
		t.Errorf("the refused one: %+v", e)
	}
	r.halt()
	r.score("7", 4, "while stopped")
	late := fmt.Sprintf("w:1:%d", r.n)
	r.pass(5 * time.Minute)
	r.run(r.out)
	r.pass(5 * time.Minute)
	if e := r.event("7", late); e.Alert || e.Dropped != cricket.StaleRule {
		t.Errorf("the one during the stop: %+v", e)
	}
	for name, c := range map[string]prometheus.Metric{
		"late": r.coord.metrics.late, "dropped": r.coord.metrics.dropped.WithLabelValues(cricket.StaleRule),
	} {
		if n := count(t, c); n != 1 {
			t.Errorf("this process counted %v as %s, want 1", n, name)
		}
	}
	for id, key := range map[string]string{"7": delivered, "8": lonely} {
		if e := r.event(id, key); !e.Alert || e.Dropped != "" {
			t.Errorf("%+v", e)
		}
	}
}

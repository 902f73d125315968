package push

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// timesSent counts how often an alert was sent to a phone.
func timesSent(all []sent, tok, text string) (n int) {
	for _, p := range all {
		if p.Token == token(tok) && p.Alert == text {
			n++
		}
	}
	return n
}

// count reads a counter.
func count(t *testing.T, c prometheus.Metric) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// slowUntil holds back the pushes to one token: in real time until let is closed, then until an instant of the clock.
type slowUntil struct {
	*slowFor
	clk   clock.Clock
	until atomic.Pointer[time.Time]
}

// Send implements Sender.
func (s *slowUntil) Send(ctx context.Context, p apns.Push) apns.Result {
	at := s.until.Load()
	if at == nil || p.Token != s.token {
		return s.outbox.Send(ctx, p)
	}
	res := s.slowFor.Send(ctx, p)
	if err := s.clk.Wait(ctx, *at, nil); err != nil {
		return apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: true, Err: err}
	}
	return res
}

// A late answer, after an older alert of the match has expired, still counts for its own alert: nothing is sent
// twice, and nothing is wrongly taken as sent.
func TestLateAnswerIsForItsAlert(t *testing.T) {
	for _, later := range []bool{false, true} {
		t.Run(fmt.Sprintf("another alert meanwhile %v", later), func(t *testing.T) {
			r := newRig(t)
			r.patience = patienceUsual
			slow := &slowUntil{slowFor: &slowFor{outbox: r.out, token: token("upd ada"), let: make(chan struct{})}, clk: r.clk}
			r.ready(slow)
			r.follow("7", "bob")
			r.activate("7", "bob", "upd bob")
			r.pass(4 * time.Second)
			began := r.clk.Now()
			r.score("7", 2, "first")
			r.pass(time.Minute)
			r.score("7", 3, "second")
			r.pass(began.Add(alertLife - 2*time.Second).Sub(r.clk.Now()))
			until := began.Add(alertLife + 5*time.Second)
			slow.until.Store(&until)
			slow.armed.Store(true)
			before := count(t, r.coord.metrics.stragglers) // a busy machine may have caused some already
			r.score("7", 4, "third")
			wait.Until(t, "an answer is late", func() bool { return count(t, r.coord.metrics.stragglers) > before })
			close(slow.let)
			if later {
				r.score("7", 5, "fourth")
			}
			r.pass(3 * time.Second)
			r.score("7", 6, "") // wakes the loop for this match
			r.pass(4 * time.Minute)
			want := map[string]int{"first": 1, "second": 1, "third": 1}
			if later {
				want["fourth"] = 1
			}
			all := r.out.take()
			for _, tok := range []string{"upd ada", "upd bob"} {
				for text, n := range want {
					if got := timesSent(all, tok, text); got != n {
						t.Errorf("%s got %q %d times", tok, text, got)
					}
				}
			}
		})
	}
}

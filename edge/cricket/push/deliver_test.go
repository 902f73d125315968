package push

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
)

// TestRetryIsTheSamePush retries with the same id and timestamp until there is something newer.
func TestRetryIsTheSamePush(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.out.first(2, unavailable)
	r.score("7", 2, "")
	r.settle()
	first := r.one()
	r.pass(2 * time.Second)
	second := r.one()
	if second.ID != first.ID || second.Stamp != first.Stamp {
		t.Errorf("retried as %s at %d, first %s at %d", second.ID, second.Stamp, first.ID, first.Stamp)
	}
	r.score("7", 3, "")
	r.pass(10 * time.Second)
	if third := r.one(); third.ID == first.ID || third.Stamp <= first.Stamp {
		t.Errorf("a newer state as %s at %d", third.ID, third.Stamp)
	}
}

// slowFor holds back the pushes to one token until let is closed.
type slowFor struct {
	*outbox
	token string
	armed atomic.Bool
	let   chan struct{}
}

func (s *slowFor) Send(ctx context.Context, p apns.Push) apns.Result {
	if s.armed.Load() && p.Token == s.token {
		select {
		case <-s.let:
		case <-ctx.Done():
			return apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: true, Err: ctx.Err()}
		}
	}
	return s.outbox.Send(ctx, p)
}

// TestStragglers continues without the answer for one phone: the others are notified at once, that phone after its answer.
func TestStragglers(t *testing.T) {
	r := newRig(t)
	r.patience = patienceUsual
	slow := &slowFor{outbox: r.out, token: token("upd bob"), let: make(chan struct{})}
	r.ready(slow)
	r.follow("7", "bob")
	r.activate("7", "bob", "upd bob")
	r.pass(4 * time.Second)
	slow.armed.Store(true)
	r.score("7", 2, "")
	// While an answer is outstanding the stepped clock stands still, but the loop continues.
	r.follow("7", "cyd")
	r.activate("7", "cyd", "upd cyd")
	wait.Until(t, "cyd's phone is told of two runs", func() bool { return r.runsSent("upd cyd") == 2 })
	r.score("7", 3, "")
	close(slow.let)
	r.pass(3 * time.Second)
	if n := r.runsSent("upd bob"); n != 3 {
		t.Errorf("the slow phone shows %d", n)
	}
	if n := r.runsSent("upd ada"); n != 3 {
		t.Errorf("the other phone shows %d", n)
	}
}

// runsSent returns the newest score that was sent to a token.
func (r *rig) runsSent(tok string) (runs int) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	for _, p := range r.out.all {
		if p.Token == token(tok) {
			runs = p.Runs
		}
	}
	return runs
}

// TestPick sends alerts first if a round cannot hold everything, then the sessions that have waited longest.
func TestPick(t *testing.T) {
	m := newMatch("7")
	var jobs []*job
	for i := range roundSize + 10 {
		k := update
		if i == roundSize+9 {
			k = tell
		}
		at := dayOne.Add(time.Duration(i) * time.Millisecond)
		jobs = append(jobs, &job{match: m, kind: k, session: &session{at: at, row: phone.Session{Key: fmt.Sprint(i)}}})
	}
	m.dirty = false
	slices.Reverse(jobs)
	got := (&Coordinator{circuit: circuit{after: tripAfter}}).pick(jobs)
	if len(got) != roundSize || got[0].kind != tell || got[1].session.row.Key != "0" || !m.dirty {
		t.Errorf("%d jobs, the first %v, the second %s, dirty %v", len(got), got[0].kind, got[1].session.row.Key, m.dirty)
	}
}

// While pushes are held back a round tries one of them, and finishes all rows that need none.
func TestPickWhileHeldBack(t *testing.T) {
	m := newMatch("7")
	var jobs []*job
	for range 100 {
		jobs = append(jobs, &job{match: m, kind: update, session: &session{}}, &job{match: m, kind: expire, session: &session{}})
	}
	m.dirty = false
	pushes := 0
	got := (&Coordinator{circuit: circuit{after: tripAfter, run: tripAfter}}).pick(jobs)
	for _, j := range got {
		if j.kind.pushes() {
			pushes++
		}
	}
	if pushes != 1 || len(got) != 101 || !m.dirty {
		t.Errorf("%d jobs, of them %d pushes, dirty %v", len(got), pushes, m.dirty)
	}
}

// TestStormOverRounds counts the rejected tokens of a minute together, although they come one by one.
func TestStormOverRounds(t *testing.T) {
	r := newRig(t)
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.run(r.out)
	r.out.script(func(p sent) apns.Result {
		if p.Event == "start" {
			return apns.Result{Action: apns.Accepted, Status: 200}
		}
		return apns.Result{Action: apns.Suspend, Status: 400, Reason: "BadDeviceToken"}
	})
	suspended := func() (n int) {
		r.do(func(tx *store.Tx) error {
			all, err := phone.Activities{}.OfMatch(tx, "7")
			for _, s := range all {
				if s.Status == phone.SessionSuspended {
					n++
				}
			}
			return err
		})
		return n
	}
	for i := range 30 {
		user := fmt.Sprintf("u%02d", i)
		r.follow("7", user)
		r.activate("7", user, user)
		r.pass(1500 * time.Millisecond)
	}
	if n := suspended(); n != stormSize-1 {
		t.Errorf("%d suspended, want %d and then no more", n, stormSize-1)
	}
	st := r.coord.Status()
	if len(st.Alarms) != 1 || st.Alarms[0].Reason != AlarmStorm || st.Alarms[0].Advice == "" {
		t.Errorf("status %+v", st.Alarms)
	}
}

// TestNeverHealed ends a suspended session with its match, and says why.
func TestNeverHealed(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.script(func(p sent) apns.Result { return apns.Result{Action: apns.Gone, Status: 410, Reason: "ExpiredToken"} })
	r.score("7", 2, "")
	r.settle()
	r.active("7", cricket.ActiveLive, cricket.PhaseCompleted, r.clk.Now())
	r.pass(20 * time.Minute)
	if s := r.session("7", "ada"); s.Status != phone.SessionEnded || s.EndReason != phone.EndTokenInvalid {
		t.Errorf("%+v", s)
	}
}

// TestTwentyMinutes sends nothing for the 20 minutes in which Apple accepts no new provider token.
func TestTwentyMinutes(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.out.first(1, apns.Result{Action: apns.Stop, Alarm: true, Status: 429, Reason: "TooManyProviderTokenUpdates", RetryAfter: 20 * time.Minute})
	r.score("7", 2, "")
	r.settle()
	r.one()
	if st := r.coord.Status(); st.Paused.Sub(r.clk.Now()) < 19*time.Minute || len(st.Alarms) != 1 {
		t.Errorf("status %+v", st)
	}
	r.pass(20*time.Minute - 5*time.Second)
	r.none("within 20 minutes")
	r.pass(10 * time.Second)
	if p := r.one(); p.Runs != 2 {
		t.Errorf("after 20 minutes %+v", p)
	}
}

// TestNotify sends an administrator's message to devices, and drops dead tokens.
func TestNotify(t *testing.T) {
	r := newRig(t)
	r.fixture("7")
	r.follow("7", "ada")
	r.follow("7", "bob")
	r.run(r.out)
	r.out.script(func(p sent) apns.Result {
		if p.Token == token("dev bob") {
			return apns.Result{Action: apns.Gone, Status: 410, Reason: "Unregistered", Gone: r.clk.Now().Add(time.Second)}
		}
		return apns.Result{Action: apns.Accepted, Status: 200}
	})
	var devices []phone.Device
	r.do(func(tx *store.Tx) error {
		devices = nil
		for _, user := range []string{"ada", "bob"} {
			of, err := phone.Devices{}.OfUser(tx, user)
			if err != nil {
				return err
			}
			devices = append(devices, of...)
		}
		return nil
	})
	got, err := r.coord.Notify(t.Context(), Notice{Devices: devices, Title: "Hello", Body: "you"})
	if err != nil || got.Devices != 2 || got.Accepted != 1 || got.Dropped != 1 || got.Refused["Unregistered"] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if p := r.out.take()[0]; p.Type != apns.TypeAlert || p.body["alert"] == nil {
		t.Errorf("%+v", p)
	}
	if _, err := r.coord.Notify(t.Context(), Notice{Devices: devices}); err == nil {
		t.Error("a notice without text was accepted")
	}
}

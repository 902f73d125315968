package apns

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/internal/clock"
)

// patient suffices for many pushes one after the other, however slow the machine is.
func patient(c *Config) { c.Timeout = time.Minute }

// TestStreamLimits sends a crowd of pushes over a connection that allows one stream at first, then many, then one, then
// a few: never more than it may, and none is lost.
func TestStreamLimits(t *testing.T) {
	r := newRig(t, patient)
	var tokens []string
	for i := range 200 {
		p, err := r.box.AddPhone(sandbox.Phone{Name: "Ada", DeviceID: fmt.Sprint("crowd", i)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, p.DeviceToken)
	}
	for _, limit := range []int{1000, 1, 7, 100} {
		r.box.SetStreams(limit)
		send := func(token string) {
			p := r.push()
			p.Token = token
			if res := r.Send(t.Context(), p); res.Action != Accepted {
				t.Errorf("limit %d: %+v", limit, res)
			}
		}
		send(tokens[0]) // its answer comes behind the SETTINGS: net/http may write one request more while it takes note of them
		var wg sync.WaitGroup
		for _, token := range tokens[1:] {
			wg.Go(func() { send(token) })
		}
		wg.Wait()
		r.pass()
	}
	if beyond, conns := r.box.Beyond(), r.box.Connections(); beyond != 0 || conns != 1 {
		t.Errorf("%d streams beyond the limit, %d connections", beyond, conns)
	}
}

// TestOnePlaceBeforeAnAnswer gives one request a place on a connection whose limits are unknown, and the others
// theirs, in order, once it has answered.
func TestOnePlaceBeforeAnAnswer(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // the test may be over before the handshake is
	srv.StartTLS()
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	l, host := newPool(&Config{RootCAs: roots}), srv.Listener.Addr().String()
	defer l.close()
	l.patience = time.Minute
	var queue []chan turn
	for range 5 {
		_, ready := l.enqueue(host)
		queue = append(queue, ready)
	}
	first := <-queue[0]
	if first.err != nil {
		t.Fatal(first.err)
	}
	for i, ready := range queue[1:] {
		if len(ready) > 0 {
			t.Fatalf("request %d has a place too", i+2)
		}
	}
	l.answered(first.ticket)
	for _, ready := range queue[1:] {
		next := <-ready
		if next.err != nil || next.ticket.conn != first.ticket.conn {
			t.Errorf("%+v, want a place on the same connection", next)
		}
		next.ticket.back()
	}
	first.ticket.back()
}

// TestFirstAnswersRefuse keeps a queue waiting behind one stream whose pushes are refused one by one.
func TestFirstAnswersRefuse(t *testing.T) {
	r := newRig(t, patient)
	r.box.Burst(20, sandbox.Reply{Status: 500, Reason: "InternalServerError"})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if res := r.deliver(t.Context(), r.push()); res.Status == 0 {
				t.Errorf("no answer: %+v", res)
			}
		})
	}
	wg.Wait()
	if n := r.box.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestGoAwayInACrowd ends connections during pushes: each push is answered or sent again, once.
func TestGoAwayInACrowd(t *testing.T) {
	r := newRig(t, patient)
	var phones []sandbox.Phone
	for i := range 100 {
		p, err := r.box.AddPhone(sandbox.Phone{Name: "Ada", DeviceID: fmt.Sprint("crowd", i)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		phones = append(phones, p)
		r.box.Script(p.DeviceToken, 0, sandbox.Reply{Delay: time.Duration(i%5) * time.Millisecond})
	}
	for range 5 {
		var wg sync.WaitGroup
		for i, ph := range phones {
			wg.Go(func() {
				p := r.push()
				p.Token = ph.DeviceToken
				if i%50 == 49 {
					r.box.GoAway()
				}
				if res := r.Send(t.Context(), p); res.Action != Accepted {
					t.Errorf("%+v", res)
				}
			})
		}
		wg.Wait()
		r.pass()
	}
	if got := r.box.Counts()["200"]; got != 500 {
		t.Errorf("%d pushes accepted, want 500", got)
	}
	if r.box.Connections() < 2 {
		t.Error("no connection was replaced")
	}
}

// TestConnectionThatGivesNoStream replaces a connection whose only stream is taken by a push that never gets an answer.
func TestConnectionThatGivesNoStream(t *testing.T) {
	r := newRig(t, patient)
	other, err := r.box.AddPhone(sandbox.Phone{Name: "Bob", DeviceID: "d2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.box.SetStreams(1)
	if res := r.Send(t.Context(), r.push()); res.Action != Accepted {
		t.Fatalf("the first: %+v", res)
	}
	r.pass()
	r.box.Script(r.phone.DeviceToken, 1, sandbox.Reply{Hang: true})
	until := func(open int) {
		for {
			r.pool.mu.Lock()
			n := r.pool.hosts[strings.TrimPrefix(r.cfg.Host, "https://")].conn.InFlight()
			r.pool.mu.Unlock()
			if n == open {
				return
			}
			if err := clock.Sleep(t.Context(), clock.Real(), time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
	}
	until(0)
	ctx, giveUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if res := r.Send(ctx, r.push()); res.Action != Retry || !res.Maybe {
			t.Errorf("what hung: %+v", res)
		}
	})
	until(1)
	r.pool.mu.Lock()
	r.pool.patience = 10 * time.Millisecond
	r.pool.mu.Unlock()
	p := r.push()
	p.Token = other.DeviceToken
	if res := r.Send(t.Context(), p); res.Action != Accepted {
		t.Errorf("what waited: %+v", res)
	}
	if n := r.box.Connections(); n < 2 {
		t.Errorf("%d connections", n)
	}
	giveUp()
	wg.Wait()
}

// TestConnectionOverBeforeAStream has connections end between a place on them and the request, before the first one and
// after some: net/http's words for both are known as those of a request that was not sent. (TestGoAwayInACrowd sends such
// requests again.)
func TestConnectionOverBeforeAStream(t *testing.T) {
	for _, before := range []int{0, 1} {
		r := newRig(t, nil)
		conn, err := r.pool.dial(t.Context(), strings.TrimPrefix(r.cfg.Host, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		request := func() error {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.cfg.Host, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := conn.RoundTrip(req)
			if err == nil {
				_ = res.Body.Close()
			}
			return err
		}
		for range before {
			if err := request(); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if err := request(); err == nil || !unprocessed(err) {
			t.Errorf("after %d requests: %v counts as sent", before, err)
		}
	}
}

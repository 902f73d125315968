package apns

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
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
	if beyond, conns := r.box.StreamsBeyond(), r.box.Connections(); beyond != 0 || conns != 1 {
		t.Errorf("%d streams beyond the limit, %d connections", beyond, conns)
	}
}

// TestOneRequestBeforeAnAnswer sends one request on a connection whose limits are unknown, and the others once it has been
// answered.
func TestOneRequestBeforeAnAnswer(t *testing.T) {
	var arrived atomic.Int32
	release := make(chan struct{})
	srv := serve(t, func(http.ResponseWriter, *http.Request) {
		arrived.Add(1)
		<-release
	})
	l := newPool(&Config{RootCAs: srv.roots})
	defer l.close()
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.host, strings.NewReader("{}"))
			if err != nil {
				t.Error(err)
				return
			}
			res, conn, err := l.roundTrip(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = res.Body.Close()
			conn.endUse()
		})
	}
	wait.Until(t, "all requests wait for the first answer", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		c := l.conns[strings.TrimPrefix(srv.host, "https://")]
		return c != nil && c.under == 5 && arrived.Load() > 0
	})
	for range 20 { // time for the others to arrive too, if nothing held them back
		pause(t)
	}
	if n := arrived.Load(); n != 1 {
		t.Errorf("%d requests before the first answer", n)
	}
	close(release)
	wg.Wait()
	if n := arrived.Load(); n != 5 {
		t.Errorf("%d requests", n)
	}
}

func pause(t *testing.T) {
	t.Helper()
	if err := clock.Sleep(t.Context(), clock.Real(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
}

// TestFirstAnswersRefuse keeps a queue waiting behind one stream whose pushes are refused one by one.
func TestFirstAnswersRefuse(t *testing.T) {
	r := newRig(t, patient)
	r.box.Burst(20, sandbox.Reply{Status: 500, Reason: "InternalServerError"})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if res := r.Send(t.Context(), r.push()); res.Status == 0 {
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

// expiring is a context whose deadline is when its channel is closed.
type expiring struct {
	context.Context
	expired chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.expired }

func (e expiring) Err() error {
	select {
	case <-e.expired:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestNoStream has pushes wait for the only stream of a connection, taken by a push that never gets an answer. One that waits
// in vain has not left. Its connection is replaced, unless others got an answer on it meanwhile.
func TestNoStream(t *testing.T) {
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprint("busy=", busy), func(t *testing.T) {
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
			c := r.pool.conns[strings.TrimPrefix(r.cfg.Host, "https://")]
			underWay := func(n int) bool {
				r.pool.mu.Lock()
				defer r.pool.mu.Unlock()
				return c.under == n
			}
			wait.Until(t, "no push is under way", func() bool { return underWay(0) && c.InFlight() == 0 })
			ctx, giveUp := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				if res := r.Send(ctx, r.push()); res.Action != Retry || !res.Maybe {
					t.Errorf("what hung: %+v", res)
				}
			})
			wait.Until(t, "the push that hangs is under way", func() bool { return c.InFlight() == 1 })
			p := r.push()
			p.Token = other.DeviceToken
			short, waited := expiring{t.Context(), make(chan struct{})}, make(chan Result)
			go func() { waited <- r.Send(short, p) }()
			wait.Until(t, "another push waits", func() bool { return underWay(2) })
			if busy {
				c.answers.Add(1)
			}
			close(short.expired)
			if res := <-waited; res.Action != Retry || res.Maybe {
				t.Errorf("what waited: %+v", res)
			}
			if busy {
				giveUp()
			}
			if res := r.Send(t.Context(), p); res.Action != Accepted {
				t.Errorf("what came after: %+v", res)
			}
			if n := r.box.Connections(); busy != (n == 1) {
				t.Errorf("%d connections", n)
			}
			giveUp()
			wg.Wait()
		})
	}
}

// TestConnectionOverBeforeAStream ends connections before a request, the first one and a later one: nothing of it was read, so
// that it is sent again. (TestGoAwayInACrowd sends such requests.)
func TestConnectionOverBeforeAStream(t *testing.T) {
	for _, before := range []int{0, 1} {
		r := newRig(t, nil)
		c, _ := r.pool.connectionTo(strings.TrimPrefix(r.cfg.Host, "https://"))
		request := func() (left bool, err error) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.cfg.Host, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			sent, body := again(req)
			res, err := c.send(sent)
			if err == nil {
				_ = res.Body.Close()
			}
			return body.seal(), err
		}
		for range before {
			if left, err := request(); err != nil || !left {
				t.Fatal(left, err)
			}
		}
		if before == 0 {
			c.gate <- <-c.gate // it is dialled
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := request(); err == nil || left {
			t.Errorf("after %d requests: %v counts as sent", before, err)
		}
		c.endUse()
	}
}

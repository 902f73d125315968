package faultproxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/touchline/touchline/internal/testrig/faultproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a server that counts what it carries out, a proxy before it, and a client that gives up after a while.
type rig struct {
	*faultproxy.Proxy
	t      *testing.T
	done   atomic.Int64
	client *http.Client
}

func start(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.done.Add(1)
		fmt.Fprintf(w, "%s%s", body, strings.Repeat(".", 2000))
	}))
	t.Cleanup(s.Close)
	r.Proxy = faultproxy.Start(t, new(net.Dialer).DialContext, s.Listener.Addr().String(), 1)
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	r.client = &http.Client{Transport: transport, Timeout: 400 * time.Millisecond}
	t.Cleanup(transport.CloseIdleConnections)
	return r
}

// ask gives the head of an answer that came whole.
func (r *rig) ask() (http.Header, error) {
	resp, err := r.client.Post(r.URL(), "text/plain", strings.NewReader("hello"))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && string(body) != "hello"+strings.Repeat(".", 2000) {
		r.t.Errorf("the answer was changed: %.30q, %d bytes", body, len(body))
	}
	return resp.Header, err
}

func (r *rig) works() {
	r.t.Helper()
	if _, err := r.ask(); err != nil {
		r.t.Errorf("it does not work: %v", err)
	}
}

// carried waits until the server has carried out n requests.
func (r *rig) carried(n int64) {
	r.t.Helper()
	for range 200 {
		if r.done.Load() == n {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	r.t.Errorf("%d requests were carried out, want %d", r.done.Load(), n)
}

func timedOut(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

func TestPasses(t *testing.T) {
	r := start(t)
	for range 5 {
		r.works()
	}
	r.carried(5)
	if n := r.Met(faultproxy.None); n != 5 {
		t.Errorf("%d have passed", n)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		fault   faultproxy.Fault
		effect  int64 // how often the request is carried out
		fails   func(error) bool
		comment string
	}{
		{faultproxy.Refuse, 0, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }, "refused"},
		{faultproxy.Reset, 0, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) }, "reset"},
		{faultproxy.HalfOpen, 0, timedOut, "no answer"},
		{faultproxy.LoseAnswers, 1, timedOut, "no answer"},
		{faultproxy.DropAnswer, 1, broken, "the end"},
		{faultproxy.ResetMidBody, 1, broken, "half an answer"},
	}
	for _, tt := range tests {
		t.Run(tt.fault.String(), func(t *testing.T) {
			r := start(t)
			r.works() // so that a connection is open
			r.Set(faultproxy.Weather{Fault: tt.fault})
			r.client.CloseIdleConnections()
			if _, err := r.ask(); !tt.fails(err) {
				t.Errorf("%v, want %s", err, tt.comment)
			}
			r.carried(1 + tt.effect)
			if r.Met(tt.fault) != 1 {
				t.Errorf("%d requests have met it", r.Met(tt.fault))
			}
			r.Set(faultproxy.Weather{})
			for range 100 { // the port opens again within moments
				if _, err := r.ask(); err == nil {
					return
				}
			}
			t.Error("it does not work when it is over")
		})
	}
}

// A partition says nothing to anybody. Of what was held some arrives when it is over, late, and some never.
func TestPartition(t *testing.T) {
	r := start(t)
	r.client.Timeout = 50 * time.Millisecond
	r.Set(faultproxy.Weather{Fault: faultproxy.Partition})
	const asked = 20
	for range asked {
		if _, err := r.ask(); !timedOut(err) {
			t.Fatalf("%v", err)
		}
	}
	if n := r.done.Load(); n != 0 {
		t.Errorf("%d requests have passed", n)
	}
	r.Set(faultproxy.Weather{})
	r.client.Timeout = time.Second
	r.works()
	for range 100 {
		if r.done.Load() > 1 {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	if n := r.done.Load() - 1; n == 0 || n == asked {
		t.Errorf("%d of %d held requests have arrived", n, asked)
	}
}

func TestSlow(t *testing.T) {
	r := start(t)
	r.client.Timeout = 5 * time.Second
	r.Set(faultproxy.Weather{Fault: faultproxy.Slow, Delay: 50 * time.Millisecond, Rate: 8000})
	began := time.Now()
	r.works()
	if took := time.Since(began); took < 250*time.Millisecond {
		t.Errorf("some 2,100 bytes at 8,000 a second, 100 ms late, took %v", took)
	}
}

func TestDuplicate(t *testing.T) {
	r := start(t)
	r.Set(faultproxy.Weather{Fault: faultproxy.Duplicate, Late: 30 * time.Millisecond})
	r.works()
	r.Set(faultproxy.Weather{})
	r.carried(2)
}

func TestChance(t *testing.T) {
	r := start(t)
	r.Set(faultproxy.Weather{Fault: faultproxy.DropAnswer, Chance: 0.5})
	failed := 0
	for range 60 {
		if _, err := r.ask(); err != nil {
			failed++
		}
	}
	if failed < 15 || failed > 45 || failed != r.Met(faultproxy.DropAnswer) {
		t.Errorf("%d of 60 have failed, %d have met the fault", failed, r.Met(faultproxy.DropAnswer))
	}
}

func TestFlapping(t *testing.T) {
	for _, fault := range []faultproxy.Fault{faultproxy.Refuse, faultproxy.Partition, faultproxy.Reset} {
		t.Run(fault.String(), func(t *testing.T) {
			r := start(t)
			r.client.Timeout = 100 * time.Millisecond
			r.Set(faultproxy.Weather{Fault: fault, Flap: 150 * time.Millisecond})
			worked, failed := 0, 0
			for end := time.Now().Add(time.Second); time.Now().Before(end); {
				if _, err := r.ask(); err == nil {
					worked++
				} else {
					failed++
				}
				r.client.CloseIdleConnections()
			}
			if worked == 0 || failed == 0 {
				t.Errorf("%d have worked, %d not", worked, failed)
			}
		})
	}
}

func TestSkew(t *testing.T) {
	r := start(t)
	r.Skew(-time.Hour)
	head, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	at, err := http.ParseTime(head.Get("Date"))
	if off := time.Until(at) + time.Hour; err != nil || off.Abs() > 5*time.Second {
		t.Errorf("%v, %v", at, err)
	}
}

func TestCut(t *testing.T) {
	r := start(t)
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.works() // by now the connection has been taken
	r.Cut()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(make([]byte, 1)); !broken(err) {
		t.Errorf("%v", err)
	}
}

// A seed makes the same weather, and a server that is gone ends a connection as it should.
func TestDraw(t *testing.T) {
	for _, f := range faultproxy.Faults() {
		a, b := faultproxy.Draw(rand.New(rand.NewPCG(3, 4)), f), faultproxy.Draw(rand.New(rand.NewPCG(3, 4)), f)
		if a != b || a.Fault != f || a.Chance <= 0 {
			t.Errorf("%v: %+v and %+v", f, a, b)
		}
	}
	gone := faultproxy.Start(t, func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("gone") }, "x", 1)
	client := &http.Client{Timeout: time.Second}
	resp, err := client.Get(gone.URL())
	if err == nil {
		resp.Body.Close()
	}
	if !broken(err) {
		t.Errorf("%v", err)
	}
}

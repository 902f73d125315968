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
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/testrig/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a server that counts the requests it carries out, a proxy in front of it, and a client with a timeout.
type rig struct {
	*faultproxy.Proxy
	t      *testing.T
	done   atomic.Int64
	client *http.Client
}

// patience is for things that happen at once, on a busy machine. Tests that nothing happens wait less.
var patience = hang.Limit(time.Minute)

func start(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.done.Add(1)
		fmt.Fprintf(w, "%s%s", body, strings.Repeat(".", 2000))
	}))
	t.Cleanup(s.Close)
	r.Proxy = faultproxy.Start(t, s.Listener.Addr().String(), 1)
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	r.client = &http.Client{Transport: transport, Timeout: patience}
	t.Cleanup(transport.CloseIdleConnections)
	return r
}

// ask returns the header of a complete answer.
func (r *rig) ask() (http.Header, error) { return r.askIn(r.t.Context()) }

func (r *rig) askIn(ctx context.Context) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL(), strings.NewReader("hello"))
	if err != nil {
		return nil, err
	}
	resp, err := r.client.Do(req)
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
	wait.Until(r.t, fmt.Sprintf("%d requests are carried out", n), func() bool { return r.done.Load() == n }, func() any { return r.done.Load() })
}

// askInVain sends a request, and gives up shortly after it has met the fault and the server has carried out n requests.
func (r *rig) askInVain(fault faultproxy.Fault, n int64) error {
	r.t.Helper()
	return r.askUntil("it meets the fault", func() bool { return r.Met(fault) == 1 && r.done.Load() == n }, 200*time.Millisecond)
}

// askUntil sends a request, and gives up some time after a condition is met. An answer that comes by then is returned: none may come.
func (r *rig) askUntil(what string, met func() bool, later time.Duration) error {
	r.t.Helper()
	ctx, giveUp := context.WithCancel(r.t.Context())
	defer giveUp()
	outcome := make(chan error, 1)
	go func() {
		_, err := r.askIn(ctx)
		outcome <- err
	}()
	wait.Until(r.t, "a request is sent until "+what, met, func() any { return fmt.Sprintf("%d were carried out", r.done.Load()) })
	select {
	case err := <-outcome:
		return err
	case <-time.After(later):
	}
	giveUp()
	return <-outcome
}

func gaveUp(err error) bool { return errors.Is(err, context.Canceled) }

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
		{faultproxy.HalfOpen, 0, gaveUp, "no answer"},
		{faultproxy.LoseAnswers, 1, gaveUp, "no answer"},
		{faultproxy.DropAnswer, 1, broken, "the end"},
	}
	for _, tt := range tests {
		t.Run(tt.fault.String(), func(t *testing.T) {
			r := start(t)
			r.works() // so that a connection is open
			r.Set(faultproxy.Conditions{Fault: tt.fault})
			r.client.CloseIdleConnections()
			var err error
			if tt.fault == faultproxy.HalfOpen || tt.fault == faultproxy.LoseAnswers {
				err = r.askInVain(tt.fault, 1+tt.effect)
			} else {
				_, err = r.ask()
			}
			if !tt.fails(err) {
				t.Errorf("%v, want %s", err, tt.comment)
			}
			r.carried(1 + tt.effect)
			if r.Met(tt.fault) != 1 {
				t.Errorf("%d requests have met it", r.Met(tt.fault))
			}
			r.Set(faultproxy.Conditions{})
			r.works()
		})
	}
}

// A partition is silent. After it, some held requests arrive, late, and some never do.
func TestPartition(t *testing.T) {
	r := start(t)
	r.Set(faultproxy.Conditions{Fault: faultproxy.Partition})
	const asked = 20
	for n := range asked {
		if err := r.askUntil("it is held", func() bool { return r.Met(faultproxy.Partition) == n+1 }, 0); !gaveUp(err) {
			t.Fatalf("%v", err)
		}
	}
	if n := r.done.Load(); n != 0 {
		t.Errorf("%d requests have passed", n)
	}
	r.Set(faultproxy.Conditions{})
	r.works()
	wait.Until(t, "a held request arrives", func() bool { return r.done.Load() > 1 })
	if n := r.done.Load() - 1; n == 0 || n == asked {
		t.Errorf("%d of %d held requests have arrived", n, asked)
	}
}

func TestSlow(t *testing.T) {
	r := start(t)
	r.Set(faultproxy.Conditions{Fault: faultproxy.Slow, Delay: 50 * time.Millisecond})
	began := time.Now()
	r.works()
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("50 ms in each direction took %v", took)
	}
}

func TestChance(t *testing.T) {
	r := start(t)
	r.Set(faultproxy.Conditions{Fault: faultproxy.DropAnswer, Chance: 0.5})
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

func TestSkew(t *testing.T) {
	r := start(t)
	r.Skew(-time.Hour)
	began := time.Now()
	head, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	at, err := http.ParseTime(head.Get("Date"))
	if right := at.Add(time.Hour); err != nil || right.Before(began.Truncate(time.Second)) || right.After(time.Now()) {
		t.Errorf("%v, asked at %v: %v", at, began, err)
	}
}

func TestCut(t *testing.T) {
	r := start(t)
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.works() // by now the connection has been hijacked
	r.Cut()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); !broken(err) {
		t.Errorf("%v", err)
	}
}

// A throttled request goes no further, and its answer is DynamoDB's. The latency is that of every request, and of both directions.
func TestThrottle(t *testing.T) {
	r := start(t)
	r.Set(faultproxy.Conditions{Fault: faultproxy.Throttle, Latency: 20 * time.Millisecond})
	began := time.Now()
	resp, err := r.client.Get(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "#ProvisionedThroughputExceededException") {
		t.Errorf("status %d, %s, %v", resp.StatusCode, body, err)
	}
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	r.carried(0)
	if r.Met(faultproxy.Throttle) != 1 {
		t.Errorf("%d requests were throttled", r.Met(faultproxy.Throttle))
	}
	r.Set(faultproxy.Conditions{Latency: 20 * time.Millisecond})
	began = time.Now()
	r.works()
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("without a fault it took %v", took)
	}
}

// A seed always draws the same conditions, and a server that is gone ends a connection as it should.
func TestDraw(t *testing.T) {
	for _, f := range faultproxy.Faults() {
		a, b := faultproxy.Draw(rand.New(rand.NewPCG(3, 4)), f), faultproxy.Draw(rand.New(rand.NewPCG(3, 4)), f)
		if a != b || a.Fault != f || a.Chance <= 0 {
			t.Errorf("%v: %+v and %+v", f, a, b)
		}
	}
	gone := faultproxy.Start(t, "127.0.0.1:"+process.FreePort(t), 1)
	client := &http.Client{Timeout: patience}
	resp, err := client.Get(gone.URL())
	if err == nil {
		resp.Body.Close()
	}
	if !broken(err) {
		t.Errorf("%v", err)
	}
}

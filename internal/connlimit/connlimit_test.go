package connlimit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// leaping is a clock on which every wait ends at once.
type leaping struct {
	clock.Clock
	mu  sync.Mutex
	now time.Time
}

func (c *leaping) Wall() time.Time { return c.Now() }

func (c *leaping) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *leaping) Wait(ctx context.Context, until time.Time, _ *clock.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.After(c.now) {
		c.now = until
	}
	return ctx.Err()
}

func (c *leaping) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// lines is a log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

type rig struct {
	t     *testing.T
	l     *Limiter
	clock *leaping
	addr  string
	log   *lines
	gate  chan struct{} // requests for /slow wait for it
	in    chan struct{} // gets one for each such request
}

func serve(t *testing.T, most int, wrap func(net.Listener) net.Listener) *rig {
	t.Helper()
	return serveWith(t, Config{Most: most}, wrap)
}

func serveWith(t *testing.T, cfg Config, wrap func(net.Listener) net.Listener) *rig {
	t.Helper()
	r := &rig{t: t, log: &lines{}, clock: &leaping{now: time.Unix(1_800_000_000, 0)}, gate: make(chan struct{}), in: make(chan struct{}, 100)}
	cfg.Port, cfg.Log = "test", slog.New(slog.NewTextHandler(r.log, nil))
	if cfg.Clock == nil {
		cfg.Clock = r.clock
	}
	r.l = New(cfg)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	if wrap != nil {
		ln = wrap(ln)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if user := req.Header.Get("User"); user != "" {
			MarkUser(req.Context(), user)
		}
		switch req.URL.Path {
		case "/read":
			_, _ = io.Copy(io.Discard, req.Body)
		case "/no":
			http.Error(w, "no", http.StatusTooManyRequests)
		case "/big":
			_, _ = w.Write(make([]byte, bigAnswer))
		case "/slow":
			r.in <- struct{}{}
			<-r.gate
		case "/take":
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, err = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
			if err != nil {
				t.Error(err)
			}
		}
	})}
	srv.Protocols = new(http.Protocols)
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true)
	guarded := r.l.Guard(srv, ln)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(guarded) }()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
	return r
}

// dial opens a connection that lasts until the end of the test.
func (r *rig) dial() *client {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return &client{Conn: c, r: bufio.NewReader(c)}
}

type client struct {
	net.Conn
	r *bufio.Reader
}

func (c *client) send(path string) { fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path) }

func (c *client) ask(path string) (*http.Response, error) {
	c.send(path)
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.r, nil)
}

func (r *rig) answered(c *client, path string) (status int, closes bool) {
	r.t.Helper()
	resp, err := c.ask(path)
	if err != nil {
		r.t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Close
}

// settled waits until the limiter counts the given number of idle connections: the server notes the end of a request after its answer.
func (r *rig) settled(idle int) {
	r.t.Helper()
	r.counted("idle", idle, func() (n int) {
		for _, c := range r.l.conns {
			if c.idle {
				n++
			}
		}
		return n
	})
}

// counted waits until a count of the limiter, read under its lock, has the wanted value.
func (r *rig) counted(what string, want int, count func() int) {
	r.t.Helper()
	locked := func() int {
		r.l.mu.Lock()
		defer r.l.mu.Unlock()
		return count()
	}
	wait.Until(r.t, fmt.Sprintf("%d %s connections", want, what), func() bool { return locked() == want }, func() any { return locked() })
}

// Idle connections are closed for new ones, with or without an earlier request; the log says so once, with a count.
func TestIdleMakeWay(t *testing.T) {
	r := serve(t, 4, nil)
	for i := range 40 {
		c := r.dial()
		switch i % 4 {
		case 0:
			if r.answered(c, "/"); i == 0 {
				r.settled(1) // so that this one is closed first
			}
		case 1:
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost:")
		}
	}
	if status, _ := r.answered(r.dial(), "/"); status != http.StatusOK {
		t.Fatal(status)
	}
	if text := r.log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=WARN") ||
		!strings.Contains(text, "port=test limit=4 idleClosed=1 slowClosed=0 turnedAway=0") {
		t.Error(text)
	}
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if r.l.closedIdle+r.l.closedSlow < 20 || r.l.turnedAway > 0 || len(r.l.conns) > 4 {
		t.Errorf("%d more were closed, %d turned away, %d are open", r.l.closedIdle, r.l.turnedAway, len(r.l.conns))
	}
}

// Above half of the limit a connection is closed after its answer, so that it need not be evicted.
func TestCrowdedConnectionsAreClosed(t *testing.T) {
	r := serve(t, 6, nil)
	for i := range 6 {
		if _, closes := r.answered(r.dial(), "/"); closes != (i >= 3) {
			t.Errorf("connection %d: close is %v", i, closes)
		}
		r.settled(min(i+1, 3))
	}
}

// Connections with a request in progress are not evicted: others wait, and are turned away with a count. Hijacked connections are not
// evicted either.
func TestBusyDoNotMakeWay(t *testing.T) {
	r := serve(t, 3, nil)
	taken := r.dial()
	r.answered(taken, "/take")
	slow := []*client{r.dial(), r.dial()}
	r.counted("open", 3, func() int { return len(r.l.conns) }) // so that both are told to close
	for _, c := range slow {
		c.send("/slow")
		<-r.in
	}
	for range 5 {
		if resp, err := r.dial().ask("/"); err == nil {
			resp.Body.Close()
			t.Fatal("a fourth connection was answered")
		}
	}
	close(r.gate)
	for _, c := range slow {
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil {
			t.Fatalf("a request that had begun: %v", err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Errorf("a request that had begun: %s", resp.Status)
		}
	}
	r.counted("open", 1, func() int { return len(r.l.conns) }) // both were closed after their answers
	r.answered(r.dial(), "/")
	if text := r.log.String(); !strings.Contains(text, "turnedAway=1") {
		t.Error(text)
	}
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if r.l.turnedAway != 4 {
		t.Errorf("%d more were turned away, want 4", r.l.turnedAway)
	}
}

// A higher limit takes effect at once.
func TestSetMost(t *testing.T) {
	r := serve(t, 1, nil)
	c := r.dial()
	c.send("/slow")
	<-r.in
	r.l.SetMost(2)
	r.answered(r.dial(), "/")
	close(r.gate)
}

// starved has no file descriptors for its first connections.
type starved struct {
	net.Listener
	left int
}

func (s *starved) Accept() (net.Conn, error) {
	if s.left > 0 {
		s.left--
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}

// Without file descriptors idle connections are closed, and the log says why.
func TestOutOfFiles(t *testing.T) {
	r := serve(t, 8, func(ln net.Listener) net.Listener { return &starved{ln, 1} })
	r.answered(r.dial(), "/") // net/http tries again: nothing was idle
	text := r.log.String()
	if !strings.Contains(text, "out of file descriptors (ulimit -n)") || !strings.Contains(text, "limit=8 idleClosed=0") {
		t.Error(text)
	}
	if !outOfFiles(fmt.Errorf("accept: %w", syscall.ENFILE)) || outOfFiles(errors.New("other")) {
		t.Error("errors are told apart wrongly")
	}
	r.settled(1)
	if !r.l.outOfFiles() {
		t.Error("no idle connection was closed")
	}
	r.settled(0)
}

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		files  int
		wanted []int
		want   []int
	}{
		{-1, []int{9216, 8192}, []int{9216, 8192}},
		{1 << 20, []int{9216, 8192}, []int{9216, 8192}},
		{17_408 + mostReserve, []int{9216, 8192}, []int{9216, 8192}},
		{1024, []int{9216, 8192}, []int{406, 361}},
		{1024, []int{9216, 0}, []int{768, 0}},
		{64, []int{9216, 8192}, []int{21, 18}},
		{64, []int{9216, 0}, []int{40, 0}},
		{10, []int{9216, 8192}, []int{4, 4}},
	} {
		if got := Share(tt.files, tt.wanted...); !slices.Equal(got, tt.want) {
			t.Errorf("%d files for %v: %v, want %v", tt.files, tt.wanted, got, tt.want)
		}
	}
	if Files() == 0 {
		t.Error("no files")
	}
}

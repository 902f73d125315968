package connlimit

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// bigAnswer is more than the kernel buffers of a connection.
const bigAnswer = 32 << 20

// visitors is a listener whose connections come from the addresses that clients were given.
type visitors struct {
	net.Listener
	mu   sync.Mutex
	from map[string]string // by the client's own end
}

func (v *visitors) Accept() (net.Conn, error) {
	c, err := v.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return &visitor{c, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(v.from[c.RemoteAddr().String()]))}, nil
}

type visitor struct {
	net.Conn
	from net.Addr
}

func (v *visitor) RemoteAddr() net.Addr { return v.from }

// street is a port whose visitors have addresses.
type street struct {
	*rig
	door *visitors
}

func serveStreet(t *testing.T, cfg Config) *street {
	t.Helper()
	v := &visitors{from: map[string]string{}}
	return &street{serveWith(t, cfg, func(ln net.Listener) net.Listener {
		v.Listener = ln
		return v
	}), v}
}

// from opens a connection from an address.
func (s *street) from(addr string) *client {
	s.t.Helper()
	s.door.mu.Lock() // nobody is accepted before the address is known
	defer s.door.mu.Unlock()
	c := s.dial()
	s.door.from[c.LocalAddr().String()] = netip.AddrPortFrom(netip.MustParseAddr(addr), 40_000).String()
	return c
}

// drip begins a request whose body arrives only in part, and waits until the handler waits for the rest.
func (s *street) drip(c *client, bytes int, header ...string) *client {
	s.t.Helper()
	before := s.l.waiting()
	fmt.Fprintf(c, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n%s\r\n%s", strings.Join(append(header, ""), "\r\n"), strings.Repeat("x", bytes))
	s.counted("waiting", before+1, func() int { return s.l.waitingLocked() })
	return c
}

func (l *Limiter) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitingLocked()
}

// waitingLocked returns on how many connections a handler waits for a body of which everything sent has arrived.
func (l *Limiter) waitingLocked() (n int) {
	for _, c := range l.conns {
		if len(c.pending) > 0 && c.pending[0].reading.Load() {
			n++
		}
	}
	return n
}

// keeps reports whether the server has kept a connection.
func (s *street) keeps(c *client) bool {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	for _, kept := range s.l.conns {
		if v, ok := kept.Conn.(*visitor); ok && v.Conn.RemoteAddr().String() == c.LocalAddr().String() {
			return true
		}
	}
	return false
}

// cut waits until the server has closed a connection.
func cut(t *testing.T, c *client, which string) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.r.Peek(1); err == nil {
		t.Errorf("%s is answered", which)
	} else if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // it is that one
		t.Errorf("%s stays open", which)
	}
}

// A port full of requests whose bodies drip lets others in, before the bodies have become idle and after.
func TestSlowBodiesMakeWay(t *testing.T) {
	for name, later := range map[string]time.Duration{"at once": 0, "after a while": time.Minute} {
		t.Run(name, func(t *testing.T) {
			s := serveStreet(t, Config{Most: 4})
			var drips []*client
			for range 4 {
				drips = append(drips, s.drip(s.from("192.0.2.1"), 1))
			}
			s.clock.advance(later)
			for i := range 8 {
				if status, _ := s.answered(s.from(fmt.Sprintf("198.51.100.%d", i)), "/"); status != http.StatusOK {
					t.Fatal(status)
				}
			}
			cut(t, drips[0], "the first of the drips")
			if s.l.turnedAway > 0 {
				t.Errorf("%d were turned away", s.l.turnedAway)
			}
		})
	}
}

// A body that keeps its rate does not count as idle, and one that is worked on is never closed.
func TestBodiesAreDue(t *testing.T) {
	l := New(Config{Most: 1})
	c := &conn{l: l, addr: nobody}
	r := &request{conn: c, own: true, length: -1, begun: time.Second}
	c.pending = []*request{r}
	if _, waits := c.dueAt(); waits {
		t.Error("a request that is worked on waits for its client")
	}
	r.reading.Store(true)
	if at, waits := c.dueAt(); !waits || at != 11*time.Second {
		t.Errorf("without a byte: %v, %v", at, waits)
	}
	r.got.Store(512 * 60) // what keeps the rate for a minute
	if at, _ := c.dueAt(); at != 71*time.Second {
		t.Errorf("with the bytes of a minute: %v", at)
	}
	r.answered.Store(int64(3 * time.Second)) // a refusal: nobody needs the rest
	if at, _ := c.dueAt(); at != 3*time.Second {
		t.Errorf("after the answer: %v", at)
	}
	r.sending.Store(int64(5 * time.Second))
	c.sent.Store(512 * 5)
	if at, _ := c.dueAt(); at != 20*time.Second {
		t.Errorf("while the answer is sent: %v", at)
	}
	c.pending = append(c.pending, &request{conn: c}) // HTTP/2: another one is worked on
	if _, waits := c.dueAt(); waits {
		t.Error("a connection with a request that is worked on waits for its client")
	}
	c.pending, c.since = nil, time.Minute
	if at, waits := c.dueAt(); !waits || at != 70*time.Second {
		t.Errorf("while a head arrives: %v, %v", at, waits)
	}
	c.idle = true
	if at, waits := c.dueAt(); !waits || at != time.Minute {
		t.Errorf("between requests: %v, %v", at, waits)
	}
}

// Room is made by the address that has most, there by the slowest, and by signed-in users last: a club house whose scorers share its
// address with strangers keeps them.
func TestOrderOfEviction(t *testing.T) {
	s := serveStreet(t, Config{Most: 6})
	scorers := []*client{s.drip(s.from("192.0.2.1"), 1, "User: ann"), s.drip(s.from("192.0.2.1"), 1, "User: bob")}
	fast, slow := s.drip(s.from("192.0.2.1"), 4096), s.drip(s.from("192.0.2.1"), 1)
	wait.Until(t, "the bytes of the faster one", func() bool { return s.l.received() >= 4096+3 })
	other := s.drip(s.from("198.51.100.1"), 1)
	idle := s.from("203.0.113.1")
	s.answered(idle, "/no") // closed by its answer
	idle = s.from("203.0.113.1")
	s.counted("open", 6, func() int { return len(s.l.conns) })
	s.clock.advance(time.Minute)

	next := func() {
		s.from("203.0.113.9").send("/slow")
		<-s.in
	}
	next()
	cut(t, slow, "the slowest of the address that has most")
	for _, c := range append(scorers, fast, other, idle) {
		if !s.keeps(c) {
			t.Fatal("another one is closed too")
		}
	}
	for range []*client{fast, other, idle} { // one of each address
		next()
	}
	for which, c := range map[string]*client{"the faster one": fast, "the other address's": other, "the idle one": idle} {
		cut(t, c, which)
	}
	for _, c := range scorers {
		if !s.keeps(c) {
			t.Error("a scorer is closed before strangers")
		}
	}
	close(s.gate)
}

func (l *Limiter) received() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		for _, r := range c.pending {
			n += r.got.Load()
		}
	}
	return n
}

// A user has only so many connections kept, or one account could hold the port.
func TestMarksAreBounded(t *testing.T) {
	s := serveStreet(t, Config{Most: 100})
	for i := range 2 * userConnections {
		s.drip(s.from(fmt.Sprintf("192.0.2.%d", i)), 1, "User: ann")
	}
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	marked := 0
	for _, c := range s.l.conns {
		if c.marked {
			marked++
		}
	}
	if marked != userConnections || s.l.users["ann"] != userConnections {
		t.Errorf("%d marked, %d counted, want %d", marked, s.l.users["ann"], userConnections)
	}
}

// One address, or one /64 network, has a share of the port: beyond it, its connections replace each other, and others' are left alone.
func TestShareOfAnAddress(t *testing.T) {
	for _, tt := range []struct{ name, one, same, other string }{
		{"IPv4", "192.0.2.1", "192.0.2.1", "192.0.2.2"},
		{"IPv6", "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"},
		{"IPv4 in IPv6", "::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serveStreet(t, Config{Most: 100})
			other := s.drip(s.from(tt.other), 1)
			first := s.drip(s.from(tt.one), 1)
			for range 24 {
				s.drip(s.from(tt.same), 1)
			}
			last := s.from(tt.one)
			s.answered(last, "/")
			cut(t, first, "the first of the address")
			if !s.keeps(other) {
				t.Error("another address's is closed")
			}
			s.l.mu.Lock()
			defer s.l.mu.Unlock()
			if n := s.l.addresses[network(netip.MustParseAddr(tt.one))].open; n > 25 {
				t.Errorf("the address has %d connections", n)
			}
		})
	}
}

// Connections on which requests are worked on are not replaced: one that is too many for its address is turned away at once, and others
// do not wait for that.
func TestShareOfABusyAddress(t *testing.T) {
	s := serveStreet(t, Config{Most: 100})
	for range 25 {
		c := s.from("192.0.2.1")
		c.send("/slow")
		<-s.in
	}
	cut(t, s.from("192.0.2.1"), "the one too many")
	if status, _ := s.answered(s.from("192.0.2.2"), "/"); status != http.StatusOK {
		t.Error(status)
	}
	close(s.gate)
}

// trusting trusts one proxy, and takes its word.
type trusting struct{}

func (trusting) Trusts(peer netip.Addr) bool { return peer == netip.MustParseAddr("10.0.0.1") }

func (trusting) Client(r *http.Request) netip.Addr {
	addr, _ := netip.ParseAddr(r.Header.Get("X-Forwarded-For"))
	return addr
}

// The connections of a trusted proxy have no share; its clients have, by the address that it names.
func TestShareBehindAProxy(t *testing.T) {
	s := serveStreet(t, Config{Most: 100, Proxies: trusting{}})
	var drips []*client
	for range 25 {
		drips = append(drips, s.drip(s.from("10.0.0.1"), 1, "X-Forwarded-For: 192.0.2.1"))
	}
	last := s.from("10.0.0.1")
	fmt.Fprint(last, "POST /read HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 1000000\r\n\r\nx")
	cut(t, drips[0], "the first of the client")
	for i := range 60 { // more than a share
		c := s.from("10.0.0.1")
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.%d\r\n\r\n", i)
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
	}
	for _, c := range drips[1:] {
		c.Close()
	}
	last.Close()
	s.counted("addresses", 0, func() int { return len(s.l.addresses) })
}

// A client with as many requests in progress behind a proxy as one may have is refused the next one.
func TestBusyClientBehindAProxy(t *testing.T) {
	s := serveStreet(t, Config{Most: 100, Proxies: trusting{}})
	for range 25 {
		c := s.from("10.0.0.1")
		fmt.Fprint(c, "GET /slow HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
		<-s.in
	}
	for addr, want := range map[string]int{"192.0.2.1": http.StatusServiceUnavailable, "192.0.2.2": http.StatusOK} {
		c := s.from("10.0.0.1")
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\n\r\n", addr)
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%s: %s", addr, resp.Status)
		}
	}
	close(s.gate)
}

// Only so many bodies are under way at once, however many connections are free.
func TestBodiesUnderWayAreBounded(t *testing.T) {
	s := serveStreet(t, Config{Most: 800})
	for i := range 150 {
		c := s.from(fmt.Sprintf("192.0.2.%d", i))
		fmt.Fprint(c, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx")
		s.counted("waiting", min(i+1, 100), s.l.waitingLocked)
	}
	if n := s.l.arriving.Load(); n != 100 {
		t.Errorf("%d bodies are counted", n)
	}
}

// A client that does not read its answer makes way.
func TestSlowReadersMakeWay(t *testing.T) {
	s := serveStreet(t, Config{Most: 2})
	for range 2 {
		s.from("192.0.2.1").send("/big")
	}
	s.counted("sending", 2, func() (n int) {
		for _, c := range s.l.conns {
			if len(c.pending) == 1 && c.pending[0].sending.Load() != 0 {
				n++
			}
		}
		return n
	})
	if status, _ := s.answered(s.from("192.0.2.2"), "/"); status != http.StatusOK {
		t.Error(status)
	}
}

// A dripping stream of HTTP/2 makes way like a connection of HTTP/1, and a client has its share of streams.
func TestSlowStreamsMakeWay(t *testing.T) {
	s := serveStreet(t, Config{Most: 2})
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	ended := make(chan error, 2)
	for range 2 {
		c := s.from("192.0.2.1")
		transport := &http.Transport{Protocols: &protocols, Dial: func(string, string) (net.Conn, error) { return c.Conn, nil }} //nolint:staticcheck // the connection is there
		body, drip := io.Pipe()
		t.Cleanup(func() { drip.Close(); transport.CloseIdleConnections() })
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/read", body)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			resp, err := transport.RoundTrip(req)
			if err == nil {
				err = resp.Body.Close()
			}
			ended <- err
		}()
		if _, err := drip.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	s.counted("waiting", 2, s.l.waitingLocked)
	if status, _ := s.answered(s.from("192.0.2.2"), "/"); status != http.StatusOK {
		t.Error(status)
	}
	if err := <-ended; err == nil {
		t.Error("both streams are kept")
	}
}

// A refusal does not wait for the body of its request, and ends the connection. Another answer waits a moment, so that the connection of
// a client that sends its body can be used again.
func TestAnswersDoNotWaitForBodies(t *testing.T) {
	for _, tt := range []struct {
		name, path, head, body string
		status                 int
		closes                 bool
	}{
		{"refused, no body comes", "/no", "Content-Length: 100000", "", http.StatusTooManyRequests, true},
		{"refused, chunks", "/no", "Transfer-Encoding: chunked", "1\r\nx\r\n", http.StatusTooManyRequests, true},
		{"refused, the body is there", "/no", "Content-Length: 3", "abc", http.StatusTooManyRequests, true},
		{"answered, no body comes", "/", "Content-Length: 100000", "x", http.StatusOK, true},
		{"answered, the body is there", "/", "Content-Length: 3", "abc", http.StatusOK, false},
		{"read", "/read", "Content-Length: 3", "abc", http.StatusOK, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := serveWith(t, Config{Most: 100, Clock: clock.Real()}, nil) // deadlines of connections are the kernel's
			c := r.dial()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n%s", tt.path, tt.head, tt.body)
			if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(c.r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != tt.status || resp.Close != tt.closes {
				t.Errorf("%s, closes: %v", resp.Status, resp.Close)
			}
			if tt.closes {
				r.counted("open", 0, func() int { return len(r.l.conns) })
			} else if status, _ := r.answered(c, "/"); status != http.StatusOK {
				t.Error(status)
			}
		})
	}
}

package faultproxy

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/process"
)

// Proxy forwards to one server. Its methods may be called from any goroutine.
type Proxy struct {
	failed func(error) // called if the proxy cannot listen again
	addr   string      // of the proxy
	to     string
	server *http.Server    // for clients
	behind *http.Transport // to the server behind the proxy
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup // requests in progress, and the server

	mu         sync.Mutex
	listener   net.Listener // nil while connections are refused
	rng        *rand.Rand
	conditions Conditions
	offset     time.Duration // of the server's clock
	conns      map[net.Conn]bool
	met        [numFaults]int
	passed     int
}

// tick is how often the proxy checks whether a partition has ended.
const tick = 10 * time.Millisecond

// Start opens a proxy until the test ends.
func Start(t testing.TB, to string, seed uint64) *Proxy {
	t.Helper()
	p, err := Open(t.Context(), to, seed, func(err error) { t.Errorf("the proxy cannot listen: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Open listens on a loopback port until Close, and forwards to the server at an address. failed is called if the proxy cannot listen again
// after it has refused connections.
func Open(ctx context.Context, to string, seed uint64, failed func(error)) (*Proxy, error) {
	port, err := process.Port(ctx)
	if err != nil {
		return nil, err
	}
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &Proxy{
		failed: failed, addr: "127.0.0.1:" + port, to: to, ctx: inner, cancel: cancel,
		behind: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		rng:    rand.New(rand.NewPCG(seed, 0)), conns: map[net.Conn]bool{},
	}
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.forward), ConnState: p.keep, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	if err := p.listen(); err != nil {
		cancel()
		return nil, err
	}
	return p, nil
}

// URL returns the proxy's URL, for clients.
func (p *Proxy) URL() string { return "http://" + p.addr }

// Set changes the conditions, also for requests in progress.
func (p *Proxy) Set(c Conditions) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conditions = c
	switch {
	case c.Fault == Refuse && p.listener != nil:
		_ = p.listener.Close()
		p.listener = nil
		p.met[Refuse]++
		for conn := range p.conns {
			reset(conn)
		}
	case c.Fault != Refuse && p.listener == nil:
		if err := p.listen(); err != nil {
			p.failed(err)
		}
	}
}

// listen accepts connections until the listener is closed.
func (p *Proxy) listen() error {
	l, err := new(net.ListenConfig).Listen(p.ctx, "tcp", p.addr)
	if err != nil {
		return err
	}
	p.listener = l
	p.group.Go(func() { _ = p.server.Serve(l) })
	return nil
}

// Skew makes the server's clock appear wrong by d in its answers.
func (p *Proxy) Skew(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offset = d
}

// Cut resets every open connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		reset(c)
	}
}

// Met returns how many requests have met a fault; for None, how many have passed unharmed.
func (p *Proxy) Met(f Fault) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f == None {
		return p.passed
	}
	return p.met[f]
}

// Close ends all connections and waits for them.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.cancel()
	_ = p.server.Close()
	for c := range p.conns { // connections that a fault has hijacked
		_ = c.Close()
	}
	p.mu.Unlock()
	p.group.Wait()
	p.behind.CloseIdleConnections()
}

// keep tracks which connections are open.
func (p *Proxy) keep(c net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ctx.Err() != nil:
		_ = c.Close()
	case state == http.StateNew:
		p.conns[c] = true
	case state == http.StateClosed:
		delete(p.conns, c)
	}
}

// meets draws the fault that a request meets.
func (p *Proxy) meets() Conditions {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.conditions
	all := c.Chance == 0 || c.Fault == Partition || c.Fault == Refuse
	if c.Fault == None || !all && p.rng.Float64() >= c.Chance {
		p.passed++
		return Conditions{Latency: c.Latency}
	}
	p.met[c.Fault]++
	return c
}

// outlast waits for the end of a partition and reports whether a held request still arrives.
func (p *Proxy) outlast() (arrives bool) {
	for p.cutOff() && p.ctx.Err() == nil {
		p.wait(tick)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ctx.Err() == nil && p.rng.IntN(2) == 0
}

// reset closes a connection so that the other end gets an error.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

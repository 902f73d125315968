package sse

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// oneConn is a listener with one connection.
type oneConn struct {
	conns chan net.Conn
	gone  context.Context
}

func (l oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.gone.Done():
		return nil, http.ErrServerClosed
	}
}

func (oneConn) Close() error   { return nil }
func (oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// A stream that is silent for longer than the limits of a batch and of an answer stays open over HTTP/1.1 and HTTP/2. One whose client
// does not read ends.
func TestSilentStreamGoesOn(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := streamOver(t, h2, func(out *Conn) error {
				err := out.Open()
				for range 4 {
					_ = clock.Sleep(t.Context(), clock.Real(), 15*time.Second)
					err = errors.Join(err, out.Beat())
				}
				return errors.Join(err, out.Goodbye(7*time.Second))
			})
			text, err := io.ReadAll(c.body)
			if told := <-c.ended; err != nil || told != nil || !strings.HasSuffix(string(text), "retry: 7000\n\n") || (c.proto == "HTTP/2.0") != h2 {
				t.Errorf("%s: %q %v, ended with %v", c.proto, text, err, told)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			c := streamOver(t, h2, func(out *Conn) error {
				err := out.Open()
				for err == nil {
					err = out.Send(Frame{enc: &encoded{plain: make([]byte, 1<<16)}})
				}
				return err
			})
			if err := <-c.ended; err == nil || time.Since(began) != writeWithin {
				t.Errorf("%s: ended with %v after %s", c.proto, err, time.Since(began))
			}
		})
	}
}

// streamed is a stream as its client sees it.
type streamed struct {
	proto string
	body  io.Reader
	ended <-chan error // outcome on the server's side
}

// streamOver makes a server stream what write sends.
func streamOver(t *testing.T, h2 bool, write func(out *Conn) error) streamed {
	t.Helper()
	var p http.Protocols
	p.SetHTTP1(!h2)
	p.SetUnencryptedHTTP2(h2)
	ctx, end := context.WithCancel(t.Context())
	ours, theirs := net.Pipe()
	ln, told := oneConn{make(chan net.Conn, 1), ctx}, make(chan error, 1)
	ln.conns <- theirs
	srv := &http.Server{Protocols: &p, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		told <- write(New(w, clock.Real(), NewEncoder()))
	})}
	go func() { _ = srv.Serve(ln) }()
	tr := &http.Transport{Protocols: &p, DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node.example/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		resp.Body.Close()
		tr.CloseIdleConnections()
		end()
		_ = srv.Close()
	})
	return streamed{resp.Proto, resp.Body, told}
}

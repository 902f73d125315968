package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
)

// safeLog is a log that can be read while it is written.
type safeLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// asks sends a request over a connection that stays open, and returns the status.
func asks(t *testing.T, addr, path string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

// Idle connections, before or after a request, do not block the port for others.
func TestIdleConnectionsDoNotHoldThePort(t *testing.T) {
	cfg, _ := config(t)
	cfg.MaxConnections = 8
	var told safeLog
	cfg.Logger = slog.New(slog.NewTextHandler(&told, nil))
	url, _ := start(t, cfg)
	addr := strings.TrimPrefix(url, "http://")
	for range 4 {
		asks(t, addr, "/livez")
	}
	for range 40 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for range 20 {
		if status := asks(t, addr, "/livez"); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	if text := told.String(); strings.Count(text, "too many connections") != 1 || !strings.Contains(text, "port=http limit=8 idleClosed=") {
		t.Error(text)
	}
}

// A user may have 16 open streams from any addresses; others and the API key have their own limits, and a closed stream frees its
// place.
func TestStreamsOfAUser(t *testing.T) {
	cfg, _ := config(t)
	cfg.Heartbeat = time.Hour
	s := newServer(t, cfg)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	url := "http://" + ln.Addr().String()
	paths := []string{streamPath, "/counter/stream", listenPath}
	var open []*web.Stream
	for i := range 16 {
		c := web.Open(t, url+paths[i%3], nil)
		if c.Resp.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: %s", i, c.Resp.Status)
		}
		open = append(open, c)
	}
	for _, path := range paths {
		c := web.Open(t, url+path, nil)
		body, err := io.ReadAll(c.Resp.Body)
		if err != nil || c.Resp.StatusCode != http.StatusTooManyRequests || c.Resp.Header.Get("Retry-After") != "30" {
			t.Errorf("%s: %s %v", path, c.Resp.Status, c.Resp.Header)
		}
		want := `"message":"You have 16 open streams, the most allowed: close one first.","oops":"stream_limit"`
		if strings.HasPrefix(path, "/_/") {
			want = `"code":"stream_limit"`
		}
		if !strings.Contains(string(body), want) {
			t.Errorf("%s: %s", path, body)
		}
	}
	for range 17 {
		if c := web.Open(t, url+streamPath, map[string]string{"X-API-Key": "key"}); c.Resp.StatusCode != http.StatusOK {
			t.Fatalf("the API key: %s", c.Resp.Status)
		}
	}
	if c := web.Open(t, url+streamPath, map[string]string{"Authorization": "Bearer u1"}); c.Resp.StatusCode != http.StatusOK {
		t.Errorf("another user: %s", c.Resp.Status)
	}
	open[0].Close()
	wait.Until(t, "room", func() bool {
		s.readers.mu.Lock()
		defer s.readers.mu.Unlock()
		return s.readers.of["user u0"] < 16
	})
	if c := web.Open(t, url+streamPath, nil); c.Resp.StatusCode != http.StatusOK {
		t.Errorf("after one has ended: %s", c.Resp.Status)
	}
}

// If there are few connections, a quarter of them is reserved for short requests.
func TestLimitStreams(t *testing.T) {
	for _, tt := range []struct{ streams, connections, wantStreams, wantConnections int }{
		{0, 0, 8192, 9216},
		{100, 0, 100, 1124},
		{8192, 40, 30, 40},
		{5, 40, 5, 40},
		{8192, 4, 3, 4},
		{1, 1, 1, 1},
	} {
		c := Limits{MaxStreams: tt.streams, MaxConnections: tt.connections}.withDefaults()
		if c.MaxStreams != tt.wantStreams || c.MaxConnections != tt.wantConnections {
			t.Errorf("%+v: %d streams, %d connections", tt, c.MaxStreams, c.MaxConnections)
		}
	}
}

// A request that is refused before its body has been read is answered at once, and its connection is closed: a client that drips its
// body holds nothing.
func TestRefusalsDoNotWaitForBodies(t *testing.T) {
	const key = "X-API-Key: " + web.Key + "\r\n"
	for name, tt := range map[string]struct {
		path, headers string
		before        int // requests of the same client before
		status        int
	}{
		"bad request":         {"/signin", "Content-Type: text/plain\r\n", 0, http.StatusBadRequest},
		"not signed in":       {"/counter/counts/c1", "Content-Type: application/json\r\n", 0, http.StatusUnauthorized},
		"no such application": {"/nothing", key, 0, http.StatusNotFound},
		"no such route":       {"/counter/nothing", key, 0, http.StatusNotFound},
		"too many requests":   {"/counter/counts/c1", key, 3, http.StatusTooManyRequests},
	} {
		for kind, body := range map[string]struct{ head, begin string }{
			"no byte comes":  {"Content-Length: 100000", ""},
			"one byte comes": {"Content-Length: 100000", "{"},
			"a chunk comes":  {"Transfer-Encoding: chunked", "1\r\n{\r\n"},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := limitedServer(t, 1, 3)
					for range tt.before {
						web.Ask(s.Handler(), "GET", "/counter/counts", "", "X-API-Key", web.Key)
					}
					to := web.NewPipes()
					web.RunOn(t, s, to)
					c, err := to.Dial(t.Context(), "", "")
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					go fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n\r\n%s", tt.path, tt.headers, body.head, body.begin)
					begun := time.Now()
					from := bufio.NewReader(c)
					resp, err := http.ReadResponse(from, nil)
					if err != nil {
						t.Fatal(err)
					}
					_, err = io.Copy(io.Discard, resp.Body)
					if took := time.Since(begun); err != nil || resp.Body.Close() != nil || resp.StatusCode != tt.status || took > 0 {
						t.Errorf("%s after %s, %v, want %d at once", resp.Status, took, err, tt.status)
					}
					if _, err := from.ReadByte(); err != io.EOF || !resp.Close || time.Since(begun) > 2*time.Second {
						t.Errorf("the connection after %s: %v, closes: %t", time.Since(begun), err, resp.Close)
					}
				})
			})
		}
	}
}

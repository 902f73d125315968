// Package web helps test HTTP servers: requests without a listener, servers on ports of their own, event streams and sign-in.
package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/wait"
)

// Runner is a server.
type Runner interface {
	// Run serves on ln until ctx ends.
	Run(ctx context.Context, ln net.Listener) error
}

// Run runs a server on a port of its own until stop or the end of the test.
func Run(t testing.TB, s Runner) (address string, stop func() error) {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + ln.Addr().String(), RunOn(t, s, ln)
}

// RunOn runs a server on a listener until stop or the end of the test.
func RunOn(t testing.TB, s Runner, ln net.Listener) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, ln) }()
	stop = sync.OnceValue(func() error {
		cancel()
		var err error
		ended := func() bool {
			select {
			case err = <-done:
				return true
			default:
				return false
			}
		}
		if hangs := wait.Try(time.Minute, "the server ends", ended); hangs != nil {
			return hangs
		}
		return err
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

// Client returns a client without persistent connections, so that none outlives its test.
func Client(t testing.TB) *http.Client {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: time.Minute}
}

// Ask sends a request to a handler without a listener, with headers given as name and value.
func Ask(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.RemoteAddr = "203.0.113.9:40000"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "RemoteAddr" {
			r.RemoteAddr = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	if strings.HasSuffix(r.URL.Path, "/stream") { // otherwise an accepted stream would not end
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		r = r.WithContext(ctx)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Code returns the code of an error, in any of its formats.
func Code(w *httptest.ResponseRecorder) string {
	var body struct {
		Code  string
		Error struct{ Code string }
		Oops  string // of applications made for tests
	}
	if json.Unmarshal(w.Body.Bytes(), &body) != nil {
		return ""
	}
	return body.Code + body.Error.Code + body.Oops
}

package serve_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/serve"
	"github.com/touchline/touchline/internal/testrig/web"
)

// After ending has been called, requests in progress are finished; one that takes too long is cut off, and the log says so.
func TestUntil(t *testing.T) {
	for name, c := range map[string]struct {
		drain    time.Duration
		finishes bool
	}{"finished": {time.Minute, true}, "cut off": {time.Millisecond, false}} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			begun, told := make(chan struct{}), make(chan struct{})
			srv := &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.NewTextHandler(&text, nil), slog.LevelWarn), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				<-told
				if !c.finishes {
					<-r.Context().Done()
				}
				_, _ = io.WriteString(w, "whole")
			})}
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- serve.RunServer(ctx, srv, ln, c.drain, func() { close(told) }) }()
			answer, client := make(chan string, 1), web.Client(t)
			go func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ln.Addr().String(), http.NoBody)
				if err != nil {
					answer <- err.Error()
					return
				}
				resp, err := client.Do(req)
				if err != nil {
					answer <- ""
					return
				}
				defer resp.Body.Close()
				body, _ := io.ReadAll(resp.Body) // as much as arrived
				answer <- string(body)
			}()
			<-begun
			end()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if got := <-answer; (got == "whole") != c.finishes || strings.Contains(text.String(), "requests cut off at shutdown") == c.finishes {
				t.Errorf("answered %q, log: %s", got, text.String())
			}
		})
	}
}

// A listener that fails is an error.
func TestBrokenListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute}
	if err := serve.RunServer(t.Context(), srv, ln, time.Minute, nil); err == nil || !strings.HasPrefix(err.Error(), "serve: accept") {
		t.Error(err)
	}
}

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"gzip": true, "deflate, GZIP;q=0.5": true, "br": false, "": false, "gzip;q=0": false, "gzip ; q=0.000": false, "gzip;Q=0.0": false,
		"gzip;q=0, br": false, "gzip;q=0, gzip;q=1.0": true, "gzip;q=0.001": true, "xgzip": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", header)
		if got := serve.AcceptsGzip(r); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/touchline/touchline/internal/clock"
)

// One port answers TLS and plain HTTP, while other connections send nothing; closing it ends these.
func TestListen(t *testing.T) {
	defer goleak.VerifyNone(t)
	ca := newCA(t, t.TempDir(), time.Now())
	local, err := OpenLocal(ca, nil, clock.Real(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{TLSConfig: Config(local), ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
		if r.TLS != nil {
			_, _ = io.WriteString(w, " by TLS")
		}
	})}
	ln := Listen(raw, srv.TLSConfig)
	var loop sync.WaitGroup
	loop.Go(func() { _ = srv.Serve(ln) })
	defer loop.Wait()
	defer srv.Close()
	var silent []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", raw.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.Cert)
	for _, tt := range []struct {
		url  string
		h2   bool
		want string
	}{{"http://", false, "HTTP/1.1"}, {"https://", true, "HTTP/2.0 by TLS"}, {"https://", false, "HTTP/1.1 by TLS"}, {"http://", false, "HTTP/1.1"}} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: tt.h2}
		resp, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Get(tt.url + raw.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		transport.CloseIdleConnections()
		if string(body) != tt.want {
			t.Errorf("%s: %q, want %q", tt.url, body, tt.want)
		}
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range silent {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a silent connection outlives its port")
		}
	}
}

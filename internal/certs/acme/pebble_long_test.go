//go:build long

package acme

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/libdns/libdns"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/pebble"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// testDNS changes records on the CA's DNS server.
type testDNS struct{ *pebble.CA }

func (d testDNS) ListZones(context.Context) ([]libdns.Zone, error) {
	return []libdns.Zone{{Name: "example."}, {Name: "club.example."}}, nil
}

func (d testDNS) AppendRecords(ctx context.Context, zone string, rs []libdns.Record) ([]libdns.Record, error) {
	if zone != "club.example." {
		return nil, fmt.Errorf("the record of a challenge was put into %s", zone)
	}
	r := rs[0].RR()
	return rs, d.SetTXT(ctx, libdns.AbsoluteName(r.Name, zone), r.Data)
}

func (d testDNS) DeleteRecords(ctx context.Context, zone string, rs []libdns.Record) ([]libdns.Record, error) {
	return rs, d.ClearTXT(ctx, libdns.AbsoluteName(rs[0].RR().Name, zone))
}

// Certificates are issued by Pebble with DNS-01, for a name and its wildcard, and renewed while streams are read: no stream ends. A new
// process has the certificates of the old one, with keys that only their owner can read.
func TestPebble(t *testing.T) {
	ca := pebble.Start(t, 30*time.Second)
	certmagic.DefaultACME.TrustedRoots = ca.Roots // for its directory's own HTTPS
	open := func(storage string) *Source {
		s, err := Open(Config{
			Hosts: []string{"scores.club.example", "*.club.example"}, Email: "ops@club.example", Directory: ca.Directory, Storage: storage, DNS: testDNS{ca},
			Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	storage := filepath.Join(t.TempDir(), "acme")
	s := open(storage)
	state := s.State()
	if _, err := state.Check(time.Now()); err == nil {
		t.Error("it is ready without a certificate")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { _ = s.Run(ctx) })
	wait.Until(t, "certificates", func() bool { st := s.State(); return !st.NotAfter.IsZero() })

	stop, address := stream(t, s)
	defer stop()
	issued := ca.Issued(t)
	wait.Until(t, "a certificate of the name itself, which the wildcard's stands in for", func() bool {
		return serial(t, address, "scores.club.example", issued) != serial(t, address, "a.club.example", issued)
	})
	ticks := read(t, address, "scores.club.example", issued)
	serials := map[string]bool{}
	for len(serials) < 3 {
		serials[serial(t, address, "scores.club.example", issued)] = true
		if err := s.Reload(); err != nil { // checks the certificates' age
			t.Fatal(err)
		}
		<-ticks()
	}
	if other := serial(t, address, "a.club.example", issued); serials[other] {
		t.Error("the wildcard's certificate is the name's")
	}
	for range 3 {
		if _, ok := <-ticks(); !ok {
			t.Fatal("a renewal ended the stream")
		}
	}
	cancel()
	loop.Wait()
	again := open(storage)
	defer again.cache.Stop()
	if st := again.State(); st.NotAfter.IsZero() || !st.Covers("scores.club.example") || !st.Covers("b.club.example") {
		t.Errorf("%+v", st)
	}
	keys := 0
	err := filepath.Walk(storage, func(path string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(path, ".key") {
			keys++
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has the mode %v", path, info.Mode())
			}
		}
		return err
	})
	if err != nil || keys < 3 { // the account's, and one for each name
		t.Error(keys, err)
	}
}

// stream serves a word every 100 ms.
func stream(t *testing.T, s *Source) (stop func(), address string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, TLSConfig: certs.Config(s), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for clock.Sleep(r.Context(), clock.Real(), 100*time.Millisecond) == nil {
			_, _ = io.WriteString(w, "tick\n")
			_ = http.NewResponseController(w).Flush()
		}
	})}
	var loop sync.WaitGroup
	loop.Go(func() { _ = srv.Serve(certs.Listen(ln, srv.TLSConfig)) })
	return func() { _ = srv.Close(); loop.Wait() }, ln.Addr().String()
}

func dial(address, name string, roots *x509.CertPool) *http.Transport {
	return &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}}
}

// serial returns the serial number of the certificate that a new connection gets.
func serial(t *testing.T, address, name string, roots *x509.CertPool) string {
	t.Helper()
	conn, err := tls.Dial("tcp", address, dial(address, name, roots).TLSClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// read opens a stream, and returns a channel with its words until it ends.
func read(t *testing.T, address, name string, roots *x509.CertPool) func() <-chan string {
	t.Helper()
	resp, err := (&http.Client{Transport: dial(address, name, roots)}).Get("https://" + address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	out := make(chan string)
	go func() {
		defer close(out)
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			select {
			case out <- sc.Text():
			case <-t.Context().Done():
				return
			}
		}
	}()
	return func() <-chan string { return out }
}

//go:build long

package acme

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libdns/libdns"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/cache"
	"github.com/touchline/touchline/internal/testrig/hang"
)

const pebbleVersion = "v2.10.1"

// pebbles builds Let's Encrypt's test CA and its DNS server.
func pebbles(t *testing.T) (dir string) {
	t.Helper()
	dir, err := cache.Folder(t.Context(), "pebble-"+pebbleVersion, func(ctx context.Context, dir string) error {
		for _, name := range []string{"pebble", "pebble-challtestsrv"} {
			cmd := exec.CommandContext(ctx, "go", "install", "github.com/letsencrypt/pebble/v2/cmd/"+name+"@"+pebbleVersion)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, cache.LastLines(string(out), 3))
			}
		}
		return nil
	})
	if err != nil {
		t.Skipf("DNS-01 was not tried: Pebble cannot be had: %v", err)
	}
	return dir
}

// free is a port of loopback, for TCP and UDP.
func free(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// start runs a program until the end of the test.
func start(t *testing.T, program string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", filepath.Base(program), cache.LastLines(out.String(), 30))
		}
	})
}

// testDNS makes records at pebble-challtestsrv.
type testDNS struct {
	at   string
	mu   sync.Mutex
	sets int
}

func (d *testDNS) ListZones(context.Context) ([]libdns.Zone, error) {
	return []libdns.Zone{{Name: "example."}, {Name: "club.example."}}, nil
}

func (d *testDNS) post(ctx context.Context, path, zone string, r libdns.RR) error {
	body, err := json.Marshal(map[string]string{"host": libdns.AbsoluteName(r.Name, zone), "value": r.Data})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.at+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (d *testDNS) AppendRecords(ctx context.Context, zone string, rs []libdns.Record) ([]libdns.Record, error) {
	if zone != "club.example." {
		return nil, fmt.Errorf("the record of a challenge was put into %s", zone)
	}
	d.mu.Lock()
	d.sets++
	d.mu.Unlock()
	return rs, d.post(ctx, "/set-txt", zone, rs[0].RR())
}

func (d *testDNS) DeleteRecords(ctx context.Context, zone string, rs []libdns.Record) ([]libdns.Record, error) {
	return rs, d.post(ctx, "/clear-txt", zone, rs[0].RR())
}

// ca runs Pebble, whose certificates live for life, and returns its directory and the pool that trusts its own HTTPS.
func ca(t *testing.T, life time.Duration) (directory string, roots *x509.CertPool, management string, dns *testDNS) {
	dir, programs := t.TempDir(), pebbles(t)
	own, err := certs.CreateCA(dir, nil, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	local, err := certs.OpenLocal(own, nil, clock.Real(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	pair, _ := local.Certificate(nil)
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listen, resolver := free(t), free(t)
	management, dns = free(t), &testDNS{at: free(t)}
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": management, "certificate": certFile, "privateKey": keyFile, "httpPort": 1, "tlsPort": 1,
		"retryAfter": map[string]int{"authz": 1, "order": 1}, "keyAlgorithm": "ecdsa",
		"profiles": map[string]any{"default": map[string]any{"description": "of a test", "validityPeriod": int(life.Seconds())}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	configFile := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(configFile, config, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, filepath.Join(programs, "pebble-challtestsrv"), "-dnsserver", resolver, "-management", dns.at, "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	start(t, filepath.Join(programs, "pebble"), "-config", configFile, "-dnsserver", resolver)
	roots = x509.NewCertPool()
	authority, _ := x509.ParseCertificate(own.Certificate())
	roots.AddCert(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	eventually(t, "Pebble answers", func() bool {
		resp, err := client.Get("https://" + listen + "/dir")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	return "https://" + listen + "/dir", roots, management, dns
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(hang.Limit(2 * time.Minute)); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		if err := clock.Sleep(t.Context(), clock.Real(), 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// Certificates come from Pebble by DNS-01, for a name and its wildcard, and are renewed while streams are read: no stream ends. A new
// process has what the old one got, with keys that are its owner's alone.
func TestPebble(t *testing.T) {
	directory, roots, management, dns := ca(t, 30*time.Second)
	open := func(storage string) *Source {
		s, err := Open(Config{
			Hosts: []string{"scores.club.example", "*.club.example"}, Email: "ops@club.example", Directory: directory, Storage: storage, DNS: dns,
			Log: slog.New(slog.DiscardHandler), Roots: roots, RenewEvery: time.Second,
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
	eventually(t, "certificates", func() bool { st := s.State(); return !st.NotAfter.IsZero() })

	stop, address := stream(t, s)
	defer stop()
	issued := rootsOf(t, management)
	ticks := read(t, address, "scores.club.example", issued)
	serials := map[string]bool{}
	for len(serials) < 3 {
		serials[serial(t, address, "scores.club.example", issued)] = true
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

// stream serves a word every 100 ms for ever.
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

// rootsOf are the CA's own, of which its directory says nothing.
func rootsOf(t *testing.T, management string) *x509.CertPool {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} // its own HTTPS is not what is tried
	resp, err := (&http.Client{Transport: tr}).Get("https://" + management + "/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(raw) {
		t.Fatal(err)
	}
	return pool
}

func dial(address, name string, roots *x509.CertPool) *http.Transport {
	return &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}}
}

// serial is that of the certificate that a new connection is shown.
func serial(t *testing.T, address, name string, roots *x509.CertPool) string {
	t.Helper()
	conn, err := tls.Dial("tcp", address, dial(address, name, roots).TLSClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// read opens a stream, and returns where its words come out until it ends.
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

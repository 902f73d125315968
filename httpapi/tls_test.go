package httpapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
)

// movedClock is real time plus an offset.
type movedClock struct {
	clock.Clock
	more atomic.Int64
}

func (c *movedClock) Wall() time.Time { return c.Now() }

func (c *movedClock) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.more.Load())) }

// selfSigned writes a pair of files for 127.0.0.1 and returns the certificate.
func selfSigned(t *testing.T, cert, key string) *x509.Certificate {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	spec := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: serial.String()}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"scores.example"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, spec, spec, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := x509.MarshalPKCS8PrivateKey(k)
	made, _ := x509.ParseCertificate(der)
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := secretfile.Write(name, pem.EncodeToMemory(block)); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// source is a kind of certificate, with a way to renew it.
type source struct {
	*TLS
	roots *x509.CertPool
	clock clock.Clock
	renew func(t *testing.T)
}

func filesSource(t *testing.T) *source {
	dir, s := t.TempDir(), &source{roots: x509.NewCertPool(), clock: clock.Real()}
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	s.roots.AddCert(selfSigned(t, cert, key))
	files, err := certs.OpenFiles(cert, key, clock.Real(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.TLS = &TLS{Source: files}
	s.renew = func(t *testing.T) {
		s.roots = s.roots.Clone() // clients have the previous one
		s.roots.AddCert(selfSigned(t, cert, key))
		if err := files.Reload(); err != nil {
			t.Error(err)
		}
	}
	return s
}

func localSource(t *testing.T) *source {
	moved := &movedClock{Clock: clock.Real()}
	ca, err := certs.CreateCA(t.TempDir(), []string{"scores.example"}, false, moved.Now())
	if err != nil {
		t.Fatal(err)
	}
	local, err := certs.OpenLocal(ca, []string{"scores.example"}, moved, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &source{TLS: &TLS{Source: local, CA: ca}, roots: x509.NewCertPool(), clock: moved}
	s.roots.AddCert(ca.Cert)
	s.renew = func(t *testing.T) {
		moved.more.Add(int64(61 * 24 * time.Hour))
		if err := local.Reload(); err != nil {
			t.Error(err)
		}
	}
	return s
}

// client returns a client that trusts the source, and keeps no connections.
func (s *source) client(t *testing.T, h2 bool) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots, Time: s.clock.Now}, ForceAttemptHTTP2: h2, DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// follow opens a stream.
func (s *source) follow(t *testing.T, url string, h2 bool) *web.Stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client(t, h2).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if want := 1; h2 && resp.ProtoMajor != 2 || !h2 && resp.ProtoMajor != want {
		t.Fatal(resp.Proto)
	}
	st := web.Read(t, resp, resp.Body)
	st.Until(web.Named(frameCount))
	return st
}

// Certificates are renewed under load: every stream continues, no request fails, and new connections see the new certificate.
func TestRenewedUnderLoad(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *source{"files": filesSource, "local": localSource} {
		t.Run(name, func(t *testing.T) {
			src := open(t)
			cfg, f := config(t)
			cfg.TLS = src.TLS
			address, _ := web.Run(t, newServer(t, cfg))
			address = strings.Replace(address, "http:", "https:", 1)
			var streams []*web.Stream
			for i := range 8 {
				streams = append(streams, src.follow(t, address+streamPath, i%2 == 0))
			}
			var load sync.WaitGroup
			stop, asked := make(chan struct{}), atomic.Int64{}
			for i := range 4 {
				insecure := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: i%2 == 0, DisableKeepAlives: i < 2, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
				defer insecure.CloseIdleConnections()
				load.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						resp, err := insecure.Get(address + "/livez")
						if err != nil {
							t.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
						asked.Add(1)
					}
				})
			}
			seen := map[string]bool{}
			for i := range 10 {
				before := asked.Load()
				wait.Until(t, "requests", func() bool { return asked.Load() > before+4 || t.Failed() })
				src.renew(t)
				resp, err := src.client(t, true).Get(address + "/livez")
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				seen[resp.TLS.PeerCertificates[0].SerialNumber.String()] = true
				f.note("c1", i+1)
			}
			close(stop)
			load.Wait()
			if len(seen) != 10 {
				t.Errorf("%d certificates were shown after 10 renewals", len(seen))
			}
			for i, st := range streams {
				if n := web.Names(st.Until(web.WithID(fmt.Sprint(f.store.Seq()))))[frameNote]; n != 10 {
					t.Errorf("stream %d got %d of 10 notes", i, n)
				}
			}
		})
	}
}

// fixed is a certificate of which only the state matters.
type fixed struct{ state certs.State }

func (f *fixed) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }
func (f *fixed) State() certs.State                                         { return f.state }
func (f *fixed) Run(ctx context.Context) error                              { <-ctx.Done(); return ctx.Err() }
func (f *fixed) Reload() error                                              { return nil }

// plainAsker returns a function that sends requests of other machines to a server's handler for port 8443.
func plainAsker(t *testing.T, change func(c *Config)) func(from, local, url string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	cfg, _ := config(t)
	cfg.TLS, cfg.Proxies = localSource(t).TLS, trusted(t, "198.51.100.1/32", "127.0.0.1/32")
	change(cfg)
	s := newServer(t, cfg)
	s.port = "8443"
	return func(from, local, url string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, url, http.NoBody)
		at, err := net.ResolveTCPAddr("tcp", local)
		if err != nil {
			t.Fatal(err)
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
		r.RemoteAddr = from
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.byHTTPS(s.handler).ServeHTTP(w, r)
		return w
	}
}

const (
	byOther  = "203.0.113.9:999"
	byProxy  = "198.51.100.1:999"
	byHere   = "127.0.0.1:999"
	port8443 = "10.0.0.1:8443"
	port80   = "10.0.0.1:80"
)

// Plain HTTP is redirected to the node's own names only.
func TestPlainIsSentOn(t *testing.T) {
	ask := plainAsker(t, func(*Config) {})
	forwarded := func(proto string) []string {
		return []string{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", proto}
	}
	for _, tt := range []struct {
		name, from, local, url string
		headers                []string
		to                     string
	}{
		{"the port of HTTPS", byOther, port8443, "http://scores.example:8443/a%2fb?q=1", nil, "https://scores.example:8443/a%2fb?q=1"},
		{"the port of HTTPS, mapped", byOther, port8443, "http://scores.example:9000/", nil, "https://scores.example:9000/"},
		{"the second port", byOther, port80, "http://scores.example/x", nil, "https://scores.example:8443/x"},
		{"an address", byOther, port80, "http://127.0.0.1/x", nil, "https://127.0.0.1:8443/x"},
		{"an address of IPv6", byOther, port80, "http://[::1]/x", nil, "https://[::1]:8443/x"},
		{"two slashes", byOther, port80, "http://scores.example//evil.example/x", nil, "https://scores.example:8443//evil.example/x"},
		{"by a proxy in the clear", byProxy, port80, "http://scores.example/x", forwarded("http"), "https://scores.example:8443/x"},
		{"by a proxy here in the clear", byHere, port80, "http://scores.example/x", forwarded("http"), "https://scores.example:8443/x"},
		{"on nobody's word", byOther, port80, "http://scores.example/x", []string{"X-Forwarded-For", "127.0.0.1", "X-Forwarded-Proto", "https"}, "https://scores.example:8443/x"},
		{"another's name", byOther, port8443, "http://evil.example:8443/x", nil, ""},
		{"no name", byOther, port8443, "http:///x", nil, ""},
	} {
		w := ask(tt.from, tt.local, tt.url, tt.headers...)
		want := http.StatusPermanentRedirect
		if tt.to == "" {
			want = http.StatusMisdirectedRequest
		}
		if w.Code != want || w.Header().Get("Location") != tt.to {
			t.Errorf("%s: %d to %q, want %d to %q", tt.name, w.Code, w.Header().Get("Location"), want, tt.to)
		}
	}
	for _, tt := range []struct{ from, path string }{
		{byHere, "/"}, {byProxy, "/"}, {byOther, "/livez"}, {byOther, "/readyz"}, {byOther, "/_/tls"}, {byOther, "/_/tls/ca.crt"},
	} {
		if w := ask(tt.from, port8443, "http://scores.example:8443"+tt.path, forwarded("https")...); tt.from == byProxy && w.Code != http.StatusOK {
			t.Errorf("%s behind a proxy with HTTPS: %d", tt.path, w.Code)
		}
		if w := ask(tt.from, port8443, "http://scores.example:8443"+tt.path); tt.from != byProxy && w.Code != http.StatusOK {
			t.Errorf("%s from %s in the clear: %d", tt.path, tt.from, w.Code)
		}
	}
}

// A name that is not in the certificate is redirected to http.public_url, if that is HTTPS.
func TestPlainIsSentToThePublicURL(t *testing.T) {
	for public, want := range map[string]string{
		"https://public.example": "https://public.example/x?y", "http://public.example": "", "": "",
	} {
		ask := plainAsker(t, func(c *Config) { c.PublicURL = public })
		if got := ask(byOther, port8443, "http://evil.example/x?y").Header().Get("Location"); got != want {
			t.Errorf("%q: sent to %q", public, got)
		}
	}
}

// Browsers are bound to HTTPS only with certificates that every browser trusts.
func TestHSTS(t *testing.T) {
	for _, on := range []bool{true, false} {
		ask := plainAsker(t, func(c *Config) { c.TLS.HSTS = on })
		secure, plain := ask(byOther, port8443, "https://scores.example/livez"), ask(byOther, port8443, "http://scores.example/livez")
		if got := secure.Header().Get("Strict-Transport-Security"); (got != "") != on {
			t.Errorf("HSTS %t: %q", on, got)
		}
		if got := plain.Header().Get("Strict-Transport-Security"); got != "" {
			t.Errorf("in the clear: %q", got)
		}
	}
}

// The page gives addresses for devices in the local network, also in this machine's own browser.
func TestCAPage(t *testing.T) {
	src := localSource(t)
	ask := plainAsker(t, func(c *Config) { c.TLS = src.TLS })
	w := ask(byOther, port8443, "http://scores.example:8443/_/tls")
	for _, want := range []string{src.CA.Fingerprint(), src.CA.Title(), "http://scores.example:8443/_/tls", "iPhone", "Android", "Mac", "Windows", "/_/tls/ca.mobileconfig", `aria-label="QR code"`} {
		if !strings.Contains(w.Body.String(), strings.ReplaceAll(want, "+", "&#43;")) {
			t.Errorf("the page has no %q", want)
		}
	}
	if body := ask(byHere, port8443, "http://127.0.0.1:8443/_/tls").Body.String(); slices.ContainsFunc(certs.LocalNames(), func(name string) bool {
		return net.ParseIP(name).To4() != nil
	}) && strings.Contains(body, "http://127.0.0.1") {
		t.Error("a phone is sent to itself")
	}
	w = ask(byOther, port8443, "http://scores.example:8443/_/tls/ca.crt")
	if got, err := x509.ParseCertificate(w.Body.Bytes()); err != nil || !got.IsCA || w.Header().Get("Content-Type") != "application/x-x509-ca-cert" {
		t.Error(err, w.Header())
	}
	w = ask(byOther, port8443, "http://scores.example:8443/_/tls/ca.mobileconfig")
	if !strings.Contains(w.Body.String(), base64.StdEncoding.EncodeToString(src.CA.Cert.Raw)) || w.Header().Get("Content-Type") != "application/x-apple-aspen-config" {
		t.Error(w.Header())
	}
	if again := ask(byOther, port8443, "http://scores.example:8443/_/tls/ca.mobileconfig"); again.Body.String() != w.Body.String() {
		t.Error("the profile has other ids each time: devices would list it twice")
	}
	ask = plainAsker(t, func(c *Config) { c.TLS = filesSource(t).TLS })
	if w := ask(byHere, port8443, "http://127.0.0.1/_/tls"); w.Code != http.StatusNotFound {
		t.Errorf("without a CA: %d", w.Code)
	}
}

// The certificate's expiry is in the status and on the Status page; readiness warns before it, and fails after it.
func TestExpiryIsTold(t *testing.T) {
	now := time.Now()
	src := &fixed{certs.State{Kind: "files", Names: []string{"scores.example"}, NotBefore: now.Add(-80 * 24 * time.Hour), NotAfter: now.Add(90 * 24 * time.Hour)}}
	cfg, _ := config(t)
	cfg.TLS, cfg.Auth = &TLS{Source: src}, web.Verifier(t)
	s := newServer(t, cfg)
	get := func(path string) (int, string) {
		w := web.Ask(s.Handler(), "GET", path, "", "Authorization", "Bearer "+web.AdminToken())
		return w.Code, w.Body.String()
	}
	has := func(path string, status int, text string) {
		t.Helper()
		s.state.at = time.Time{} // read anew
		if code, body := get(path); code != status || !strings.Contains(body, text) {
			t.Errorf("%s: %d without %q: %s", path, code, text, body)
		}
	}
	day := src.state.NotAfter.UTC().Format("2006-01-02")
	has("/readyz?verbose", 200, "[+] certificate ok")
	has("/statusz", 200, `"certificate":{"kind":"files","names":["scores.example"]`)
	has("/_/hub", 200, "files, until "+day)
	src.state.NotAfter = now.Add(10 * 24 * time.Hour)
	has("/readyz?verbose", 200, "[!] certificate: the certificate expires on")
	has("/_/hub", 200, "the certificate expires on")
	src.state.NotAfter = now.Add(-time.Second)
	has("/readyz", 503, "not ready: certificate")
	has("/_/hub", 200, "the certificate expired on")
}

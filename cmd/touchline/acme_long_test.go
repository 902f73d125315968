//go:build long && linux

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/pebble"
	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/testrig/route53"
	"github.com/touchline/touchline/internal/testrig/wait"
)

const (
	acmeHost = "scores.example.org"
	acmeKey  = "the-key-of-the-operator-of-this-test"
)

// acmeAnswer is an answer that has been read.
type acmeAnswer struct {
	status int
	proto  string
	header http.Header
	leaf   *x509.Certificate // nil: plain HTTP
	body   string
}

// acmeNode is a `touchline serve` with certificates from a public CA.
type acmeNode struct {
	t            *testing.T
	dir          string
	https, plain string // host:port
	env          []string
	cmd          *exec.Cmd
	log          processLog
	roots        *tls.Config
}

// A node gets a certificate from a public CA by DNS-01, with records created through Route 53's API. Without one it is not ready and
// says why; then it serves HTTPS with it and renews it under load: no request fails and no stream ends. Only Route 53 itself is
// replaced.
func TestCertificateOfAPublicCA(t *testing.T) {
	ca, looked := pebble.Start(t, 5*time.Minute), make(chan struct{}) // so short a life that it is renewed at each check
	n := newACMENode(t, ca, looked)
	n.start()
	wait.Until(t, "the node says that it has no certificate", func() bool {
		a := n.plainly("/readyz?verbose")
		return a.status == http.StatusServiceUnavailable && strings.Contains(a.body, "there is no certificate yet")
	})
	if _, err := tls.Dial("tcp", n.https, &tls.Config{ServerName: acmeHost, InsecureSkipVerify: true}); err == nil {
		t.Error("it spoke TLS without a certificate")
	}
	close(looked)
	wait.Until(t, "the node is ready", func() bool {
		a := n.plainly("/readyz?verbose")
		return a.status == http.StatusOK && strings.Contains(a.body, "[+] certificate ok")
	})
	n.roots = &tls.Config{RootCAs: ca.Issued(t), ServerName: acmeHost}
	first := n.shows(1)
	n.sendsOn()
	n.setsCookies()
	n.renews(first)
	n.stop()
	n.private()

	n.start() // with what is there, at once
	if a := n.get("/readyz?verbose"); a.status != http.StatusOK {
		t.Errorf("after a restart: %+v", a)
	}
	n.stop()
}

func newACMENode(t *testing.T, ca *pebble.CA, looked <-chan struct{}) *acmeNode {
	t.Helper()
	zone := httptest.NewServer(&route53.Server{T: t, Changed: func(r *http.Request, name string, values []string) error {
		select { // the first certificate waits until the node was checked without one
		case <-looked:
		case <-r.Context().Done():
		}
		if err := ca.ClearTXT(r.Context(), name); err != nil {
			return err
		}
		for _, quoted := range values {
			value, err := strconv.Unquote(quoted)
			if err != nil {
				return err
			}
			if err := ca.SetTXT(r.Context(), name, value); err != nil {
				return err
			}
		}
		return nil
	}})
	t.Cleanup(zone.Close)
	n := &acmeNode{t: t, dir: t.TempDir(), https: "127.0.0.1:" + process.FreePort(t), plain: "127.0.0.1:" + process.FreePort(t)}
	config := fmt.Sprintf(`data_dir: %s
listen: %s
log: {format: json}
auth: {api_key: %s}
scorekeeper: {}
http:
  public_url: https://%s
  trusted_proxies: [127.0.0.1/32]
  tls: {mode: acme, hosts: [%s], acme: {email: ops@example.org, directory: %q}, plain_listen: %q}
`, filepath.Join(n.dir, "data"), n.https, acmeKey, acmeHost, acmeHost, ca.Directory, n.plain)
	if err := os.WriteFile(filepath.Join(n.dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	n.env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+route53.KeyID, "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=", "AWS_CONFIG_FILE=/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_ENDPOINT_URL_ROUTE_53="+zone.URL, "SSL_CERT_FILE="+ca.RootsFile, "SSL_CERT_DIR="+t.TempDir())
	return n
}

func (n *acmeNode) command(args ...string) *exec.Cmd {
	cmd := within(n.t, binary(n.t), append(args, "--config", filepath.Join(n.dir, "config.yaml"))...)
	cmd.Env = n.env
	return cmd
}

func (n *acmeNode) start() {
	n.t.Helper()
	n.cmd = n.command("serve")
	n.cmd.Stderr = &n.log
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		if n.t.Failed() {
			n.t.Log(n.log.String())
		}
	})
	wait.Until(n.t, "the node listens", func() bool {
		conn, err := net.Dial("tcp", n.https)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

func (n *acmeNode) stop() {
	n.t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGINT); err != nil {
		n.t.Error(err)
	}
	if err := n.cmd.Wait(); err != nil {
		n.t.Error(err)
	}
}

// client returns a client that reaches the node by its name, and keeps its connection or makes one per request.
func (n *acmeNode) client(keeps bool) *http.Client {
	tr := &http.Transport{
		ForceAttemptHTTP2: true, DisableKeepAlives: !keeps, TLSClientConfig: n.roots,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			to := n.https
			if addr == n.plain {
				to = n.plain
			}
			return (&net.Dialer{}).DialContext(ctx, network, to)
		},
	}
	n.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{
		Transport: tr, Timeout: hang.Limit(time.Minute), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (n *acmeNode) get(path string) acmeAnswer {
	n.t.Helper()
	return n.ask(http.MethodGet, "https://"+acmeHost+path, "")
}

// plainly sends a request by plain HTTP, from this machine.
func (n *acmeNode) plainly(path string) acmeAnswer {
	n.t.Helper()
	return n.ask(http.MethodGet, "http://"+n.https+path, "")
}

// ask sends a request on a connection of its own.
func (n *acmeNode) ask(method, to, body string, headers ...string) acmeAnswer {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", acmeKey)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := n.client(false).Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	a := acmeAnswer{status: resp.StatusCode, proto: resp.Proto, header: resp.Header, body: string(raw)}
	if resp.TLS != nil {
		a.leaf = resp.TLS.PeerCertificates[0]
	}
	return a
}

// shows checks that status and metrics show the certificate of new connections; count is how many there have been.
func (n *acmeNode) shows(count int) (serial string) {
	n.t.Helper()
	a := n.get("/statusz")
	leaf := a.leaf
	if a.proto != "HTTP/2.0" || a.header.Get("Strict-Transport-Security") != "max-age=15768000" {
		n.t.Errorf("%s %v", a.proto, a.header)
	}
	var status struct{ Certificate certs.State }
	if err := json.Unmarshal([]byte(a.body), &status); err != nil {
		n.t.Fatal(err)
	}
	if c := status.Certificate; c.Kind != "acme" || !c.Covers(acmeHost) || c.Problem != "" || !c.NotAfter.Equal(leaf.NotAfter) {
		n.t.Errorf("%+v, shown is one until %s", c, leaf.NotAfter)
	}
	_, after, _ := strings.Cut(n.get("/metrics").body, "\ntouchline_tls_certificate_expiry_timestamp_seconds ")
	value, _, _ := strings.Cut(after, "\n")
	if at, err := strconv.ParseFloat(value, 64); err != nil || int64(at) != leaf.NotAfter.Unix() {
		n.t.Errorf("the metric is %q, the certificate ends at %d", value, leaf.NotAfter.Unix())
	}
	if given := strings.Count(n.log.String(), `"the CA has issued a certificate"`); given != count {
		n.t.Errorf("%d certificates were given", given)
	}
	return leaf.SerialNumber.String()
}

// sendsOn checks plain HTTP: everything for this machine, a redirect to HTTPS for others.
func (n *acmeNode) sendsOn() {
	n.t.Helper()
	if a := n.plainly("/signin"); a.status != http.StatusOK || a.header.Get("Strict-Transport-Security") != "" {
		n.t.Errorf("this machine by plain HTTP: %d %v", a.status, a.header)
	}
	for _, base := range []string{"http://" + acmeHost, "http://" + n.plain} {
		a := n.ask(http.MethodGet, base+"/signin?to=/x", "", "X-Forwarded-For", "203.0.113.9")
		if to := a.header.Get("Location"); a.status != http.StatusPermanentRedirect || to != "https://"+acmeHost+"/signin?to=/x" {
			n.t.Errorf("%s: %d to %s", base, a.status, to)
		}
	}
	if a := n.ask(http.MethodGet, "http://"+acmeHost+"/signin", "", "X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https"); a.status != http.StatusOK {
		n.t.Errorf("a proxy that spoke HTTPS: %d %v", a.status, a.header)
	}
}

// setsCookies checks the cookie that a guest gets.
func (n *acmeNode) setsCookies() {
	n.t.Helper()
	a := n.ask(http.MethodPost, "https://"+acmeHost+"/scorekeeper/session", "", "Sec-Fetch-Site", "same-origin", "Origin", "https://"+acmeHost)
	cookies := (&http.Response{Header: a.header}).Cookies()
	if a.status != http.StatusNoContent || len(cookies) != 1 {
		n.t.Errorf("%+v", a)
	}
	for _, c := range cookies {
		if !c.Secure || !c.HttpOnly {
			n.t.Errorf("%s may go by plain HTTP, or is open to scripts", c.Name)
		}
	}
}

// renews makes the node renew its certificate, while a stream is read and requests are sent on one connection and on new ones.
func (n *acmeNode) renews(first string) {
	n.t.Helper()
	lines := n.stream()
	wait.Until(n.t, "the stream has begun", func() bool { return lines.Load() > 0 })
	ctx, end := context.WithCancel(n.t.Context())
	var asking sync.WaitGroup
	var counts [2]atomic.Int32
	for i := range counts {
		c := n.client(i == 0)
		asking.Go(func() {
			for ctx.Err() == nil && n.alive(c) {
				counts[i].Add(1)
			}
		})
	}
	if err := n.cmd.Process.Signal(syscall.SIGHUP); err != nil { // otherwise it checks every 10 minutes
		n.t.Fatal(err)
	}
	wait.Until(n.t, "a renewal", func() bool {
		return n.get("/livez").leaf.SerialNumber.String() != first
	})
	n.shows(2)
	line, one, each := lines.Load(), counts[0].Load(), counts[1].Load()
	wait.Until(n.t, "the connections go on", func() bool {
		return lines.Load() > line && counts[0].Load() > one && counts[1].Load() > each
	})
	end()
	asking.Wait()
}

// alive sends a request and reports whether it succeeded.
func (n *acmeNode) alive(c *http.Client) bool {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+acmeHost+"/livez", http.NoBody)
	if err != nil {
		n.t.Error(err)
		return false
	}
	resp, err := c.Do(req)
	if err != nil {
		n.t.Errorf("while it was renewed: %v", err)
		return false
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		n.t.Errorf("while it was renewed: %s %v", resp.Status, err)
	}
	return err == nil
}

// stream reads an event stream until the test ends, and counts its lines.
func (n *acmeNode) stream() *atomic.Int64 {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), http.MethodGet, "https://"+acmeHost+"/cricket/stream", http.NoBody)
	if err != nil {
		n.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", acmeKey)
	c := n.client(true)
	c.Timeout = 0
	resp, err := c.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		n.t.Fatal(resp, err)
	}
	lines, read := &atomic.Int64{}, sync.WaitGroup{}
	read.Go(func() {
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			lines.Add(1)
		}
	})
	n.t.Cleanup(func() { resp.Body.Close(); read.Wait() })
	return lines
}

// private checks who may read the keys.
func (n *acmeNode) private() {
	n.t.Helper()
	keys := 0
	err := filepath.Walk(filepath.Join(n.dir, "data", "tls"), func(path string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(path, ".key") {
			keys++
			if info.Mode().Perm() != 0o600 {
				n.t.Errorf("%s has the mode %v", path, info.Mode())
			}
		}
		return err
	})
	if err != nil || keys < 2 { // the account's and the certificate's
		n.t.Error(keys, err)
	}
}

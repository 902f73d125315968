// Package pebble runs Let's Encrypt's test CA and its DNS server on loopback for a test.
package pebble

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/cache"
	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/testrig/wait"
)

const version = "v2.10.1"

// CA is a running Pebble.
type CA struct {
	Directory string         // URL
	RootsFile string         // PEM with the roots of its own HTTPS certificate
	Roots     *x509.CertPool // the same as a pool

	management, dns string // host:port
}

// Start runs a CA until the end of the test. life is how long its certificates are valid. If Pebble cannot be built, the test is skipped.
func Start(t *testing.T, life time.Duration) *CA {
	t.Helper()
	dir, programs := t.TempDir(), programs(t)
	free := func() string { return "127.0.0.1:" + process.FreePort(t) }
	c := &CA{management: free(), dns: free(), RootsFile: filepath.Join(dir, "roots.pem")}
	certFile, keyFile := c.keys(t, dir)
	listen, resolver := free(), free()
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": c.management, "certificate": certFile, "privateKey": keyFile, "httpPort": 1, "tlsPort": 1,
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
	start(t, filepath.Join(programs, "pebble-challtestsrv"), "-dnsserver", resolver, "-management", c.dns, "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	start(t, filepath.Join(programs, "pebble"), "-config", configFile, "-dnsserver", resolver)
	c.Directory = "https://" + listen + "/dir"
	wait.Until(t, "Pebble answers", func() bool {
		_, err := get(t, c.Directory, &tls.Config{RootCAs: c.Roots})
		return err == nil
	})
	return c
}

// keys creates the certificate and key of Pebble's own HTTPS server.
func (c *CA) keys(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	own, err := certs.CreateCA(dir, nil, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	local, err := certs.OpenLocal(own, nil, clock.Real(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := local.Certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}, c.RootsFile: {Type: "CERTIFICATE", Bytes: own.Cert.Raw},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.Roots = x509.NewCertPool()
	c.Roots.AddCert(own.Cert)
	return certFile, keyFile
}

// Issued returns the pool that trusts the issued certificates. The ACME directory does not include it.
func (c *CA) Issued(t *testing.T) *x509.CertPool {
	t.Helper()
	raw, err := get(t, "https://"+c.management+"/roots/0", &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // its own HTTPS is not under test
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(raw) {
		t.Fatal(err)
	}
	return pool
}

func get(t *testing.T, url string, trust *tls.Config) ([]byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(resp.Body)
	return raw, errors.Join(err, resp.Body.Close())
}

// SetTXT adds a value to the DNS server's answers for a name, which ends with a dot.
func (c *CA) SetTXT(ctx context.Context, name, value string) error {
	return c.record(ctx, "/set-txt", name, value)
}

// ClearTXT removes all values of a name.
func (c *CA) ClearTXT(ctx context.Context, name string) error {
	return c.record(ctx, "/clear-txt", name, "")
}

func (c *CA) record(ctx context.Context, path, name, value string) error {
	body, err := json.Marshal(map[string]string{"host": name, "value": value})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.dns+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, resp.Status)
	}
	_ = resp.Body.Close()
	return err
}

// programs builds Pebble and its DNS server.
func programs(t *testing.T) (dir string) {
	t.Helper()
	dir, err := cache.Folder(t.Context(), "pebble-"+version, func(ctx context.Context, dir string) error {
		for _, name := range []string{"pebble", "pebble-challtestsrv"} {
			cmd := exec.CommandContext(ctx, "go", "install", "github.com/letsencrypt/pebble/v2/cmd/"+name+"@"+version) //nolint:gosec // of two names
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, cache.LastLines(string(out), 3))
			}
		}
		return nil
	})
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("Pebble cannot be had: %v", err)
	}
	if err != nil {
		t.Skipf("DNS-01 was not tried: Pebble cannot be had: %v", err)
	}
	return dir
}

// start runs a program until the end of the test.
func start(t *testing.T, program string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // one of ours; the test ends it
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%s: %s", filepath.Base(program), cache.LastLines(out.String(), 30))
		}
	})
}

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

func newCA(t *testing.T, dir string, now time.Time, hosts ...string) *CA {
	t.Helper()
	ca, err := CreateCA(dir, hosts, false, now)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// trusted verifies a certificate like a device that trusts the CA.
func trusted(ca *CA, c *tls.Certificate, host string, at time.Time) error {
	roots := x509.NewCertPool()
	roots.AddCert(ca.Cert)
	_, err := c.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: at})
	return err
}

func TestCAIsPrivateAndStays(t *testing.T) {
	dir := t.TempDir()
	ca := newCA(t, dir, time.Now())
	info, err := os.Stat(filepath.Join(dir, "tls", "ca.key"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	if _, err := CreateCA(dir, nil, false, time.Now()); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a CA was replaced unasked: %v", err)
	}
	again, err := OpenCA(dir)
	if err != nil || again.Fingerprint() != ca.Fingerprint() || len(ca.Fingerprint()) != 95 {
		t.Fatal(again, err)
	}
	next, err := CreateCA(dir, nil, true, time.Now())
	if err != nil || next.Fingerprint() == ca.Fingerprint() {
		t.Fatal("--replace made no new CA", err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(filepath.Join(dir, "tls", "ca.key"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenCA(dir); !fault.Is(err, fault.Invalid) {
			t.Errorf("a key that everybody can read was taken: %v", err)
		}
	}
	if _, err := OpenCA(t.TempDir()); !fault.Is(err, fault.NotFound) || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A CA of which only the certificate was written is no CA, and is created again.
func TestCreateCAAfterACrash(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, CAFile, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateCA(dir, nil, false, time.Now()); err == nil {
		t.Fatal("created without a certificate")
	}
	if err := os.RemoveAll(filepath.Join(dir, CAFile)); err != nil {
		t.Fatal(err)
	}
	newCA(t, dir, time.Now())
	if err := os.Remove(filepath.Join(dir, caKey)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCA(dir); !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	newCA(t, dir, time.Now())
}

// The CA certifies the local network and what it was created for; devices refuse everything else that it signs.
func TestCAIsConstrained(t *testing.T) {
	now := time.Now()
	ca := newCA(t, t.TempDir(), now, "scores.example", "*.club.example", "203.0.113.7")
	for host, good := range map[string]bool{
		"scores.example": true, "a.club.example": true, "node.local": true, machineName(): true, "localhost": true, "192.168.1.7": true,
		"10.0.0.1": true, "fd00::1": true, "203.0.113.7": true, "203.0.113.8": false, "bank.example": false, "8.8.8.8": false, "2a00::1": false,
		"notlocal": false, "evilscores.example": false,
	} {
		if ca.MayName(host) != good {
			t.Errorf("MayName(%s) is %t", host, !good)
		}
		leaf, err := ca.issue([]string{host}, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := trusted(ca, leaf, host, now); (err == nil) != good {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// A certificate is renewed after two thirds of its life, and as soon as the machine has another address, but not when one has gone.
func TestLocalRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newCA(t, t.TempDir(), time.Now(), "scores.example")
		l, err := OpenLocal(ca, []string{"scores.example"}, clock.Real(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		l.here = func() []string { return []string{"node", "node.local", "192.168.1.7", "8.8.8.8"} }
		stop := running(t, l)
		pass(t, time.Minute+time.Second)
		synctest.Wait()
		first := l.shown.Load()
		for _, host := range []string{"scores.example", "node.local", "192.168.1.7", "localhost", "127.0.0.1"} {
			if err := trusted(ca, first, host, time.Now()); err != nil {
				t.Error(err)
			}
		}
		if s := l.State(); s.Covers("8.8.8.8") || !s.Covers("node.local") || s.Kind != "local" || s.Problem != "" {
			t.Error(s)
		}
		l.mu.Lock()
		l.here = func() []string { return []string{"node", "node.local"} }
		l.mu.Unlock()
		pass(t, 59*24*time.Hour)
		synctest.Wait()
		if l.shown.Load() != first {
			t.Error("renewed before its time")
		}
		pass(t, 2*24*time.Hour)
		synctest.Wait()
		second := l.shown.Load()
		if second == first {
			t.Fatal("not renewed")
		}
		s := l.State()
		if warning, err := s.Check(time.Now()); warning != "" || err != nil {
			t.Error(warning, err)
		}
		stop()
		pass(t, 9*365*24*time.Hour+300*24*time.Hour)
		if err := l.Reload(); err != nil || l.shown.Load().Leaf.NotAfter.After(ca.Cert.NotAfter) {
			t.Error("a certificate outlives its CA", err)
		}
		if s := l.State(); s.Problem == "" {
			t.Error("nobody is told that the CA ends")
		}
	})
}

func TestCheck(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, tt := range []struct {
		name        string
		state       State
		warns, down bool
	}{
		{"good", State{NotBefore: now, NotAfter: now.Add(90 * day)}, false, false},
		{"two weeks", State{NotBefore: now.Add(-77 * day), NotAfter: now.Add(13 * day)}, true, false},
		{"short life, in time", State{NotBefore: now.Add(-3 * day), NotAfter: now.Add(3 * day)}, false, false},
		{"short life, late", State{NotBefore: now.Add(-5 * day), NotAfter: now.Add(day)}, true, false},
		{"a problem", State{NotBefore: now, NotAfter: now.Add(90 * day), Problem: "no"}, true, false},
		{"expired", State{NotBefore: now.Add(-90 * day), NotAfter: now}, false, true},
		{"not yet", State{NotBefore: now.Add(time.Second), NotAfter: now.Add(day)}, false, true},
		{"none", State{}, false, true},
	} {
		warning, err := tt.state.Check(now)
		if (warning != "") != tt.warns || (err != nil) != tt.down {
			t.Errorf("%s: %q, %v", tt.name, warning, err)
		}
	}
}

func TestHere(t *testing.T) {
	here := LocalNames()
	if !slices.Contains(here, machineName()+".local") {
		t.Error(here)
	}
	for _, name := range here {
		if ip := net.ParseIP(name); ip == nil && !ValidHost(name) || ip.IsLoopback() {
			t.Errorf("%q is neither a name nor an address that others can reach", name)
		}
	}
	for _, bad := range []string{"", "-a", "a b", "A", "a..b", "1.2.3.4", "a.*", "x.1"} {
		if ValidHost(bad) {
			t.Errorf("%q is no host", bad)
		}
	}
}

package certs

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/secretfile"
)

// running runs a source until the returned function is called.
func running(t *testing.T, s Source) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { _ = s.Run(ctx) })
	return func() { cancel(); loop.Wait() }
}

// pass lets time pass, in a bubble of synctest.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	if err := clock.Sleep(t.Context(), clock.Real(), d); err != nil {
		t.Fatal(err)
	}
}

// pairOf returns the contents of a pair of files.
func pairOf(t *testing.T, ca *CA, name string) (cert, key []byte) {
	t.Helper()
	leaf, err := ca.issue([]string{name}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Files are read again when they change. Between the two writes of a renewal, and if they are invalid, the previous pair stays.
func TestFilesReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ca := newCA(t, t.TempDir(), time.Now())
		certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		write := func(name string, content []byte) {
			if err := secretfile.Write(name, content); err != nil {
				t.Fatal(err)
			}
		}
		cert, key := pairOf(t, ca, "one.local")
		write(certFile, cert)
		write(keyFile, key)
		var log strings.Builder
		f, err := OpenFiles(certFile, keyFile, clock.Real(), slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer running(t, f)()
		logged := func() string { // log lines are written under the lock
			f.mu.Lock()
			defer f.mu.Unlock()
			return log.String()
		}
		look := func(want, problem string) {
			t.Helper()
			pass(t, lookEvery)
			synctest.Wait()
			if s := f.State(); s.Names[0] != want || !strings.Contains(s.Problem, problem) || problem == "" && s.Problem != "" {
				t.Fatalf("%+v, want %s with %q", s, want, problem)
			}
		}
		pass(t, lookEvery/2) // so that checks fall between the writes
		look("one.local", "")
		cert, key = pairOf(t, ca, "two.local")
		write(certFile, cert)
		look("one.local", "")
		write(keyFile, key)
		look("two.local", "")
		if strings.Contains(logged(), "ERROR") {
			t.Errorf("a renewal was taken for an error: %s", logged())
		}
		write(certFile, []byte("no certificate"))
		look("two.local", "")
		look("two.local", "cannot be used as a pair")
		look("two.local", "cannot be used as a pair")
		if n := strings.Count(logged(), "ERROR"); n != 1 {
			t.Errorf("%d lines for one mistake: %s", n, logged())
		}
		if err := os.Remove(keyFile); err != nil {
			t.Fatal(err)
		}
		look("two.local", "cannot read the certificate's key")
		cert, key = pairOf(t, ca, "three.local")
		write(keyFile, key)
		write(certFile, cert)
		look("three.local", "")
	})
}

func TestFilesRefused(t *testing.T) {
	dir := t.TempDir()
	cert, key := pairOf(t, newCA(t, t.TempDir(), time.Now()), "one.local")
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, content := range map[string][]byte{certFile: cert, keyFile: key} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadPair(certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{keyFile, certFile}, {certFile, certFile}, {certFile, keyFile + "x"}, {certFile + "x", keyFile}} {
		if _, err := ReadPair(pair[0], pair[1]); err == nil {
			t.Error(pair, "was taken")
		}
	}
	long := append(bytes.Repeat([]byte("#\n"), maxPEM/2), cert...)
	if err := os.WriteFile(certFile, long, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPair(certFile, keyFile); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error("a long certificate:", err)
	}
	if err := os.WriteFile(certFile, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(keyFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPair(certFile, keyFile); runtime.GOOS != "windows" && (err == nil || !strings.Contains(err.Error(), "chmod 600")) {
		t.Error(err)
	}
}

package acme

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libdns/libdns"
	"github.com/mholt/acmez/v3/acme"

	"github.com/touchline/touchline/internal/testrig/wait"
)

// zones is a DNS account that records the changes.
type zones struct{ made, gone []string }

func (z *zones) ListZones(context.Context) ([]libdns.Zone, error) {
	return []libdns.Zone{{Name: "example."}, {Name: "club.example."}, {Name: "b.example."}}, nil
}

func (z *zones) AppendRecords(_ context.Context, zone string, rs []libdns.Record) ([]libdns.Record, error) {
	z.made = append(z.made, rs[0].RR().Name+" in "+zone)
	return rs, nil
}

func (z *zones) DeleteRecords(_ context.Context, zone string, rs []libdns.Record) ([]libdns.Record, error) {
	z.gone = append(z.gone, rs[0].RR().Name+" in "+zone)
	return rs, nil
}

// The record of a challenge is added to the longest zone that contains the name, and removed again.
func TestSolver(t *testing.T) {
	z := &zones{}
	s := &solver{z}
	challenge := func(name string) acme.Challenge {
		return acme.Challenge{Type: "dns-01", KeyAuthorization: "key", Identifier: acme.Identifier{Type: "dns", Value: name}}
	}
	for name, want := range map[string]string{
		"scores.club.example": "_acme-challenge.scores in club.example.", "club.example": "_acme-challenge in club.example.",
		"xclub.example": "_acme-challenge.xclub in example.",
	} {
		if err := s.Present(t.Context(), challenge(name)); err != nil || z.made[len(z.made)-1] != want {
			t.Errorf("%s: %v, %v", name, z.made, err)
		}
		if err := s.CleanUp(t.Context(), challenge(name)); err != nil || z.gone[len(z.gone)-1] != want {
			t.Errorf("%s: %v, %v", name, z.gone, err)
		}
	}
	if err := s.Present(t.Context(), challenge("elsewhere.org")); err == nil || !strings.Contains(err.Error(), "elsewhere.org") {
		t.Error(err)
	}
}

// A node whose CA is unreachable starts, is not ready, and says why.
func TestNoCA(t *testing.T) {
	storage := filepath.Join(t.TempDir(), "acme")
	s, err := Open(Config{Hosts: []string{"scores.example"}, Directory: "https://127.0.0.1:1/dir", Storage: storage, DNS: &zones{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(storage); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Error(info.Mode(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { _ = s.Run(ctx) })
	wait.Until(t, "the state says that there is no certificate", func() bool { return s.State().Problem != "" })
	state := s.State()
	if _, err := state.Check(time.Now()); err == nil || !strings.Contains(err.Error(), "scores.example") {
		t.Error(err)
	}
	cancel()
	loop.Wait()
}

// The reason why a name has no certificate stays when another name gets one.
func TestProblemsOfSeveralNames(t *testing.T) {
	s, err := Open(Config{Hosts: []string{"a.example", "b.example"}, Directory: "https://127.0.0.1:1/dir", Storage: t.TempDir(), DNS: &zones{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.cache.Stop()
	event := func(name, host string) {
		if err := s.event(t.Context(), name, map[string]any{"identifier": host, "error": errors.New("no record")}); err != nil {
			t.Error(err)
		}
	}
	event("cert_failed", "a.example")
	event("cert_obtained", "b.example")
	if p := s.State().Problem; p != "the CA has issued none for a.example: no record" {
		t.Errorf("%q", p)
	}
	event("cert_obtained", "a.example")
	if p := s.State().Problem; p != "" {
		t.Errorf("%q", p)
	}
}

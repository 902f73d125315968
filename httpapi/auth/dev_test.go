package auth

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

func TestDevIssuer(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadDevIssuer(dir); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "serve --dev-issuer") {
		t.Errorf("before it is made: %v", err)
	}
	first, err := OpenDevIssuer(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, devFile))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files in the directory", len(left))
	}
	now := clock.Real().Now()
	token, expires, err := first.Sign(Grant{Subject: "asha", Groups: []string{"staff"}, Life: time.Hour}, now)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadDevIssuer(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(Config{Issuers: []Issuer{again.Issuer()}, AdminGroup: "staff"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	id, err := v.Verify(t.Context(), token)
	if err != nil || id.Subject != "asha" || !id.Admin || !id.Expires.Equal(expires) {
		t.Errorf("%+v, %v", id, err)
	}

	other, err := NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	strange, _, err := other.Sign(Grant{Subject: "asha", Life: time.Hour}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), strange); !fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), "touchline token") {
		t.Errorf("another machine's token: %v", err)
	}
	// The right kid with another key, and an RSA key where this issuer uses a curve.
	for name, forged := range map[string]string{
		"key": forge(other, again.kid, jwt.SigningMethodES256, other.private),
		"RSA": forge(other, again.kid, jwt.SigningMethodRS256, theirKey()),
	} {
		if _, err := v.Verify(t.Context(), forged); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("forged by another %s: %v", name, err)
		}
	}
}

func forge(d *DevIssuer, kid string, m jwt.SigningMethod, key any) string {
	return parts{
		header: map[string]any{"alg": m.Alg(), "kid": kid},
		claims: map[string]any{"iss": d.Issuer().URL, "aud": devClient, "sub": "u", "token_use": "id", "exp": 1 << 40},
	}.signed(m, key)
}

// Two processes that start at once end up with one key.
func TestDevIssuerRace(t *testing.T) {
	dir := t.TempDir()
	kids := make([]string, 8)
	var all sync.WaitGroup
	for i := range kids {
		all.Go(func() {
			d, err := OpenDevIssuer(dir)
			if err != nil {
				t.Error(err)
				return
			}
			kids[i] = d.kid
		})
	}
	all.Wait()
	for _, kid := range kids {
		if kid != kids[0] {
			t.Errorf("kids %v", kids)
		}
	}
}

func TestBadDevKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
		kind fault.Kind
	}{
		"empty":           {"", 0o600, fault.Invalid},
		"not PEM":         {"hello", 0o600, fault.Invalid},
		"another kind":    {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0o600, fault.Invalid},
		"not a key":       {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600, fault.Invalid},
		"huge":            {strings.Repeat("A", maxDevFile+1), 0o600, fault.Invalid},
		"others may read": {"", 0o644, fault.Invalid},
		"others may use":  {"", 0o620, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, devFile)
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenDevIssuer(dir); !fault.Is(err, tt.kind) {
				t.Errorf("%v", err)
			}
			if text, _ := os.ReadFile(path); string(text) != tt.text {
				t.Error("the file has changed")
			}
		})
	}
	if _, err := OpenDevIssuer(filepath.Join(t.TempDir(), "gone")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no directory: %v", err)
	}
}

func TestSignRefuses(t *testing.T) {
	d, err := NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("g", 4000)
	for name, g := range map[string]Grant{
		"nobody":      {Life: time.Hour},
		"two parts":   {Subject: "a#b", Life: time.Hour},
		"a space":     {Subject: "a b", Life: time.Hour},
		"no life":     {Subject: "a"},
		"negative":    {Subject: "a", Life: -time.Hour},
		"for ever":    {Subject: "a", Life: MaxDevLife + time.Second},
		"empty group": {Subject: "a", Life: time.Hour, Groups: []string{""}},
		"many groups": {Subject: "a", Life: time.Hour, Groups: []string{long, long}},
	} {
		if token, _, err := d.Sign(g, time.Unix(1_800_000_000, 0)); !fault.Is(err, fault.Invalid) || token != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

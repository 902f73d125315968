package apns

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/touchline/touchline/edge/cricket/push/sandbox"
)

// memory is a TokenStore.
type memory struct {
	mu     sync.Mutex
	saved  Bearer
	has    bool
	saves  int // of tokens that were made
	made   map[string]bool
	failed bool
}

func (m *memory) Load(context.Context, string) (Bearer, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed {
		return Bearer{}, false, errors.New("disk on fire")
	}
	return m.saved, m.has, nil
}

func (m *memory) Save(_ context.Context, b Bearer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.Token != "" && b.Token != m.saved.Token && !m.made[b.Token] {
		if m.made == nil {
			m.made = map[string]bool{m.saved.Token: true}
		}
		m.made[b.Token] = true
		m.saves++
	}
	if m.failed {
		return errors.New("disk on fire")
	}
	m.saved, m.has = b, true
	return nil
}

// sign makes a bearer as if it had been made at iat.
func (r *rig) sign(iat time.Time) string {
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": r.cfg.TeamID, "iat": iat.Unix()})
	t.Header["kid"] = r.cfg.KeyID
	s, err := t.SignedString(r.cfg.Key)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// crowd sends many pushes at once; all must be let through by the provider's check.
func (r *rig) crowd(c *Client) {
	r.t.Helper()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if res := c.Send(r.t.Context(), r.push()); res.Status != 200 && res.Reason != "TooManyRequests" {
				r.t.Errorf("%+v", res)
			}
		})
	}
	wg.Wait()
}

func TestBearerIsMadeOnceAndKept(t *testing.T) {
	m := &memory{}
	r := newRig(t, func(cfg *Config) { cfg.Tokens = m })
	r.crowd(r.Client)
	r.crowd(r.another()) // a restart: a new one within 20 minutes would be refused
	if m.saves != 1 {
		t.Errorf("%d provider tokens made", m.saves)
	}
}

func TestBearerRefresh(t *testing.T) {
	m := &memory{}
	shift := time.Duration(0)
	var mu sync.Mutex
	r := newRig(t, func(cfg *Config) {
		cfg.Tokens = m
		cfg.now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return time.Now().Add(shift)
		}
	})
	ages := []struct {
		shift time.Duration
		made  int
	}{
		{0, 1}, {39 * time.Minute, 1}, {50 * time.Minute, 2}, {-3 * time.Hour, 3},
	}
	for _, a := range ages {
		mu.Lock()
		shift = a.shift
		mu.Unlock()
		if _, err := r.bearers.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.saves != a.made {
			t.Errorf("clock shifted by %v: %d made, want %d", a.shift, m.saves, a.made)
		}
	}
}

// TestBearerExpired starts with a token that this node takes for fresh and Apple for expired.
func TestBearerExpired(t *testing.T) {
	m := &memory{}
	r := newRig(t, func(cfg *Config) { cfg.Tokens = m })
	old := r.sign(time.Now().Add(-61 * time.Minute))
	m.saved = Bearer{Token: old, IssuedAt: time.Now().Add(-30 * time.Minute), Key: r.bearers.fingerprint}
	m.has = true
	r.crowd(r.Client)
	if m.saves != 1 || m.saved.Token == old {
		t.Errorf("%d made", m.saves)
	}
}

// TestBearerTooOften makes a token too soon after another process did, and continues with the older one.
func TestBearerTooOften(t *testing.T) {
	m := &memory{}
	r := newRig(t, func(cfg *Config) { cfg.Tokens = m })
	first := r.sign(time.Now().Add(-10 * time.Minute))
	m.saved, m.has = Bearer{Token: first, IssuedAt: time.Now().Add(-50 * time.Minute), Key: r.bearers.fingerprint}, true
	r.bearers.load(t.Context())
	// Apple learns of the first; then this node thinks it is 50 minutes old and makes another.
	b := r.bearers.current.Load()
	if res := r.once(t.Context(), r.push(), b); res.Action != Accepted {
		t.Fatalf("%+v", res)
	}
	r.pass()
	if res := r.Send(t.Context(), r.push()); res.Action != KeepToken || !res.Alarm {
		t.Fatalf("second token: %+v", res)
	}
	if res := r.Send(t.Context(), r.push()); res.Action != Accepted {
		t.Errorf("back on the first: %+v", res)
	}
	if m.saves != 1 {
		t.Errorf("%d made, want none within 20 minutes of the refusal", m.saves)
	}
}

// TestBearerTooOftenAtFirst has no older one to go back to: nothing is sent for 20 minutes.
func TestBearerTooOftenAtFirst(t *testing.T) {
	shift := time.Duration(0)
	m := &memory{}
	r := newRig(t, func(cfg *Config) {
		cfg.Tokens = m
		cfg.now = func() time.Time { return time.Now().Add(shift) }
	})
	r.box.Script(r.phone.DeviceToken, 1, sandbox.Reply{Status: 429, Reason: "TooManyProviderTokenUpdates"})
	res := r.Send(t.Context(), r.push())
	if res.Action != Stop || !res.Alarm || res.RetryAfter < 19*time.Minute || res.RetryAfter > bearerMinAge {
		t.Errorf("refused: %+v", res)
	}
	if res := r.Send(t.Context(), r.push()); res.Reason != ReasonNoBearer || res.RetryAfter < 19*time.Minute {
		t.Errorf("before its time: %+v", res)
	}
	if res := r.another().Send(t.Context(), r.push()); res.Reason != ReasonNoBearer || res.RetryAfter < 19*time.Minute || m.saves != 1 {
		t.Errorf("another process does not wait: %+v, %d made", res, m.saves)
	}
	shift = 20*time.Minute + time.Second
	if _, err := r.bearers.get(t.Context()); err != nil || m.saves != 2 {
		t.Errorf("after 20 minutes: %d made, %v", m.saves, err)
	}
}

// TestBearerOfABesideProcess: two processes with one store share one provider token, and one successor when it is too old.
func TestBearerOfABesideProcess(t *testing.T) {
	shift := time.Duration(0)
	m := &memory{}
	r := newRig(t, func(cfg *Config) {
		cfg.Tokens = m
		cfg.now = func() time.Time { return time.Now().Add(shift) }
	})
	beside := r.another()
	first, err := r.bearers.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := beside.bearers.get(t.Context()); err != nil || b.Token != first.Token {
		t.Errorf("beside: another token, %v", err)
	}
	shift = 46 * time.Minute
	// The signer dates its tokens by the real clock: this one is made as if at the shifted time.
	second := Bearer{Token: r.sign(time.Now().Add(shift)), IssuedAt: time.Now().Add(shift), Key: r.bearers.fingerprint}
	if err := m.Save(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*bearers{"one": r.bearers, "the other": beside.bearers} {
		if b, err := b.get(t.Context()); err != nil || b.Token != second.Token {
			t.Errorf("%s does not use the token made meanwhile: %v", name, err)
		}
	}
	if m.saves != 2 {
		t.Errorf("%d made", m.saves)
	}
}

func TestBearerOfAnotherKey(t *testing.T) {
	m := &memory{saved: Bearer{Token: "x.y.z", IssuedAt: time.Now(), Key: "other"}, has: true}
	r := newRig(t, func(cfg *Config) { cfg.Tokens = m })
	if res := r.Send(t.Context(), r.push()); res.Action != Accepted {
		t.Errorf("%+v", res)
	}
}

func TestTokenStoreFails(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Tokens = &memory{failed: true} })
	if res := r.Send(t.Context(), r.push()); res.Action != Accepted {
		t.Errorf("%+v", res)
	}
	if log := r.logs.String(); !strings.Contains(log, "not loaded") || !strings.Contains(log, "not saved") {
		t.Errorf("log %q", log)
	}
}

// Machines with the same key use the same dates for provider tokens, so Apple accepts those of all of them, whenever each started.
func TestBearersOfAFleet(t *testing.T) {
	var mu sync.Mutex
	base, shift := time.Now().Truncate(bearerRefresh), 10*time.Minute
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return base.Add(shift)
	}
	r := newRig(t, func(cfg *Config) { cfg.Fleet, cfg.Tokens, cfg.now = true, &memory{}, now })
	dates := map[time.Time]bool{}
	for _, at := range []time.Duration{10 * time.Minute, 25 * time.Minute, 44 * time.Minute, 46 * time.Minute} {
		mu.Lock()
		shift = at
		mu.Unlock()
		r.cfg.Tokens = &memory{}
		other := r.another() // on another machine, which begins now
		for _, c := range []*Client{r.Client, other} {
			b, err := c.bearers.get(t.Context())
			if err != nil || now().Sub(b.IssuedAt) >= bearerRefresh || now().Before(b.IssuedAt) {
				t.Fatalf("at %s: %+v, %v", at, b, err)
			}
			dates[b.IssuedAt] = true
			if ok, err := c.bearers.renew(t.Context(), b); ok || err != nil {
				t.Errorf("at %s: a new one within its time: %v", at, err)
			}
		}
	}
	if len(dates) != 2 {
		t.Errorf("tokens of %d dates", len(dates))
	}
}

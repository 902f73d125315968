package apns

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/sideshow/apns2/token"
)

// Apple's rules for provider tokens: valid for an hour, and created at most every 20 minutes.
const (
	bearerRefresh = 45 * time.Minute
	bearerValid   = 60 * time.Minute
	bearerMinAge  = 20 * time.Minute
)

// Bearer is a provider token and when it was created, by the real clock, because Apple checks that.
type Bearer struct {
	Token    string
	IssuedAt time.Time
	Key      string // fingerprint of key, key id and team: a bearer of another key is ignored

	// Refused means that Apple rejected this token as one too many and no earlier one is left: it must not be used,
	// and no process may create another for 20 minutes.
	Refused bool
}

// TokenStore keeps the provider token across restarts, and for other processes with the same key. Without it a
// process that restarts often creates one each time, and Apple refuses them all for 20 minutes.
type TokenStore interface {
	// Load returns the bearer last saved under a fingerprint; ok is false if there is none.
	Load(ctx context.Context, key string) (b Bearer, ok bool, err error)
	// Save replaces the bearer with the fingerprint Bearer.Key.
	Save(ctx context.Context, b Bearer) error
}

// bearers provides the provider token. Reading it costs an atomic load; only one caller at a time creates a new one.
type bearers struct {
	key         *ecdsa.PrivateKey
	keyID, team string
	fingerprint string
	store       TokenStore
	fleet       bool
	now         func() time.Time
	log         *slog.Logger

	current atomic.Pointer[Bearer]
	mu      sync.Mutex
	before  *Bearer   // the one that current replaced
	hold    time.Time // no new one before then
}

func newBearers(cfg *Config) (*bearers, error) {
	public, err := x509.MarshalPKIXPublicKey(&cfg.Key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("provider key: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(public, "|%s|%s", cfg.KeyID, cfg.TeamID))
	return &bearers{
		key: cfg.Key, keyID: cfg.KeyID, team: cfg.TeamID, fingerprint: hex.EncodeToString(sum[:8]),
		store: cfg.Tokens, fleet: cfg.Fleet, now: cfg.now, log: cfg.Logger,
	}, nil
}

// errHeld means that there is no usable provider token, and that none may be created yet.
var errHeld = errors.New("apple does not accept a new provider token yet")

// get returns a bearer that Apple should accept.
func (b *bearers) get(ctx context.Context) (*Bearer, error) {
	if c := b.current.Load(); c != nil && b.age(c) < bearerRefresh {
		return c, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.current.Load()
	if (c == nil || b.age(c) >= bearerRefresh) && !b.now().Before(b.hold) {
		b.load(ctx) // perhaps another process has created one
		c = b.current.Load()
	}
	held := b.now().Before(b.hold)
	switch {
	case c != nil && (b.age(c) < bearerRefresh || held):
		return c, nil
	case held:
		return nil, errHeld
	default:
		return b.make(ctx)
	}
}

// held returns how long no provider token may be created.
func (b *bearers) held() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.hold.Sub(b.now()))
}

// renew replaces a bearer that Apple called expired; ok is false if it may not be replaced yet. Many pushes are
// refused at once: only the first of them creates a new one.
func (b *bearers) renew(ctx context.Context, refused *Bearer) (ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current.Load() != refused {
		return b.current.Load() != nil, nil
	}
	if b.age(refused) < bearerMinAge || b.now().Before(b.hold) || b.fleet && b.slot().Equal(refused.IssuedAt) {
		return false, nil
	}
	_, err = b.make(ctx)
	return err == nil, err
}

// revert returns to the bearer before the refused one if that is still valid, and forbids new ones for 20
// minutes. If there is none, it returns how long to wait.
func (b *bearers) revert(ctx context.Context, refused *Bearer) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current.Load() == refused {
		b.hold = b.now().Add(bearerMinAge)
		if b.before != nil && b.age(b.before) < bearerValid {
			b.current.Store(b.before)
			b.save(ctx, b.before)
		} else {
			b.current.Store(nil)
			b.save(ctx, &Bearer{IssuedAt: b.now().UTC(), Key: b.fingerprint, Refused: true})
		}
		b.before = nil
	}
	if b.current.Load() == nil {
		wait = max(0, b.hold.Sub(b.now()))
	}
	return wait
}

// age returns the age of a bearer. One dated in the future counts as expired: the clock was wrong when it was created.
func (b *bearers) age(c *Bearer) time.Duration {
	age := b.now().Sub(c.IssuedAt)
	if age < -time.Minute {
		return bearerValid
	}
	return age
}

// load adopts the bearer saved by another process, or its refusal. Called with the lock held.
func (b *bearers) load(ctx context.Context) {
	if b.store == nil {
		return
	}
	saved, ok, err := b.store.Load(ctx, b.fingerprint)
	if err != nil {
		b.log.Warn("provider token not loaded", "err", err)
		return
	}
	c := b.current.Load()
	switch {
	case !ok || saved.Key != b.fingerprint || b.age(&saved) >= bearerValid:
	case saved.Refused:
		b.hold = saved.IssuedAt.Add(bearerMinAge)
	case c == nil || saved.IssuedAt.After(c.IssuedAt):
		b.before = b.current.Swap(&saved)
	}
}

// save stores a bearer for other processes.
func (b *bearers) save(ctx context.Context, v *Bearer) {
	if b.store == nil {
		return
	}
	if err := b.store.Save(ctx, *v); err != nil {
		// The push can be sent: only a restart within 20 minutes would suffer.
		b.log.Warn("provider token not saved", "err", err)
	}
}

// slot returns the date for a new provider token in a fleet. All nodes use the same dates, so that Apple never sees
// a token that comes too soon after another node's. They are 45 minutes apart, and no token gets older than that.
func (b *bearers) slot() time.Time { return b.now().UTC().Truncate(bearerRefresh) }

// make creates and signs a new bearer. Called with the lock held.
func (b *bearers) make(ctx context.Context) (made *Bearer, err error) {
	if b.fleet {
		made, err = b.sign(b.slot())
	} else {
		signer := token.Token{AuthKey: b.key, KeyID: b.keyID, TeamID: b.team}
		_, err = signer.Generate()
		made = &Bearer{Token: signer.Bearer, IssuedAt: time.Unix(signer.IssuedAt, 0).UTC(), Key: b.fingerprint}
	}
	if err != nil {
		return nil, fmt.Errorf("provider token: %w", err)
	}
	b.before = b.current.Swap(made)
	b.save(ctx, made)
	return made, nil
}

// sign creates a bearer dated at.
func (b *bearers) sign(at time.Time) (*Bearer, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": b.team, "iat": at.Unix()})
	t.Header["kid"] = b.keyID
	text, err := t.SignedString(b.key)
	return &Bearer{Token: text, IssuedAt: at, Key: b.fingerprint}, err
}

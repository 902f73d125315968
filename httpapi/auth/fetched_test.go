package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/fault"
)

func (r *rig) expect(t *testing.T, what, token string, kind fault.Kind, ok bool) {
	t.Helper()
	_, err := r.Verify(t.Context(), token)
	if ok && err != nil || !ok && !fault.Is(err, kind) {
		t.Errorf("%s: %v", what, err)
	}
}

func (r *rig) expectAsked(t *testing.T, what string, want int64) {
	t.Helper()
	// Background fetches end when nothing waits for them any more.
	for _, by := range r.trust {
		if f, ok := by.ring.(*fetched); ok {
			f.work.Wait()
		}
	}
	if n := r.asked.Load(); n != want {
		t.Errorf("%s: %d fetches, want %d", what, n, want)
	}
}

// However many kids tokens name, the issuer is soon asked only once in five minutes.
func TestUnknownKids(t *testing.T) {
	r := newRig(t)
	kid := 0
	flood := func() {
		for range 500 {
			kid++
			token := r.good().with("iat", r.clock.Now().Add(-time.Hour).Unix()).head("kid", fmt.Sprint("k", 1000+kid)).unsigned() + ".AAAA"
			r.expect(t, "unknown kid", token, fault.Unauthorized, false)
		}
	}
	flood()
	asked := int64(1)
	r.expectAsked(t, "first flood", asked)
	for _, pause := range []int{10, 10, 20, 40, 80, 160, 300, 300} {
		r.clock.forward(time.Duration(pause-1) * time.Second)
		flood()
		r.expectAsked(t, "too soon", asked)
		r.clock.forward(time.Second)
		flood()
		asked++
		r.expectAsked(t, fmt.Sprint("after seconds: ", pause), asked)
	}
	r.expect(t, "a known one", r.good().token(), 0, true)
}

// A key is replaced just after the keys were fetched: its tokens are not refused, but put off until the issuer may be asked again, seconds
// later. The new key may have the old one's name.
func TestRotationJustAfterAFetch(t *testing.T) {
	for _, kid := range []string{"k2", "k1"} {
		r := newRig(t)
		old := r.good().token()
		r.expect(t, "old key", old, 0, true)
		r.serve(keySet(map[string]any{kid: &otherKey().PublicKey}))
		fresh := r.good().head("kid", kid).signed(jwt.SigningMethodRS256, otherKey())
		kind := fault.Unavailable
		if kid == "k1" {
			kind = fault.Unauthorized // nothing tells it from a forged one
		}
		r.expect(t, "at once, "+kid, fresh, kind, false)
		r.clock.forward(retryAfter)
		r.expect(t, "seconds later, "+kid, fresh, 0, true)
		r.clock.forward(Leeway)
		r.expect(t, "the old key is withdrawn", old, fault.Unauthorized, false)
		r.expect(t, "a forged one", r.good().head("kid", kid).unsigned()+".AAAA", fault.Unauthorized, false)
	}
}

// A key that the issuer withdrew is not accepted for long, although nothing asks for an unknown one.
func TestWithdrawnKey(t *testing.T) {
	r := newRig(t)
	r.expect(t, "before", r.good().token(), 0, true)
	r.serve(keySet(map[string]any{"k2": &otherKey().PublicKey}))
	r.clock.forward(verifyAfter + time.Second)
	r.expect(t, "after six hours, the first token", r.good().token(), fault.Unauthorized, false)
}

// The issuer rotates its key: the new one is found, and the old one is no longer valid, even in tokens verified before.
func TestRotation(t *testing.T) {
	r := newRig(t)
	old := r.good().token()
	fresh := r.good().head("kid", "k2").signed(jwt.SigningMethodRS256, otherKey())
	r.expect(t, "old key", old, 0, true)
	r.expect(t, "new key, before it is published", fresh, fault.Unavailable, false)
	r.serve(keySet(map[string]any{"k2": &otherKey().PublicKey}))
	r.expect(t, "new key, too soon to ask", fresh, fault.Unavailable, false)
	r.clock.forward(askEvery)
	r.expect(t, "new key", fresh, 0, true)
	r.expect(t, "old key, withdrawn", old, fault.Unauthorized, false)
}

// All requests during a fetch wait for that one.
func TestSingleFlight(t *testing.T) {
	r := newRig(t)
	body := keySet(map[string]any{"k1": &theirKey().PublicKey})
	begun, release := make(chan struct{}, 100), make(chan struct{})
	r.handle(func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		<-release
		w.Write(body)
	})
	token := r.good().token()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := r.Verify(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	<-begun
	// One caller's cancellation does not affect the others.
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNever)
	if _, err := r.Verify(ctx, token+"x"); err == nil {
		t.Error("a request that was given up has an answer")
	}
	close(release)
	all.Wait()
	r.expectAsked(t, "fifty at once", 1)
}

// A request cancelled while it waits ends at once; the fetch continues for others.
func TestGivenUp(t *testing.T) {
	r := newRig(t)
	body := keySet(map[string]any{"k1": &theirKey().PublicKey})
	begun, release := make(chan struct{}, 1), make(chan struct{})
	r.handle(func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		<-release
		w.Write(body)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := r.Verify(ctx, r.good().token())
		ended <- err
	}()
	<-begun
	cancel(context.Canceled)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(release)
	r.expect(t, "the next one", r.good().token(), 0, true)
	r.expectAsked(t, "both", 1)
}

// A node that starts without the internet recognizes its users by the stored keys for thirty days.
func TestOfflineStart(t *testing.T) {
	r := newRig(t)
	r.expect(t, "online", r.good().token(), 0, true)
	r.expectAsked(t, "online", 1)
	r.server.Close()
	r.restart()
	r.expect(t, "offline", r.good().token(), 0, true)
	r.expect(t, "offline, another key", r.good().signed(jwt.SigningMethodRS256, otherKey()), fault.Unauthorized, false)
	r.expect(t, "offline, kid never seen, too soon to ask", r.good().head("kid", "k2").token(), fault.Unavailable, false)
	r.clock.forward(askEvery)
	// Nobody knows now whether the issuer has a new key: an app must not sign its user out because of that.
	r.expect(t, "offline, kid never seen", r.good().head("kid", "k2").token(), fault.Unavailable, false)
	r.clock.forward(grace - askEvery - time.Second)
	r.expect(t, "offline for almost 30 days", r.good().token(), 0, true)
	r.clock.forward(2 * time.Second)
	r.expect(t, "offline for 30 days", r.good().with("sub", "u2").token(), fault.Unavailable, false)
}

// A node that never had the keys retries soon, and then less and less often.
func TestNeverHadKeys(t *testing.T) {
	r := newRig(t)
	r.status(http.StatusBadGateway)
	token := r.good().token()
	want := int64(0)
	for _, pause := range []int{0, 10, 20, 40, 80, 160, 300, 300} {
		r.clock.forward(time.Duration(pause-1) * time.Second)
		if pause > 0 {
			r.expect(t, "too soon", token, fault.Unavailable, false)
			r.expectAsked(t, "too soon", want)
		}
		r.clock.forward(time.Second)
		want++
		r.expect(t, "no keys", token, fault.Unavailable, false)
		r.expectAsked(t, fmt.Sprint("after ", pause), want)
	}
	r.serve(keySet(map[string]any{"k1": &theirKey().PublicKey}))
	r.clock.forward(askEvery)
	r.expect(t, "at last", r.good().token(), 0, true)
}

// Old keys are fetched again in the background; "not modified" renews them.
func TestRenewal(t *testing.T) {
	r := newRig(t)
	r.expect(t, "first", r.good().token(), 0, true)
	for n := range 10 {
		r.clock.forward(grace - time.Hour)
		r.expect(t, "old keys", r.good().token(), 0, true)
		r.expectAsked(t, "renewed", int64(n)+2)
	}
	r.restart()
	r.expect(t, "after a restart", r.good().token(), 0, true)
}

// A clock that was wrong and is set back does not prevent a fetch.
func TestClockSetBack(t *testing.T) {
	r := newRig(t)
	r.clock.forward(3 * 365 * 24 * time.Hour)
	r.expect(t, "in the future", r.good().token(), 0, true)
	r.clock.forward(-3 * 365 * 24 * time.Hour)
	r.restart()
	r.serve(keySet(map[string]any{"k2": &otherKey().PublicKey}))
	r.expect(t, "new key", r.good().head("kid", "k2").signed(jwt.SigningMethodRS256, otherKey()), 0, true)
}

// Whatever an issuer answers, the current keys stay.
func TestBadAnswers(t *testing.T) {
	small := `{"kty":"RSA","kid":"k1","use":"sig","n":"AQAB","e":"AQAB"}`
	for name, answer := range map[string]http.HandlerFunc{
		"error":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"HTML":        text("<html>captive portal</html>"),
		"empty":       text(""),
		"cut":         text(string(keySet(map[string]any{"k1": &theirKey().PublicKey})[:200])),
		"no keys":     text(`{"keys":[]}`),
		"null":        text(`null`),
		"weak":        text(`{"keys":[` + small + `]}`),
		"private":     text(string(keySet(map[string]any{"k1": theirKey()}))),
		"symmetric":   text(`{"keys":[{"kty":"oct","kid":"k1","k":"AAAA"}]}`),
		"for secrets": text(strings.ReplaceAll(string(keySet(map[string]any{"k1": &theirKey().PublicKey})), `"sig"`, `"enc"`)),
		"endless":     text(`{"keys":[` + strings.Repeat(small+",", 4000) + small + `]}`),
		"elsewhere":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
		"not changed": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			good := *r.answer.Load()
			r.handle(answer)
			r.expect(t, "never had any", r.good().token(), fault.Unavailable, false)
			r.handle(good)
			r.clock.forward(retryAfter)
			r.expect(t, "good answer", r.good().token(), 0, true)
			r.handle(answer)
			r.clock.forward(2 * refreshAfter)
			r.expect(t, "kept", r.good().token(), 0, true)
			r.expectAsked(t, "in all", 3)
			r.expect(t, "still kept", r.good().with("sub", "u2").token(), 0, true)
		})
	}
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
}

// Keys that cannot be stored are kept in memory; an unreadable store is our error, not the caller's.
func TestBadStore(t *testing.T) {
	r := newRig(t)
	r.expect(t, "first", r.good().token(), 0, true)
	r.kept.fail = errNever
	r.restart()
	if _, err := r.Verify(t.Context(), r.good().token()); !errors.Is(err, errNever) {
		t.Errorf("%v", err)
	}
	r.kept.fail = nil
	r.kept.sets[r.issuer] = KeySet{Issuer: r.issuer, Body: []byte("{"), FetchedAt: r.clock.Now()}
	r.expect(t, "kept keys that cannot be read", r.good().token(), 0, true)
}

// Close ends a fetch that hangs.
func TestClose(t *testing.T) {
	r := newRig(t)
	begun, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	r.handle(func(http.ResponseWriter, *http.Request) {
		close(begun)
		<-release
	})
	ended := make(chan error)
	go func() {
		_, err := r.Verify(context.WithoutCancel(t.Context()), r.good().token())
		ended <- err
	}()
	<-begun
	r.Close()
	if err := <-ended; !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	r.expect(t, "closed", r.good().token(), fault.Unavailable, false)
	r.expectAsked(t, "closed", 1)
}

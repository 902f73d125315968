package session

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const (
	oldKept   = 32 // old secrets kept to recognize copies
	oldLength = 16 // bytes of each hash
)

// step is what a request's secret means for its session.
type step uint8

const (
	unknown step = iota // the secret was never the session's
	good
	due   // valid, and it is time for the next secret
	taken // the next secret, which becomes current
	copied
)

// judgeSecret returns what a secret means for a session at a given time.
func (r *row) judgeSecret(secret []byte, now, every int64) step {
	switch {
	case subtle.ConstantTimeCompare(secret, r.Secret) == 1:
		if now-r.Rotated >= every && (r.Next == nil || now-r.NextAt >= seconds(grace)) {
			return due
		}
		return good
	case r.Next != nil && subtle.ConstantTimeCompare(secret, r.Next) == 1:
		return taken
	}
	for at := len(r.Old) - oldLength; at >= 0; at -= oldLength {
		if !bytes.Equal(secret[:oldLength], r.Old[at:at+oldLength]) {
			continue
		}
		if at == len(r.Old)-oldLength && now-r.Rotated < seconds(grace) {
			return good
		}
		return copied
	}
	return unknown
}

// replacedJustNow reports whether a secret is the one before the current one, and requests with it may still be on their way.
func (r *row) replacedJustNow(secret []byte, now int64) bool {
	last := r.Old[max(0, len(r.Old)-oldLength):]
	return len(last) > 0 && bytes.Equal(secret[:oldLength], last) && now-r.Rotated < seconds(grace)
}

// Shown is a cookie as a request shows it.
type Shown struct {
	Value  string
	Name   CookieName
	Secure bool // the browser reached the node by https
	Renew  bool // the answer can carry a cookie
}

// isOutdated reports whether a cookie has the name that all cookies had before there were prefixed ones.
func (s *Shown) isOutdated() bool { return s.Secure && s.Name == PlainName }

// Find returns the person of a cookie. If the answer can carry a cookie and it is time, next is the new cookie; otherwise it is empty.
// Without such a session the error is fault.Unauthorized.
func (k *Keeper) Find(ctx context.Context, shown Shown) (id auth.Identity, next string, err error) {
	name, secret, _ := strings.Cut(shown.Value, ".")
	if len(shown.Value) > 100 || name == "" || secret == "" {
		return id, "", endedError()
	}
	var r *row
	what := unknown
	read := func(tx *store.Tx) (err error) {
		if r, err = k.get(tx, name); err == nil && r != nil {
			what = k.judgeCookie(r, hash(secret), shown)
		}
		return err
	}
	if err := k.Store.View(ctx, read); err != nil {
		return id, "", err
	}
	if r != nil && what > good {
		err = k.Store.Update(ctx, func(tx *store.Tx) (err error) {
			if err = read(tx); err == nil && r != nil {
				next, err = k.change(tx, r, what, shown.Name)
			}
			return err
		})
	}
	switch {
	case err != nil:
		return id, "", err
	case what == copied:
		k.Log.Warn("a session was ended: a secret that had been replaced was used again", "session", r.ID, "user", r.Subject)
		return id, "", endedError()
	case r == nil || what == unknown:
		return id, "", endedError()
	}
	id = r.identity()
	id.Scheme, id.Session = auth.Session, r.ID
	id.Expires = time.Unix(min(k.ends(r), k.now()+seconds(lookAgain)), 0)
	return id, next, nil
}

// judgeCookie returns what a cookie means for a session now. Under the plain name https accepts only sessions from before there were
// prefixed names: over http anybody on the way can set a plain cookie for the public host too, and so sign somebody in as another.
func (k *Keeper) judgeCookie(r *row, secret []byte, shown Shown) step {
	every := seconds(min(rotateEvery, k.Idle/4))
	if shown.isOutdated() {
		switch {
		case r.Cookie == "":
			every = 0 // the name is replaced at once
		case r.Cookie != PrefixedName || !r.replacedJustNow(secret, k.now()):
			return unknown
		}
	}
	what := r.judgeSecret(secret, k.now(), every)
	if what == due && !shown.Renew {
		return good
	}
	return what
}

// change applies a step to a session.
func (k *Keeper) change(tx *store.Tx, r *row, what step, under CookieName) (next string, err error) {
	switch what {
	case due:
		secret := rand.Text()
		r.Next, r.NextAt = hash(secret), k.now()
		return r.ID + "." + secret, k.save(tx, r)
	case taken:
		r.Old = append(r.Old, r.Secret[:oldLength]...)
		r.Old = r.Old[max(0, len(r.Old)-oldKept*oldLength):]
		r.Secret, r.Next, r.Rotated = r.Next, nil, k.now()
		if under == PrefixedName {
			r.Cookie = PrefixedName
		}
		return "", k.save(tx, r)
	case copied:
		return "", drop(tx, tableSessions, r.ID)
	}
	return "", nil
}

// endedError returns the error for a cookie without a session.
func endedError() error {
	return fault.New(fault.Unauthorized, "unauthorized", "Your session has ended: sign in again. A session belongs to one node: at another node you sign in again too.")
}

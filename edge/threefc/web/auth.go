package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const cookieName = "threefc_session"

func (a *api) authRoutes() []route {
	return []route{
		{"GET", "/v1/health", public, reads(func(tx *store.Tx, _ *request) (any, error) {
			return map[string]string{"status": "ok", "service": "api", "version": a.Version, "timestamp": a.Service.NowText(tx)}, nil
		})},
		{"POST", "/v1/auth/magic/start", public, forAddress(http.StatusAccepted, a.magicStart)},
		{"POST", "/v1/auth/magic/complete", public, writes(http.StatusOK, readToken, a.completeMagic, a.signedInAs)},
		{"POST", "/v1/auth/code/complete", public, writes(http.StatusOK, readCode, a.completeCode, a.signedInAs)},
		{"POST", "/v1/leagues/:league/sign-in-codes", admin, forAddress(http.StatusCreated, a.signInCode)},
		{"GET", "/v1/auth/session", session, reads(func(_ *store.Tx, r *request) (any, error) {
			return map[string]any{"authenticated": true, "session": r.signIn}, nil
		})},
		{"POST", "/v1/auth/logout", public, a.postLogout},
		{"GET", "/v1/auth/sessions", mailed, a.getSessions},
		{"DELETE", "/v1/auth/sessions", mailed, writes(http.StatusNoContent, nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) {
			return a.Service.EndSessions(tx, r.User, func(*threefc.SignIn) bool { return true })
		}, nil)},
		{"DELETE", "/v1/auth/sessions/:id", mailed, writes(http.StatusNoContent, readSessionEnd, func(tx *store.Tx, r *request, id string) (threefc.Change, error) {
			return a.Service.EndSession(tx, r.User, id)
		}, nil)},
	}
}

// email reads the address in a body.
func email(b *bind.Body) (string, error) {
	raw, ok := b.Get("email")
	if !ok {
		b.Bad("email", "is required")
		return "", nil
	}
	var given string
	_ = json.Unmarshal(raw, &given) // Email refuses the empty address of a non-string
	return threefc.Email(given)
}

// forAddress returns a handler that calls do with the address in the body.
func forAddress(status int, do func(tx *store.Tx, r *request, address string) (any, error)) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		r.Status = status
		address, err := email(r.Body())
		return func(tx *store.Tx) (any, error) { return do(tx, r, address) }, err
	}
}

// magicStart sends a sign-in link. Limits and response do not depend on whether the address is known, so they do not reveal it. An address
// is limited by client, so that nobody keeps its owner from signing in; the outbox limits it for all clients.
func (a *api) magicStart(tx *store.Tx, r *request, address string) (any, error) {
	if !a.mails() {
		return nil, fault.New(fault.Unavailable, "mail_unavailable", "This node cannot send mail. Ask an admin of your league for a sign-in code.")
	}
	client := httpapi.Client(r.Context)
	err := a.clients.countOne(client, tx.Now())
	if err == nil {
		err = a.starts.countOne(client+" "+address, tx.Now())
	}
	if err != nil {
		return nil, err
	}
	m, err := a.Service.StartMagic(tx, address)
	if err != nil {
		return nil, err
	}
	out := map[string]string{"status": "sent", "email": address, "expiresAt": m.ExpiresAt, "messageId": m.MessageID}
	return out, a.Queue(tx, m.Mail(address, a.link(r, "/-/sign-in", url.Values{"token": {m.Token}}), client))
}

// link returns the URL of a path below the mount: under PublicURL or, without one, under the address of the request.
func (a *api) link(r *request, path string, q url.Values) string {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	if a.PublicURL == "" {
		return httpapi.Address(r.Context, a.mount+path)
	}
	return strings.TrimSuffix(a.PublicURL, "/") + a.mount + path
}

// readToken reads the token of a link and fetches its row.
func readToken(r *request, b *bind.Body) (token string, err error) {
	token = text(b, "token")
	if id, _, _ := strings.Cut(token, "."); threefc.IsID(id) {
		r.wants = append(r.wants, threefc.MagicKey(id))
	}
	r.proof = func(*store.Tx) (string, error) { return threefc.MagicProof(token), nil }
	return token, nil
}

func (a *api) completeMagic(tx *store.Tx, r *request, token string) (threefc.Change, error) {
	secret, err := r.beginSession(tx)
	if err != nil {
		return threefc.Change{}, err
	}
	return a.Service.CompleteMagic(tx, token, secret)
}

// getSessions lists the user's sessions.
func (a *api) getSessions(r *request) (work, error) {
	if err := r.need(threefc.UserKey(r.User)); err != nil {
		return nil, err
	}
	return func(tx *store.Tx) (any, error) {
		all, err := r.ownSessions(tx)
		return wrapList("sessions", all), err
	}, nil
}

// ownSessions lists the user's sessions.
func (r *request) ownSessions(tx *store.Tx) ([]threefc.SignIn, error) {
	all, err := r.api.Service.SessionsOf(tx, r.User)
	for i := range all {
		all[i].Current = all[i].SessionID == r.signIn.SessionID
	}
	return all, err
}

// readSessionEnd reads the id of the session to end, and fetches its row.
func readSessionEnd(r *request, _ *bind.Body) (id string, err error) {
	if id = r.Param("id"); !threefc.IsID(id) {
		return "", fault.New(fault.NotFound, "", "There is no such session.")
	}
	r.wants = append(r.wants, threefc.SignInKey(id))
	return id, nil
}

// signedInAs answers with the new session and sets its cookie.
func (a *api) signedInAs(tx *store.Tx, r *request) (any, error) {
	secret, err := r.beginSession(tx)
	if err != nil {
		return nil, err
	}
	in, err := a.Service.SignedIn(tx, secret)
	if err == nil {
		a.setCookie(r, secret, int(threefc.SignInLife.Seconds()))
	}
	return map[string]any{"status": "authenticated", "session": in}, err
}

func (a *api) setCookie(r *request, value string, age int) {
	http.SetCookie(r.Writer, &http.Cookie{ //nolint:gosec // Secure if the node's links are https
		Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: age,
		Secure: strings.HasPrefix(a.link(r, "", nil), "https://"),
	})
}

// readCode reads an address and a code.
func readCode(r *request, b *bind.Body) (in [2]string, err error) {
	in[0], err = email(b)
	in[1] = text(b, "code")
	r.proof = func(tx *store.Tx) (string, error) { return threefc.CodeProof(tx, in[1]) }
	return in, err
}

// completeCode signs in with a code. After five wrong codes a client, and after twenty an address, may not try again until the first is an
// hour old.
func (a *api) completeCode(tx *store.Tx, r *request, in [2]string) (c threefc.Change, err error) {
	client, now := httpapi.Client(r.Context), tx.Now()
	if err = cmp.Or(a.wrong.full(client, now), a.guessed.full(in[0], now)); err != nil {
		return c, err
	}
	secret, err := r.beginSession(tx)
	if err != nil {
		return c, err
	}
	if c, err = a.Service.CompleteCode(tx, in[0], in[1], secret); fault.Is(err, fault.Unauthorized) {
		_, _ = a.wrong.countOne(client, now), a.guessed.countOne(in[0], now) // not full: checked above
	}
	return c, err
}

func (a *api) signInCode(tx *store.Tx, r *request, address string) (any, error) {
	code, until, err := a.Service.CodeFor(tx, r.league, r.User, address)
	return map[string]string{"code": code, "email": address, "expiresAt": until}, err
}

// postLogout ends the cookie's session, if any.
func (a *api) postLogout(r *request) (work, error) {
	if cookie, err := r.Request.Cookie(cookieName); err == nil {
		if err := httpapi.Update(r.Context, func(tx *store.Tx) error { return a.Service.SignOut(tx, cookie.Value) }); err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "logout_unavailable", "Signing out is not possible right now. Try again in a moment.")
		}
	}
	a.setCookie(r, "", -1)
	httpapi.ForgetPages(r.Context)
	return nil, httpapi.NoContent(r.Context)
}

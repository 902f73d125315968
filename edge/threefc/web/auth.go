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
	"github.com/touchline/touchline/store/attr"
)

const cookieName = "threefc_session"

func (h *handlers) getHealth(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		return map[string]string{"status": "ok", "service": "api", "version": h.Version, "timestamp": h.Service.NowText(tx)}, nil
	})
}

// readEmail reads the address in a body.
func readEmail(b *bind.Body) (string, error) {
	raw, ok := b.Get("email")
	if !ok {
		b.Bad("email", "is required")
		return "", nil
	}
	var given string
	_ = json.Unmarshal(raw, &given) // Email refuses the empty address of a non-string
	return threefc.Email(given)
}

// startMagicLink sends a sign-in link. Limits and response do not depend on whether the address is known, so they do not reveal it. An address
// is limited by client, so that nobody keeps its owner from signing in; the outbox limits it for all clients.
func (h *handlers) startMagicLink(r *httpapi.Request) (httpapi.Response, error) {
	address, err := readEmail(r.Body())
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusAccepted, func(tx *store.Tx) (any, error) {
		if !h.mails() {
			return nil, fault.New(fault.Unavailable, "mail_unavailable", "This node cannot send mail. Ask an admin of your league for a sign-in code.")
		}
		client := r.Client()
		if err := h.clients.countOne(client, tx.Now()); err != nil {
			return nil, err
		}
		if err := h.starts.countOne(client+" "+address, tx.Now()); err != nil {
			return nil, err
		}
		m, err := h.Service.StartMagic(tx, address)
		if err != nil {
			return nil, err
		}
		out := map[string]string{"status": "sent", "email": address, "expiresAt": m.ExpiresAt, "messageId": m.MessageID}
		return out, h.Queue(tx, m.Mail(address, h.link(r, "/-/sign-in", url.Values{"token": {m.Token}}), client))
	})
}

// link returns the URL of a path below the mount: under PublicURL or, without one, under the address of the request.
func (h *handlers) link(r *httpapi.Request, path string, q url.Values) string {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	if h.PublicURL == "" {
		return r.Address(h.mount + path)
	}
	return strings.TrimSuffix(h.PublicURL, "/") + h.mount + path
}

// completeMagicLink signs in with the token of a link. A repeated request gets the same session.
func (h *handlers) completeMagicLink(r *httpapi.Request) (httpapi.Response, error) {
	token := text(r.Body(), "token")
	var rows []attr.Item
	if id, _, _ := strings.Cut(token, "."); threefc.IsID(id) {
		rows = append(rows, threefc.MagicKey(id))
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: token, rows: rows,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			return h.Service.CompleteMagic(tx, token, run.sessionSecret(threefc.MagicProof(token)))
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) {
			return h.beginSession(tx, r, run.sessionSecret(threefc.MagicProof(token)))
		},
	})
}

// completeSignInCode signs in with an address and a code. A repeated request gets the same session.
func (h *handlers) completeSignInCode(r *httpapi.Request) (httpapi.Response, error) {
	address, err := readEmail(r.Body())
	code := text(r.Body(), "code")
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: [2]string{address, code},
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			client, now := r.Client(), tx.Now()
			if err := cmp.Or(h.wrong.full(client, now), h.guessed.full(address, now)); err != nil {
				return threefc.Change{}, err
			}
			proof, err := threefc.CodeProof(tx, code)
			if err != nil {
				return threefc.Change{}, err
			}
			return h.completeCode(tx, client, address, code, run.sessionSecret(proof))
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) {
			proof, err := threefc.CodeProof(tx, code)
			if err != nil {
				return nil, err
			}
			return h.beginSession(tx, r, run.sessionSecret(proof))
		},
	})
}

// completeCode plans a sign-in with a code. After five wrong codes a client, and after twenty an address, may not try again until the first
// is an hour old.
func (h *handlers) completeCode(tx *store.Tx, client, address, code, secret string) (threefc.Change, error) {
	c, err := h.Service.CompleteCode(tx, address, code, secret)
	if fault.Is(err, fault.Unauthorized) {
		_ = h.wrong.countOne(client, tx.Now()) // not full: the caller has checked
		_ = h.guessed.countOne(address, tx.Now())
	}
	return c, err
}

// beginSession answers with a new session and sets its cookie.
func (h *handlers) beginSession(tx *store.Tx, r *httpapi.Request, secret string) (any, error) {
	in, err := h.Service.SignedIn(tx, secret)
	if err == nil {
		h.setCookie(r, secret, int(threefc.SignInLife.Seconds()))
	}
	return map[string]any{"status": "authenticated", "session": in}, err
}

func (h *handlers) setCookie(r *httpapi.Request, value string, age int) {
	r.SetCookie(&http.Cookie{ //nolint:gosec // Secure if the node's links are https
		Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: age,
		Secure: strings.HasPrefix(h.link(r, "", nil), "https://"),
	})
}

// createSignInCode creates a code with which somebody signs in once.
func (h *handlers) createSignInCode(r *httpapi.Request) (httpapi.Response, error) {
	address, err := readEmail(r.Body())
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusCreated, func(tx *store.Tx) (any, error) {
		code, until, err := h.Service.CodeFor(tx, r.Param("league"), r.User, address)
		return map[string]string{"code": code, "email": address, "expiresAt": until}, err
	})
}

func (h *handlers) getOwnSession(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(*store.Tx) (any, error) {
		return map[string]any{"authenticated": true, "session": admitted(r).signIn}, nil
	})
}

// signOut ends the cookie's session, if any.
func (h *handlers) signOut(r *httpapi.Request) (httpapi.Response, error) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		if err := r.Update(func(tx *store.Tx) error { return h.Service.SignOut(tx, cookie.Value) }); err != nil {
			return httpapi.Response{}, fault.Wrap(err, fault.Unavailable, "logout_unavailable", "Signing out is not possible right now. Try again in a moment.")
		}
	}
	h.setCookie(r, "", -1)
	r.ForgetPages()
	return httpapi.Response{}, nil
}

func (h *handlers) listOwnSessions(r *httpapi.Request) (httpapi.Response, error) {
	if err := r.Fetch(threefc.UserKey(r.User)); err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) {
		all, err := h.readOwnSessions(tx, r)
		return wrapList("sessions", all), err
	})
}

// readOwnSessions returns the user's sessions.
func (h *handlers) readOwnSessions(tx *store.Tx, r *httpapi.Request) ([]threefc.SignIn, error) {
	all, err := h.Service.SessionsOf(tx, r.User)
	for i := range all {
		all[i].Current = all[i].SessionID == admitted(r).signIn.SessionID
	}
	return all, err
}

// endOwnSessions ends all sessions of the user.
func (h *handlers) endOwnSessions(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusNoContent,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.EndSessions(tx, r.User, func(*threefc.SignIn) bool { return true })
		},
	})
}

// endOwnSession ends one session of the user.
func (h *handlers) endOwnSession(r *httpapi.Request) (httpapi.Response, error) {
	id := r.Param("id")
	if !threefc.IsID(id) {
		return httpapi.Response{}, fault.New(fault.NotFound, "", "There is no such session.")
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusNoContent, input: id, rows: []attr.Item{threefc.SignInKey(id)},
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) { return h.Service.EndSession(tx, r.User, id) },
	})
}

package threefc

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const cookieName = "threefc_session"

func (a *api) authRoutes() []route {
	return []route{
		{method: "GET", path: "/v1/health", do: a.getHealth},
		{method: "POST", path: "/v1/auth/magic/start", do: a.postMagicStart},
		{method: "POST", path: "/v1/auth/magic/complete", do: a.postMagicComplete},
		{method: "POST", path: "/v1/auth/code/complete", do: a.postCodeComplete},
		{method: "POST", path: "/v1/leagues/:league/sign-in-codes", who: admin, do: a.postSignInCode},
		{method: "GET", path: "/v1/auth/session", who: session, do: getSession},
		{method: "POST", path: "/v1/auth/logout", do: a.postLogout},
	}
}

func (a *api) getHealth(r *request) error {
	var now string
	err := httpapi.View(r.Context, func(tx *store.Tx) error {
		now = a.Service.NowText(tx)
		return nil
	})
	return httpapi.Answer(r.Context, http.StatusOK, map[string]string{"status": "ok", "service": "api", "version": a.Version, "timestamp": now}, err)
}

type started struct {
	Status    string `json:"status"`
	Email     string `json:"email"`
	ExpiresAt string `json:"expiresAt"`
	MessageID string `json:"messageId"`
}

// email reads the address that a body names.
func email(r *request, others ...string) (address string, more []string, err error) {
	b := httpapi.Body(r.Context)
	raw, ok := b.Get("email")
	if !ok {
		b.Bad("email", "is required")
	}
	given := ""
	if ok && raw[0] == '"' {
		given = b.Text("email", maxText)
	}
	for _, name := range others {
		more = append(more, text(b, name))
	}
	if err := b.Err(); err != nil {
		return "", nil, err
	}
	address, err = threefc.Email(given)
	return address, more, err
}

// postMagicStart: {email}. The limits count whether the address is known or not: the answer says nothing of that.
func (a *api) postMagicStart(r *request) error {
	address, _, err := email(r)
	if err != nil {
		return err
	}
	if a.Queue == nil || a.PublicURL == "" { // else the link would lead where the request says
		return mailUnavailable()
	}
	var out started
	err = httpapi.Update(r.Context, func(tx *store.Tx) error {
		now := tx.Now()
		if err := a.clients.take(httpapi.Client(r.Context), now); err != nil {
			return err
		}
		if err := a.starts.take(address, now); err != nil {
			return err
		}
		m, err := a.Service.StartMagic(tx, address)
		if err != nil {
			return err
		}
		out = started{"sent", address, m.ExpiresAt, m.MessageID}
		return a.Queue(tx, m.Mail(address, a.link(r, "/-/sign-in", url.Values{"token": {m.Token}})))
	})
	return httpapi.Answer(r.Context, http.StatusAccepted, out, err)
}

func mailUnavailable() error {
	return fault.New(fault.Unavailable, "mail_unavailable", "This node cannot send mail. Ask an admin of your league for a sign-in code.")
}

// link is an address below the mount, as people reach it.
func (a *api) link(r *request, path string, q url.Values) string {
	base := strings.TrimSuffix(a.PublicURL, "/")
	if base == "" {
		base = "http://" + r.Request.Host
		if r.Request.TLS != nil {
			base = "https://" + r.Request.Host
		}
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return base + a.mount + path
}

// authenticated is the answer of who has signed in.
type authenticated struct {
	Status  string         `json:"status"`
	Session threefc.SignIn `json:"session"`
}

// postMagicComplete: {token}.
func (a *api) postMagicComplete(r *request) error {
	b := httpapi.Body(r.Context)
	token := text(b, "token")
	if err := b.Err(); err != nil {
		return err
	}
	id, _, _ := strings.Cut(token, ".")
	if threefc.CheckID("token", id) == nil {
		if err := a.need(r.Context, threefc.MagicKey(id)); err != nil {
			return err
		}
	}
	return a.signIn(r, func(tx *store.Tx) (threefc.SignIn, error) { return a.Service.CompleteMagic(tx, token) })
}

// signIn lets somebody in, with the cookie.
func (a *api) signIn(r *request, do func(tx *store.Tx) (threefc.SignIn, error)) error {
	var in threefc.SignIn
	if err := httpapi.Update(r.Context, func(tx *store.Tx) (err error) {
		in, err = do(tx)
		return err
	}); err != nil {
		return err
	}
	a.setCookie(r, in.SessionID, int(threefc.SignInLife.Seconds()))
	return httpapi.Answer(r.Context, http.StatusOK, authenticated{"authenticated", in}, nil)
}

func (a *api) setCookie(r *request, value string, age int) {
	http.SetCookie(r.Writer, &http.Cookie{ //nolint:gosec // Secure wherever people reach the node by https
		Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: age,
		Secure: r.Request.TLS != nil || strings.HasPrefix(a.PublicURL, "https://"),
	})
}

// postCodeComplete: {email, code}. Five wrong codes of an address, or from a client, end the tries of an hour.
func (a *api) postCodeComplete(r *request) error {
	address, more, err := email(r, "code")
	if err != nil {
		return err
	}
	client := httpapi.Client(r.Context)
	return a.signIn(r, func(tx *store.Tx) (threefc.SignIn, error) {
		now := tx.Now()
		for _, name := range []string{client, address} {
			if err := a.wrong.full(name, now); err != nil {
				return threefc.SignIn{}, err
			}
		}
		in, err := a.Service.CompleteCode(tx, address, more[0])
		if fault.Is(err, fault.Unauthorized) {
			for _, name := range []string{client, address} {
				_ = a.wrong.take(name, now) // not full: asked above
			}
		}
		return in, err
	})
}

type signInCode struct {
	Code      string `json:"code"`
	Email     string `json:"email"`
	ExpiresAt string `json:"expiresAt"`
}

// postSignInCode: {email}.
func (a *api) postSignInCode(r *request) error {
	address, _, err := email(r)
	if err != nil {
		return err
	}
	out := signInCode{Email: address}
	err = httpapi.Update(r.Context, func(tx *store.Tx) (err error) {
		out.Code, out.ExpiresAt, err = a.Service.CodeFor(tx, r.league, r.user, address)
		return err
	})
	return httpapi.Answer(r.Context, http.StatusCreated, out, err)
}

func getSession(r *request) error {
	return httpapi.Answer(r.Context, http.StatusOK, map[string]any{"authenticated": true, "session": r.signIn}, nil)
}

// postLogout ends the session of the cookie, if there is one.
func (a *api) postLogout(r *request) error {
	if cookie, err := r.Request.Cookie(cookieName); err == nil {
		if err := httpapi.Update(r.Context, func(tx *store.Tx) error { return a.Service.SignOut(tx, cookie.Value) }); err != nil {
			return fault.Wrap(err, fault.Unavailable, "logout_unavailable", "Signing out is not possible now.")
		}
	}
	a.setCookie(r, "", -1)
	return httpapi.NoContent(r.Context)
}

package devlogin

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
)

const (
	// ClientID is the issuer's only client, which stands for everybody on this machine.
	ClientID = "touchline"

	codeLife  = time.Minute
	tokenLife = time.Hour
	maxCodes  = 1000 // unused codes
	maxForm   = 16 << 10
)

// Provider is the issuer. It is safe for concurrent use.
type Provider struct {
	*http.ServeMux
	url   string
	key   *auth.DevIssuer
	users []User
	clock clock.Clock

	mu    sync.Mutex
	codes map[string]grant
}

// grant is what a code was issued for.
type grant struct {
	user                       User
	nonce, challenge, redirect string
	until                      time.Time
}

// New returns an issuer whose iss is url, where it must be served.
func New(url string, key *auth.DevIssuer, users []User) *Provider {
	p := &Provider{ServeMux: http.NewServeMux(), url: url, key: key, users: users, clock: clock.Real(), codes: map[string]grant{}}
	p.HandleFunc("GET /.well-known/openid-configuration", p.describe)
	p.HandleFunc("GET /keys", p.keys)
	p.HandleFunc("GET /authorize", p.ask)
	p.Handle("POST /authorize", http.NewCrossOriginProtection().Handler(http.HandlerFunc(p.choose)))
	p.HandleFunc("POST /token", p.token)
	return p
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, code string) {
	answer(w, http.StatusBadRequest, map[string]string{"error": code})
}

func (p *Provider) describe(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token", "jwks_uri": p.url + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"},
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, p.key.KeySet())
}

// wrong returns what is wrong with a sign-in request; empty: nothing. The client must be on this machine.
func wrong(q url.Values) string {
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Host == "" || back.Fragment != "" || back.Scheme != "http" && back.Scheme != "https" {
		return "redirect_uri is not a URL"
	}
	addr, err := netip.ParseAddr(back.Hostname())
	switch {
	case back.Hostname() != "localhost" && (err != nil || !addr.IsLoopback()):
		return "redirect_uri is not on this machine"
	case q.Get("client_id") != ClientID:
		return "client_id must be " + ClientID
	case q.Get("response_type") != "code", q.Get("code_challenge_method") != "S256", len(q.Get("code_challenge")) != 43:
		return "only the authorization code flow with PKCE (S256) is supported"
	}
	return ""
}

func (p *Provider) ask(w http.ResponseWriter, r *http.Request) {
	if text := wrong(r.URL.Query()); text != "" {
		http.Error(w, text, http.StatusBadRequest)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Frame-Options", "DENY")
	_ = loginPage().Execute(w, map[string]any{
		"Query": template.URL(r.URL.Query().Encode()), "Users": p.users, //nolint:gosec // encoded here: cannot break out of the URL
	})
}

func loginPage() *template.Template {
	return template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Development sign-in</title>
<style>body{font:16px/1.5 system-ui;max-width:30em;margin:10vh auto;padding:0 1em}button{display:block;width:100%;margin:.5em 0;padding:.8em;font:inherit}</style>
<main><h1>Who are you?</h1><p>This is a development issuer: choose any user.</p>
<form method="post" action="/authorize?{{.Query}}">{{range .Users}}<button name="user" value="{{.Subject}}">{{or .Name .Subject}}</button>{{end}}</form></main></html>
`))
}

// choose redirects the browser back with a code for the chosen user.
func (p *Provider) choose(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	q := r.URL.Query()
	if text := wrong(q); text != "" {
		http.Error(w, text, http.StatusBadRequest)
		return
	}
	i := slices.IndexFunc(p.users, func(u User) bool { return u.Subject == r.PostFormValue("user") })
	if i < 0 {
		http.Error(w, "there is no such user", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	if len(p.codes) >= maxCodes {
		clear(p.codes)
	}
	p.codes[code] = grant{p.users[i], q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri"), p.clock.Now().Add(codeLife)}
	p.mu.Unlock()
	back, _ := url.Parse(q.Get("redirect_uri")) // wrong has parsed it
	to := back.Query()
	to.Set("code", code)
	to.Set("state", q.Get("state"))
	to.Set("iss", p.url)
	back.RawQuery = to.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther) //nolint:gosec // wrong has checked that the client is on this machine
}

// redeemCode redeems a code, once.
func (p *Provider) redeemCode(code string) (g grant, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok = p.codes[code]
	delete(p.codes, code)
	return g, ok && p.clock.Now().Before(g.until)
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	g, ok := p.redeemCode(r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case r.PostFormValue("grant_type") != "authorization_code":
		refuse(w, "unsupported_grant_type")
		return
	case r.PostFormValue("client_id") != ClientID:
		refuse(w, "invalid_client")
		return
	case !ok, g.redirect != r.PostFormValue("redirect_uri"),
		subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(g.challenge)) != 1:
		refuse(w, "invalid_grant")
		return
	}
	id, err := p.Token(&g.user, g.nonce)
	if err != nil {
		http.Error(w, "the token cannot be signed", http.StatusInternalServerError)
		return
	}
	answer(w, http.StatusOK, map[string]any{"token_type": "Bearer", "expires_in": int(tokenLife.Seconds()), "id_token": id, "access_token": id})
}

// Token returns an ID token of a user, valid for an hour, without a browser.
func (p *Provider) Token(u *User, nonce string) (string, error) {
	now := p.clock.Wall()
	return p.key.SignClaims(map[string]any{
		"iss": p.url, "aud": ClientID, "sub": u.Subject, "nonce": nonce, "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
		"name": cmp.Or(u.Name, u.Subject), "email": u.Email, "cognito:groups": append([]string{}, u.Groups...),
	})
}

package httpapi

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/storetest"
)

var updateIdentities = flag.Bool("update-identities", false, "write the golden table of identities anew")

// A person whose id is a UUID, and that as a cookie.
const uuidUser = "0b8ffd0c-3fbb-4ea8-8a94-5c3cf6c5a2e6"

// signInRig is a server whose people sign in at an issuer beside it.
type signInRig struct {
	*Server
	t      *testing.T
	issuer string
	users  *auth.Verifier
}

func newSignInRig(t *testing.T, change func(c *Config)) *signInRig {
	t.Helper()
	key, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	idp := httptest.NewUnstartedServer(nil)
	r := &signInRig{t: t, issuer: "http://" + idp.Listener.Addr().String()}
	login := devlogin.New(r.issuer, key, append(devlogin.DemoUsers("admin"), devlogin.User{Subject: uuidUser, Groups: []string{"admin"}}))
	idp.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/.well-known/openid-configuration" {
			login.ServeHTTP(w, req)
			return
		}
		said := httptest.NewRecorder() // the issuer's own session, which ends there
		login.ServeHTTP(said, req)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Replace(said.Body.String(), "{", `{"end_session_endpoint":"`+r.issuer+`/end?a=1",`, 1))
	})
	idp.Start()
	t.Cleanup(idp.Close)
	if r.users, err = auth.New(auth.Config{APIKey: web.Key, Issuers: []auth.Issuer{
		{Name: "dev", Title: "Dev", URL: r.issuer, Client: auth.Client{ID: devlogin.ClientID}, Discover: true},
	}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.users.Close)
	s := storetest.Open(t, session.Tables()...)
	cfg, _ := configIn(t, s)
	cfg.Apps[0].SignIn = SignIn{Issuers: []string{"dev"}, Anonymous: "counter_guest"}
	cfg.Auth, cfg.Tokens = r.users, false
	cfg.People = &People{Issuers: r.users, Sessions: session.New(session.Config{
		Store: s, Clock: clock.Real(), Idle: time.Hour, Life: 24 * time.Hour, Knows: r.users.Knows, Log: slog.New(slog.DiscardHandler),
	})}
	if change != nil {
		change(cfg)
	}
	r.Server = newServer(t, cfg)
	return r
}

// browser keeps cookies and ignores their paths.
type browser map[string]string

func (b browser) ask(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	for _, name := range []string{sessionCookie, flowCookie, tokenCookie, "counter_guest"} {
		if b[name] != "" {
			headers = append(headers, "Cookie", name+"="+b[name])
		}
	}
	w := web.Ask(h, method, "http://localhost"+path, body, append([]string{"Accept", "text/html", "Sec-Fetch-Mode", "navigate"}, headers...)...)
	for _, c := range w.Result().Cookies() {
		b[c.Name] = c.Value
		if c.MaxAge < 0 {
			b[c.Name] = ""
		}
	}
	return w
}

// atIssuer opens the issuer's page, chooses a user, and returns where the issuer redirects the browser.
func (r *signInRig) atIssuer(page, user string) (back string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, page, strings.NewReader(url.Values{"user": {user}}.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", formType)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	at, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != http.StatusSeeOther || at.Host != "localhost" {
		raw, _ := io.ReadAll(resp.Body)
		r.t.Fatalf("the issuer answers %d, to %s: %s", resp.StatusCode, at, raw)
	}
	return at.RequestURI()
}

// signIn signs somebody in like a browser; to is where it ends up.
func (r *signInRig) signIn(b browser, user, want string) (to string) {
	r.t.Helper()
	w := b.ask(r.Handler(), "GET", pathWith+"dev?to="+url.QueryEscape(want), "")
	if w.Code != http.StatusSeeOther {
		r.t.Fatalf("%d %s", w.Code, w.Body)
	}
	w = b.ask(r.Handler(), "GET", r.atIssuer(w.Header().Get("Location"), user), "", "Sec-Fetch-Site", "cross-site")
	if w.Code != http.StatusSeeOther || b[sessionCookie] == "" || b[flowCookie] != "" {
		r.t.Fatalf("%d %v %s", w.Code, b, w.Body)
	}
	return w.Header().Get("Location")
}

// A person signs in at an issuer, sees and ends their sessions, and signs out.
func TestSignInAtAnIssuer(t *testing.T) {
	r := newSignInRig(t, nil)
	b := browser{}
	if body := b.ask(r.Handler(), "GET", "/signin?to=/counter/-/", "").Body.String(); !strings.Contains(body, `href="/_/signin/with/dev?to=%2Fcounter%2F-%2F">Sign in with Dev</a>`) ||
		strings.Contains(body, "signin-token") || !strings.Contains(body, "At another node, sign in again.") {
		t.Error(body)
	}
	if to := r.signIn(b, "ada", "/counter/-/counts/c1?x=1"); to != "/counter/-/counts/c1?x=1" {
		t.Errorf("went on to %s", to)
	}
	if w := b.ask(r.Handler(), "GET", "/counter/-/counts/c1", ""); w.Code != http.StatusOK {
		t.Errorf("a page: %d", w.Code)
	}
	if w := b.ask(r.Handler(), "GET", "/counter/me", "", "Sec-Fetch-Site", "same-origin"); !strings.Contains(w.Body.String(), `"name":"Ada","scheme":2,"subject":"ada"`) {
		t.Errorf("who am I: %s", w.Body)
	}
	first := b[sessionCookie]
	r.signIn(b, "ada", "/")
	if w := (browser{sessionCookie: first}).ask(r.Handler(), "GET", "/counter/-/", ""); w.Code != http.StatusSeeOther {
		t.Errorf("the session before the second sign-in: %d", w.Code)
	}
	phone := browser{}
	r.signIn(phone, "ada", "/")
	page := b.ask(r.Handler(), "GET", pathSessions, "").Body.String()
	ids := regexp.MustCompile(`data-session="(\w+)"`).FindAllStringSubmatch(page, -1)
	if len(ids) != 2 || strings.Count(page, "(this one)") != 1 || strings.Contains(page, "Everybody") {
		t.Fatalf("%v %s", ids, page)
	}
	theirs := ids[slices.IndexFunc(ids, func(id []string) bool { return !strings.HasPrefix(b[sessionCookie], id[1]) })][1]
	stranger := browser{}
	r.signIn(stranger, "ben", "/")
	end := func(b browser, headers ...string) int {
		return b.ask(r.Handler(), "POST", pathSessions+"/"+theirs+"/end", "", append(headers, "Content-Type", formType)...).Code
	}
	if got := end(stranger, "Sec-Fetch-Site", "same-origin"); got != http.StatusNotFound {
		t.Errorf("somebody else ends it: %d", got)
	}
	if got := end(b, "Sec-Fetch-Site", "same-origin"); got != http.StatusSeeOther {
		t.Errorf("its owner ends it: %d", got)
	}
	if w := phone.ask(r.Handler(), "GET", "/counter/-/", ""); w.Code != http.StatusSeeOther {
		t.Errorf("the phone, after that: %d", w.Code)
	}
	kept := b[sessionCookie]
	w := b.ask(r.Handler(), "POST", "/signout", "", "Sec-Fetch-Site", "same-origin")
	if w.Code >= 400 || b[sessionCookie] != "" || w.Header().Get("Location") != "/signin?out=dev" {
		t.Errorf("sign out: %d %v to %s", w.Code, b, w.Header().Get("Location"))
	}
	atIssuer := `<a href="` + r.issuer + `/end?a=1&amp;client_id=touchline">Sign out at Dev too</a>`
	for out, want := range map[string]bool{"dev": true, "other": false, "": false, "https://evil.example": false} {
		if body := b.ask(r.Handler(), "GET", "/signin?out="+url.QueryEscape(out), "").Body.String(); strings.Contains(body, atIssuer) != want || strings.Contains(body, "evil") {
			t.Errorf("after a sign-out of %q: %s", out, body)
		}
	}
	if w := (browser{sessionCookie: kept}).ask(r.Handler(), "GET", "/counter/-/", ""); w.Code != http.StatusSeeOther {
		t.Errorf("a copy of the cookie, after the end: %d", w.Code)
	}
}

// Over TLS, directly or behind a trusted proxy, the cookie is Secure and the issuer redirects back to https.
func TestSessionCookie(t *testing.T) {
	r := newSignInRig(t, nil)
	for _, secure := range []bool{false, true} {
		var headers []string
		if secure {
			headers = []string{"Origin", "https://example.com"}
		}
		w := web.Ask(r.Handler(), "GET", pathWith+"dev", "", headers...)
		to, err := url.Parse(w.Header().Get("Location"))
		if back := to.Query().Get("redirect_uri"); err != nil || strings.HasPrefix(back, "https://example.com/_/signin/back/dev") != secure {
			t.Errorf("secure %t: back to %s", secure, back)
		}
		if c := w.Result().Cookies()[0]; !c.HttpOnly || c.Secure != secure || c.SameSite != http.SameSiteLaxMode || c.Path != pathFlow || c.MaxAge != flowLife {
			t.Errorf("%s", c)
		}
	}
	b, begun := browser{}, r.Handler()
	at, answer, _ := strings.Cut(r.atIssuer(b.ask(begun, "GET", pathWith+"dev", "").Header().Get("Location"), "ada"), "?")
	if w := b.ask(begun, "GET", strings.Replace(at, "/dev", "/other", 1)+"?"+answer, ""); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "did not start") {
		t.Errorf("an answer to another issuer's sign-in: %d %s", w.Code, w.Body)
	}
	public := newSignInRig(t, func(c *Config) { c.PublicURL = "https://scores.example" })
	if to := web.Ask(public.Handler(), "GET", pathWith+"dev", "").Header().Get("Location"); !strings.Contains(to, url.QueryEscape("https://scores.example/_/signin/back/dev")) {
		t.Errorf("with a public address: %s", to)
	}
	b = browser{}
	w := b.ask(r.Handler(), "GET", pathWith+"dev", "")
	back := r.atIssuer(w.Header().Get("Location"), "ada")
	w = b.ask(r.Handler(), "GET", back, "", "Sec-Fetch-Site", "cross-site")
	found := w.Result().Cookies()
	c := found[len(found)-1]
	if c.Name != sessionCookie || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 24*3600 {
		t.Errorf("%s", c)
	}
	// The issuer's answer is valid once, and only in the browser that started.
	for who, b := range map[string]browser{"the same browser, again": b, "another browser": {}} {
		if w := b.ask(r.Handler(), "GET", back, ""); w.Code != http.StatusUnauthorized || len(b[sessionCookie]) > 0 && who != "the same browser, again" {
			t.Errorf("%s: %d %v", who, w.Code, b)
		}
	}
	victim := browser{}
	victim.ask(r.Handler(), "GET", pathWith+"dev", "")
	if w := victim.ask(r.Handler(), "GET", back, "", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusUnauthorized || victim[sessionCookie] != "" {
		t.Errorf("somebody else's answer in a browser that has begun: %d", w.Code)
	}
}

// After sign-in people stay on this node, whatever the link said.
func TestOpenRedirects(t *testing.T) {
	r := newSignInRig(t, nil)
	for _, to := range []string{
		"//evil.example", "https://evil.example/", "/\\evil.example", "\\\\evil.example", "/%09/evil.example", "/\t/evil.example", "javascript:alert(1)", "http:evil.example",
		"///evil.example", "/signin", "/signout", "/_/signin/with/dev", "/_/signin/code", "evil", "/a//evil.example", "/%2F/evil.example", "http://example.com@evil.example/", "/;//evil.example",
	} {
		b := browser{}
		if got := r.signIn(b, "ada", to); got != "/" && got != to || got == to && !strings.HasPrefix(localPath(to), "/%") {
			t.Errorf("%q leads to %q", to, got)
		}
		if got := localPath(to); got != "/" {
			if u, err := url.Parse(got); err != nil || u.Host != "" || !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") {
				t.Errorf("%q leads away", to)
			}
		}
	}
}

// Without the internet an admin shows a code, which signs in its person once.
func TestSignInByCode(t *testing.T) {
	r := newSignInRig(t, nil)
	admin, ada := browser{}, browser{}
	r.signIn(admin, "olga", "/")
	own := []string{"Sec-Fetch-Site", "same-origin", "Content-Type", formType}
	form := url.Values{"user": {"ada"}, "issuer": {r.issuer}}.Encode()
	if w := admin.ask(r.Handler(), "POST", pathPeople+"/code", form, own...); w.Code != http.StatusNotFound {
		t.Errorf("for somebody who never was here: %d", w.Code)
	}
	r.signIn(ada, "ada", "/")
	if w := ada.ask(r.Handler(), "POST", pathPeople+"/code", form, own...); w.Code != http.StatusForbidden {
		t.Errorf("a user makes a code: %d", w.Code)
	}
	w := admin.ask(r.Handler(), "POST", pathPeople+"/code", form, own...)
	code := regexp.MustCompile(`role="status">(\w{4} \w{4})<`).FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusOK || code == nil || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	enter := func(b browser, code string, headers ...string) *httptest.ResponseRecorder {
		return b.ask(r.Handler(), "POST", pathCode, url.Values{"code": {code}, "to": {"/counter/-/"}}.Encode(), append(headers, "Content-Type", formType)...)
	}
	phone := browser{}
	if w := enter(phone, code[1], "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("another site's form: %d", w.Code)
	}
	if w := enter(phone, strings.ToLower(code[1])); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/counter/-/" || phone[sessionCookie] == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := phone.ask(r.Handler(), "GET", pathSessions, ""); !strings.Contains(w.Body.String(), "(with a code)") || strings.Count(w.Body.String(), "data-session") != 2 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := enter(browser{}, code[1]); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "ask an admin for a new one") {
		t.Errorf("twice: %d %s", w.Code, w.Body)
	}
	made := admin.ask(r.Handler(), "POST", "/_/api/sign-in-codes", `{"userId":"ada"}`, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/json")
	var told struct{ Code, UserID, ExpiresAt string }
	if err := json.Unmarshal(made.Body.Bytes(), &told); err != nil || made.Code != http.StatusCreated || len(told.Code) != 8 || told.UserID != "ada" {
		t.Errorf("%d %s", made.Code, made.Body)
	}
	if w := web.Ask(r.Handler(), "GET", "/_/api/people", "", "X-API-Key", web.Key); !strings.Contains(w.Body.String(), `"userId":"ada"`) {
		t.Errorf("people: %s", w.Body)
	}
}

// Guessing codes is rate-limited, without affecting others.
func TestGuessedCodes(t *testing.T) {
	r := newSignInRig(t, func(c *Config) { c.Rate = RateConfig{PerMinute: 1, Burst: 5} })
	guess := func(address, code string) int {
		return web.Ask(r.Handler(), "POST", pathCode, url.Values{"code": {code}}.Encode(), "Content-Type", formType, "RemoteAddr", address+":4000").Code
	}
	for i := range 8 {
		want := http.StatusUnauthorized
		if i >= 5 {
			want = http.StatusTooManyRequests
		}
		if got := guess("203.0.113.9", fmt.Sprint("AAAAAAA", 2+i)); got != want {
			t.Errorf("guess %d: %d", i, got)
		}
	}
	if got := guess("203.0.113.10", "AAAAAAAA"); got != http.StatusUnauthorized {
		t.Errorf("somebody else: %d", got)
	}
}

// A user whose id looks like an anonymous one is not taken for that, nor a cookie for the user.
func TestAnonymousIsNobody(t *testing.T) {
	r := newSignInRig(t, nil)
	me := func(b browser, headers ...string) string {
		w := b.ask(r.Handler(), "GET", "/counter/guesses", "", append(headers, "Sec-Fetch-Site", "same-origin")...)
		var who struct{ Subject string }
		_ = json.Unmarshal(w.Body.Bytes(), &who)
		return fmt.Sprint(w.Code, " ", who.Subject)
	}
	b := browser{}
	r.signIn(b, uuidUser, "/")
	if got := me(b); got != "200 "+r.issuer+"|"+uuidUser {
		t.Errorf("signed in: %s", got)
	}
	for cookie, want := range map[string]string{
		uuidUser: "200 " + uuidUser, "auth0|123": "401 ", strings.ToUpper(uuidUser): "401 ", r.issuer + "|" + uuidUser: "401 ", "ada": "401 ",
		"{" + uuidUser + "}": "401 ", "urn:uuid:" + uuidUser: "401 ", strings.ReplaceAll(uuidUser, "-", ""): "401 ", "": "401 ", uuidUser + " ": "200 " + uuidUser,
	} {
		if got := me(browser{"counter_guest": cookie}); got != want {
			t.Errorf("cookie %q: %s, want %s", cookie, got, want)
		}
	}
	b["counter_guest"] = "11111111-1111-4111-8111-111111111111"
	if got := me(b); got != "200 "+r.issuer+"|"+uuidUser {
		t.Errorf("both: %s", got)
	}
	guest := browser{}
	w := guest.ask(r.Handler(), "POST", "/counter/guests", "", "Sec-Fetch-Site", "same-origin")
	if got := w.Result().Cookies(); len(got) != 1 || !isGuest(got[0].Value) || !got[0].HttpOnly || got[0].SameSite != http.SameSiteLaxMode {
		t.Errorf("%d %v", w.Code, got)
	}
	id := guest["counter_guest"]
	if guest.ask(r.Handler(), "POST", "/counter/guests", "", "Sec-Fetch-Site", "same-origin"); guest["counter_guest"] != id {
		t.Error("a second id in the place of the first")
	}
	if w := (browser{}).ask(r.Handler(), "POST", "/counter/guests", "", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("another site has an id given out: %d", w.Code)
	}
}

// An application that accepts one issuer refuses people of another.
func TestOtherIssuer(t *testing.T) {
	r := newSignInRig(t, func(c *Config) { c.Apps[0].SignIn.Issuers = []string{"dev"} })
	b := browser{}
	r.signIn(b, "ada", "/")
	r.apps[0].SignIn.Issuers = []string{"other"}
	if w := b.ask(r.Handler(), "GET", "/counter/counts", "", "Sec-Fetch-Site", "same-origin"); w.Code != http.StatusUnauthorized {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	cfg := r.cfg
	cfg.Apps = slices.Clone(cfg.Apps)
	cfg.Apps[0].SignIn.Issuers, cfg.Metrics = []string{"nobody"}, nil
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("an issuer that is not there: %v", err)
	}
}

// Five identities at every route, in one table; and no form or write accepts requests from another site's page.
func TestFiveIdentities(t *testing.T) {
	r := newSignInRig(t, nil)
	user, admin := browser{}, browser{}
	r.signIn(user, "ada", "/")
	r.signIn(admin, "olga", "/")
	who := []struct {
		name    string
		b       browser
		headers []string
	}{
		{"nobody", browser{}, nil}, {"anonymous", browser{"counter_guest": uuidUser}, nil}, {"user", user, nil}, {"admin", admin, nil},
		{"API key", browser{}, []string{"X-API-Key", web.Key}},
	}
	var table strings.Builder
	for _, route := range r.table() {
		for _, path := range route.paths {
			fmt.Fprintf(&table, "%-7s%-32s", route.Method, path)
			for _, one := range who {
				b := browser{sessionCookie: one.b[sessionCookie], "counter_guest": one.b["counter_guest"]}
				headers := append([]string{"Accept", "application/json", "Sec-Fetch-Site", "same-origin", "Content-Type", "application/json"}, one.headers...)
				endsSessions := path == pathSignOut || route.Method == "POST" && path == pathSessions || route.Method == "DELETE" && path == "/_/api/sessions"
				if endsSessions && b[sessionCookie] != "" {
					other := browser{} // not the people and sessions used for all other routes
					r.signIn(other, map[string]string{"user": "ben", "admin": uuidUser}[one.name], "/")
					b = other
				}
				for name, value := range b {
					if value != "" {
						headers = append(headers, "Cookie", name+"="+value)
					}
				}
				w := web.Ask(r.Handler(), route.Method, web.Filled(path, "c1"), "{}", headers...)
				fmt.Fprintf(&table, " %s %d", one.name, w.Code)
				if len(one.headers) == 0 && route.Method != "GET" && len(headers) > 6 {
					foreign := append(slices.Clone(headers), "Origin", "https://evil.example")
					foreign[3] = "cross-site"
					if w := web.Ask(r.Handler(), route.Method, web.Filled(path, "c1"), "{}", foreign...); w.Code != http.StatusForbidden && w.Code != http.StatusUnauthorized {
						t.Errorf("%s %s by another site's page, as %s: %d %s", route.Method, path, one.name, w.Code, w.Body)
					}
				}
			}
			table.WriteString("\n")
		}
	}
	const golden = "testdata/identities.golden"
	if *updateIdentities {
		if err := os.WriteFile(golden, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), table.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +got; -update-identities):\n%s", err, diff)
	}
}

package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/fault"
)

// issuerRig is an issuer with a discovery document, and a Verifier that trusts it.
type issuerRig struct {
	*rig
	config Config
	asked  map[string]int
	token  http.HandlerFunc
	end    string // its end_session_endpoint
	sends  bool   // it announces that its answers contain iss
}

func newIssuerRig(t *testing.T, i Issuer) *issuerRig {
	base := newRig(t)
	r := &issuerRig{rig: base, asked: map[string]int{}}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.rig.server, r.issuer = server, server.URL
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		r.asked["discovery"]++
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": r.issuer, "authorization_endpoint": server.URL + "/authorize", "token_endpoint": server.URL + "/token", "jwks_uri": server.URL + "/keys",
			"end_session_endpoint": r.end, "authorization_response_iss_parameter_supported": r.sends,
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, req *http.Request) { r.asked["keys"]++; (*r.answer.Load())(w, req) })
	mux.HandleFunc("/other/.well-known/jwks.json", func(w http.ResponseWriter, req *http.Request) { (*r.answer.Load())(w, req) })
	mux.HandleFunc("/token", func(w http.ResponseWriter, req *http.Request) { r.token(w, req) })
	i.Name, i.URL, i.Discover = "main", r.issuer, true
	r.config = Config{Issuers: []Issuer{i}, Clock: r.clock, Keys: r.kept}
	r.again()
	return r
}

// again creates the Verifier again.
func (r *issuerRig) again() {
	r.t.Helper()
	v, err := New(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Close()
	r.Verifier = v
	r.t.Cleanup(func() { v.Close(); v.cfg.Client.CloseIdleConnections() })
}

// plain returns a valid ID token as most issuers create it.
func (r *issuerRig) plain() parts {
	return r.good().with("token_use", nil, "cognito:groups", nil, "iss", r.issuer)
}

// An issuer's settings for tokens are enforced.
func TestKinds(t *testing.T) {
	both := Issuer{ClientIDs: []string{"app"}, Audience: []string{"api"}}
	access := []any{"aud", "api"}
	for name, tt := range map[string]struct {
		kind   Kind
		change []any
		typ    string
		want   string // empty: valid
	}{
		"ID":                                {KindID, nil, "", ""},
		"ID, said so":                       {KindID, []any{"token_use", "id"}, "", ""},
		"access for ID":                     {KindID, access, "", "for another app"},
		"access for ID, with the client":    {KindID, []any{"aud", []string{"api", "app"}}, "at+jwt", "not an ID token"},
		"access for ID, said so":            {KindID, []any{"token_use", "access"}, "", "not an ID token"},
		"access":                            {KindAccess, access, "", ""},
		"access, RFC 9068":                  {KindAccess, access, "at+jwt", ""},
		"access, RFC 9068 in full":          {KindAccess, access, "application/at+JWT", ""},
		"access of Cognito":                 {KindAccess, []any{"aud", nil, "client_id", "app", "token_use", "access"}, "", ""},
		"access of Cognito, another client": {KindAccess, []any{"aud", nil, "client_id", "other", "token_use", "access"}, "", "for another app"},
		"access for another API":            {KindAccess, []any{"aud", "other"}, "", "for another app"},
		"ID for access":                     {KindAccess, nil, "", "for another app"},
		"ID for access, said so":            {KindAccess, []any{"aud", "api", "token_use", "id"}, "", "not an access token"},
		"any, ID":                           {KindAny, nil, "", ""},
		"any, access":                       {KindAny, access, "at+jwt", ""},
		"any, for another":                  {KindAny, []any{"aud", "other"}, "", "for another app"},
	} {
		t.Run(name, func(t *testing.T) {
			i := both
			i.Tokens = tt.kind
			r := newIssuerRig(t, i)
			p := r.plain().with(tt.change...)
			if tt.typ != "" {
				p = p.head("typ", tt.typ)
			}
			id, err := r.Verify(t.Context(), p.token())
			if tt.want == "" && (err != nil || id.Subject != "u1" || id.Issuer != r.issuer || id.Scheme != Bearer) ||
				tt.want != "" && (!fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%+v, %v", id, err)
			}
		})
	}
}

// The claims for the user and the admin are configurable.
func TestClaims(t *testing.T) {
	for name, tt := range map[string]struct {
		issuer  Issuer
		claims  []any
		subject string
		admin   bool
	}{
		"Cognito's group":     {Issuer{}, []any{"cognito:groups", []string{"admin"}}, "u1", true},
		"another group":       {Issuer{}, []any{"cognito:groups", []string{"Admin"}}, "u1", false},
		"a path":              {Issuer{AdminClaim: "app_metadata.game_admin", AdminValue: "true"}, []any{"app_metadata", map[string]any{"game_admin": true}}, "u1", true},
		"a path to false":     {Issuer{AdminClaim: "app_metadata.game_admin", AdminValue: "true"}, []any{"app_metadata", map[string]any{"game_admin": false}}, "u1", false},
		"a path to a list":    {Issuer{AdminClaim: "app_metadata.game_admin", AdminValue: "true"}, []any{"app_metadata", []any{"game_admin"}}, "u1", false},
		"a name with dots":    {Issuer{AdminClaim: "https://app.example/roles", AdminValue: "staff"}, []any{"https://app.example/roles", []string{"staff"}}, "u1", true},
		"dots, and a path":    {Issuer{AdminClaim: "https://app.example/meta.role", AdminValue: "staff"}, []any{"https://app.example/meta", map[string]any{"role": "staff"}}, "u1", true},
		"Cognito's name":      {Issuer{Subject: "cognito:username"}, []any{"cognito:username", "sam"}, "sam", false},
		"a name of two parts": {Issuer{Subject: "cognito:username"}, []any{"cognito:username", "sam#1"}, "", false},
		"no name":             {Issuer{Subject: "cognito:username"}, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.issuer.ClientIDs = []string{"app"}
			r := newIssuerRig(t, tt.issuer)
			id, err := r.Verify(t.Context(), r.plain().with(tt.claims...).token())
			if id.Subject != tt.subject || id.Admin != tt.admin || (err == nil) != (tt.subject != "") {
				t.Errorf("%+v, %v", id, err)
			}
		})
	}
}

// An issuer may sign with RSA or P-256, each with its own algorithm, and is known from storage after a restart without the internet.
func TestDiscovered(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := newIssuerRig(t, Issuer{Client: Client{ID: "app"}})
	r.serve(keySet(map[string]any{"k1": &theirKey().PublicKey}))
	withEC, _ := json.Marshal(map[string]any{"keys": []any{
		json.RawMessage(keyJSON(t, "k1", &theirKey().PublicKey)), json.RawMessage(keyJSON(t, "e1", &ec.PublicKey)),
	}})
	r.serve(withEC)
	for _, online := range []bool{true, false} {
		if !online {
			r.server.Close()
			r.again()
		}
		r.expect(t, "RS256", r.plain().token(), 0, true)
		r.expect(t, "ES256", r.plain().head("alg", "ES256", "kid", "e1").signed(jwt.SigningMethodES256, ec), 0, true)
		r.expect(t, "the other's kid", r.plain().head("alg", "ES256", "kid", "k1").signed(jwt.SigningMethodES256, ec), fault.Unauthorized, false)
		r.expect(t, "its public key as a secret", r.plain().head("alg", "HS256").signed(jwt.SigningMethodHS256, withEC), fault.Unauthorized, false)
		if _, to, err := r.Begin(t.Context(), "main", "http://node.example/back"); err != nil || !strings.HasPrefix(to, r.issuer+"/authorize?") {
			t.Errorf("online %t: %q, %v", online, to, err)
		}
	}
	if r.asked["discovery"] != 1 || r.asked["keys"] != 1 {
		t.Errorf("asked %v", r.asked)
	}
}

func keyJSON(t *testing.T, kid string, key any) []byte {
	t.Helper()
	var set struct{ Keys []json.RawMessage }
	raw := strings.ReplaceAll(string(keySet(map[string]any{kid: key})), `,"alg":"RS256"`, "")
	if err := json.Unmarshal([]byte(raw), &set); err != nil {
		t.Fatal(err)
	}
	return set.Keys[0]
}

// Placeholders for the iss of the test's issuer, and of another one that the node trusts.
const (
	itsIssuer   = "its own"
	otherIssuer = "other"
)

// Only the browser that started a sign-in can finish it, with tokens of that sign-in.
func TestFlow(t *testing.T) {
	const back = "http://node.example/back"
	for name, tt := range map[string]struct {
		kind   Kind
		id     []any // changes of the ID token
		access []any // of the access token
		query  url.Values
		sends  bool // the issuer announces that its answers contain iss
		status int
		want   string
		fault  fault.Kind
	}{
		"good":                     {},
		"good, access token":       {kind: KindAccess},
		"another nonce":            {id: []any{"nonce", "x"}, want: "not for this sign-in", fault: fault.Unauthorized},
		"no nonce":                 {id: []any{"nonce", nil}, want: "not for this sign-in", fault: fault.Unauthorized},
		"for another app":          {id: []any{"aud", "other"}, want: "for another app", fault: fault.Unauthorized},
		"for a phone's app":        {id: []any{"aud", "phone"}, want: "not for this sign-in", fault: fault.Unauthorized},
		"expired":                  {id: []any{"exp", 1_700_000_000}, want: "expired", fault: fault.Unauthorized},
		"another issuer's":         {id: []any{"iss", "https://evil.example"}, want: "issuer that this node does not know", fault: fault.Unauthorized},
		"of another that is known": {id: []any{"iss", otherIssuer, "token_use", "id"}, want: "not for this sign-in", fault: fault.Unauthorized},
		"an access token as ID":    {id: []any{"token_use", "access"}, want: "not an ID token", fault: fault.Unauthorized},
		"two people":               {kind: KindAccess, access: []any{"sub", "u2"}, want: "two different people", fault: fault.Unauthorized},
		"an access token of another that is known": {
			kind: KindAccess, access: []any{"iss", otherIssuer, "token_use", "access", "aud", nil, "client_id", "app"}, want: "two different people", fault: fault.Unauthorized,
		},
		"an access token for else": {kind: KindAccess, access: []any{"aud", "else"}, want: "for another app", fault: fault.Unauthorized},
		"another state":            {query: url.Values{"state": {"x"}}, want: "did not start", fault: fault.Unauthorized},
		"no state":                 {query: url.Values{"state": {""}}, want: "did not start", fault: fault.Unauthorized},
		"another iss":              {query: url.Values{"iss": {"https://evil.example"}}, want: "another issuer", fault: fault.Unauthorized},
		"its own iss":              {query: url.Values{"iss": {itsIssuer}}, sends: true},
		"the iss of another":       {query: url.Values{"iss": {otherIssuer}}, want: "another issuer", fault: fault.Unauthorized},
		"no iss where it sends it": {sends: true, want: "another issuer", fault: fault.Unauthorized},
		"refused, without its iss": {query: url.Values{"error": {"access_denied"}}, sends: true, want: "another issuer", fault: fault.Unauthorized},
		"refused":                  {query: url.Values{"error": {"access_denied"}}, want: "(access_denied)", fault: fault.Unauthorized},
		"refused in odd words":     {query: url.Values{"error": {"<b>no</b>"}}, want: "(no valid reason)", fault: fault.Unauthorized},
		"the code is refused":      {status: http.StatusBadRequest, want: "does not accept its own code (invalid_grant)", fault: fault.Unauthorized},
		"the issuer is broken":     {status: http.StatusBadGateway, want: "cannot be reached", fault: fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			r := newIssuerRig(t, Issuer{Client: Client{ID: "app", Secret: "sesame"}, ClientIDs: []string{"phone"}, Audience: []string{"api"}, Tokens: tt.kind})
			r.config.Issuers = append(r.config.Issuers, Issuer{Name: "other", URL: r.issuer + "/other", ClientIDs: []string{"app"}})
			r.sends = tt.sends
			r.again()
			for _, said := range [][]any{tt.id, tt.access} {
				if i := slices.Index(said, any(otherIssuer)); i >= 0 {
					said[i] = r.issuer + "/other"
				}
			}
			f, to, err := r.Begin(t.Context(), "main", back)
			if err != nil {
				t.Fatal(err)
			}
			sent, err := url.Parse(to)
			if err != nil {
				t.Fatal(err)
			}
			ask := sent.Query()
			if ask.Get("code_challenge_method") != "S256" || ask.Get("state") != f.State || ask.Get("nonce") != f.Nonce || ask.Get("redirect_uri") != back ||
				ask.Get("scope") != "openid profile email" || (ask.Get("audience") == "api") != (tt.kind == KindAccess) || strings.Contains(to, f.Verifier) || strings.Contains(to, "sesame") {
				t.Errorf("sent to %s", to)
			}
			r.token = func(w http.ResponseWriter, req *http.Request) {
				client, secret, _ := req.BasicAuth()
				if client != "app" || secret != "sesame" || req.PostFormValue("code") != "c1" || req.PostFormValue("code_verifier") != f.Verifier || req.PostFormValue("redirect_uri") != back {
					t.Errorf("asked for a token by %s %s with %v", client, secret, req.PostForm)
				}
				w.Header().Set("Content-Type", "application/json")
				if tt.status != 0 {
					w.WriteHeader(tt.status)
					w.Write([]byte(`{"error":"invalid_grant"}`))
					return
				}
				_ = json.NewEncoder(w).Encode(map[string]any{
					"token_type": "Bearer", "id_token": r.plain().with("nonce", f.Nonce, "name", "User One").with(tt.id...).token(),
					"access_token": r.plain().with("aud", "api").with(tt.access...).token(),
				})
			}
			q := url.Values{"code": {"c1"}, "state": {f.State}}
			maps.Copy(q, tt.query)
			switch q.Get("iss") {
			case itsIssuer:
				q.Set("iss", r.issuer)
			case otherIssuer:
				q.Set("iss", r.issuer+"/other")
			}
			id, err := r.Finish(t.Context(), &f, back, q)
			if tt.want == "" {
				if err != nil || id.Subject != "u1" || id.Name != "User One" || id.Issuer != r.issuer {
					t.Errorf("%+v, %v", id, err)
				}
				return
			}
			if !fault.Is(err, tt.fault) || !strings.Contains(err.Error(), tt.want) || id.Subject != "" {
				t.Errorf("%+v, %v, want %q", id, err, tt.want)
			}
		})
	}
}

// People get a sign-out link to an issuer only if it announces one, over TLS.
func TestSignOutAtTheIssuer(t *testing.T) {
	for end, want := range map[string]string{
		"":                                "",
		"http://evil.example/end":         "",
		"javascript:alert(1)":             "",
		"https://u:p@issuer.example/end":  "",
		"https://issuer.example/end":      "https://issuer.example/end?client_id=app",
		"https://issuer.example/end?of=x": "https://issuer.example/end?client_id=app&of=x",
	} {
		r := newIssuerRig(t, Issuer{Client: Client{ID: "app"}})
		r.end = end
		if got, _ := r.SignOut(t.Context(), "main"); got != want {
			t.Errorf("%q: %q", end, got)
		}
		if got, _ := r.SignOut(t.Context(), "other"); got != "" {
			t.Errorf("an issuer that is none: %q", got)
		}
	}
}

// watched is a transport that refuses requests to other machines.
type watched struct {
	bounded
	t *testing.T
}

// RoundTrip implements http.RoundTripper.
func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Hostname() != "127.0.0.1" {
		w.t.Errorf("asked for %s", r.URL)
		return nil, http.ErrNotSupported
	}
	return w.bounded.RoundTrip(r)
}

// A discovery document of another issuer, without TLS, or without end is refused.
func TestBadDiscovery(t *testing.T) {
	for name, body := range map[string]func(self string) string{
		"another issuer": func(self string) string {
			return `{"issuer":"https://evil.example","authorization_endpoint":"` + self + `/a","token_endpoint":"` + self + `/t","jwks_uri":"` + self + `/k"}`
		},
		"the person by plain http": func(self string) string {
			return `{"issuer":"` + self + `","authorization_endpoint":"http://issuer.example/a","token_endpoint":"` + self + `/t","jwks_uri":"` + self + `/k"}`
		},
		"the code by plain http": func(self string) string {
			return `{"issuer":"` + self + `","authorization_endpoint":"` + self + `/a","token_endpoint":"http://issuer.example/t","jwks_uri":"` + self + `/k"}`
		},
		"keys by plain http": func(self string) string {
			return `{"issuer":"` + self + `","authorization_endpoint":"` + self + `/a","token_endpoint":"` + self + `/t","jwks_uri":"http://issuer.example/k"}`
		},
		"no keys": func(self string) string {
			return `{"issuer":"` + self + `","authorization_endpoint":"` + self + `/a","token_endpoint":"` + self + `/t"}`
		},
		"endless": func(self string) string {
			return `{"issuer":"` + self + `","authorization_endpoint":"` + self + `/a","token_endpoint":"` + self + `/t","jwks_uri":"` + self + `/k","pad":"` + strings.Repeat("x", 3*maxAnswer) + `"}`
		},
		"no JSON":  func(string) string { return "<html>" },
		"a string": func(string) string { return `"x"` },
	} {
		t.Run(name, func(t *testing.T) {
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/.well-known/openid-configuration" {
					t.Errorf("asked for %s", r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				w.Write([]byte(body(server.URL)))
			}))
			defer server.Close()
			client := newClient()
			client.Transport = watched{client.Transport.(bounded), t}
			v, err := New(Config{Client: client, Issuers: []Issuer{{Name: "main", URL: server.URL, Discover: true, Client: Client{ID: "app"}}}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { v.Close(); v.cfg.Client.CloseIdleConnections() }()
			if _, to, err := v.Begin(t.Context(), "main", "http://node.example/back"); !fault.Is(err, fault.Unavailable) {
				t.Errorf("sent to %q, %v", to, err)
			}
		})
	}
}

// A stored discovery document is checked like a fetched one: it may be from another version of the node, or from another issuer.
func TestKeptDiscovery(t *testing.T) {
	for name, change := range map[string]func(said string) string{
		"as it came":     func(said string) string { return said },
		"another issuer": func(said string) string { return strings.Replace(said, `"issuer":"http`, `"issuer":"https`, 1) },
		"plain http": func(said string) string {
			return strings.Replace(said, `"token_endpoint":"http://127.0.0.1`, `"token_endpoint":"http://192.0.2.1`, 1)
		},
		"none": func(string) string { return "" },
	} {
		r := newIssuerRig(t, Issuer{Client: Client{ID: "app"}})
		if _, _, err := r.Begin(t.Context(), "main", "http://node.example/back"); err != nil {
			t.Fatal(err)
		}
		set := r.kept.sets[r.issuer]
		set.Discovery = []byte(change(string(set.Discovery)))
		if err := r.kept.SaveKeys(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		r.server.Close()
		r.again()
		if _, to, err := r.Begin(t.Context(), "main", "http://node.example/back"); (err == nil) != (name == "as it came") {
			t.Errorf("%s: sent to %q, %v", name, to, err)
		}
	}
}

package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Scheme is how somebody has shown who they are.
type Scheme uint8

// The schemes. The zero value is none of them: nobody.
const (
	_         Scheme = iota
	Bearer           // a token of an issuer, with each request
	Session          // a session of this node, which began with a sign-in
	Anonymous        // an id that the browser was given, and no more
	APIKey           // the node's API key, and no user
)

// Identity is who is asking.
type Identity struct {
	Subject string    // the user's id, as the issuer's subject claim has it; empty for the API key alone
	Scheme  Scheme    // how that is known
	Issuer  string    // iss of who says so; empty: of the node itself
	Groups  []string  // of the user, as the issuer has them
	Admin   bool      // may do everything: by the issuer's admin claim, or by the API key
	Key     bool      // showed the API key
	Name    string    // for people; empty: the issuer has not said
	Email   string    // the same
	Session string    // public id of the session, where there is one
	Expires time.Time // when to ask again who it is: the end of the token; zero: never
}

// Authenticator identifies the caller. An error is ErrNone, fault.Unauthorized with a text for the app's developer, or
// fault.Unavailable where the issuer's keys cannot be fetched. No error holds a part of a token or a key.
type Authenticator interface {
	// Identify reads the Authorization and X-API-Key headers. Without either it is ErrNone; one that is wrong is an error
	// even where the other is right.
	Identify(ctx context.Context, r *http.Request) (Identity, error)
	// Verify judges a token by itself, as a cookie or a sign-in form has it.
	Verify(ctx context.Context, token string) (Identity, error)
}

// ErrNone is a request without credentials.
var ErrNone = errors.New("no credentials")

// DefaultAdminGroup is that of a Config which names none.
const DefaultAdminGroup = "admin"

// Leeway is by how much the issuer's clock and ours may differ.
const Leeway = time.Minute

// Issuer is one whose tokens count.
type Issuer struct {
	Name      string   // in the settings: "cognito"
	Title     string   // for people, on a button
	URL       string   // the iss claim, to the letter
	ClientIDs []string // the aud claim of an ID token must be one of them
	Client    Client   // this node at the issuer; without an ID nobody signs in there in a browser

	Tokens   Kind     // that programs may send; zero: ID tokens
	Audience []string // the aud claim of an access token must be one of them; one without aud must be for one of ClientIDs

	Subject    string // the claim that is the user's id; empty: sub
	AdminClaim string // whose value makes an admin, "app_metadata.game_admin"; empty: cognito:groups
	AdminValue string // that value, or one in its list; empty: Config.AdminGroup

	// Discover asks the issuer where its keys are (OpenID Connect Discovery). Else it is an Amazon Cognito user pool: they are at
	// URL/.well-known/jwks.json, and every token says its token_use.
	Discover bool

	dev *DevIssuer // nil: the keys are fetched
}

// Client is what an issuer knows this node as.
type Client struct {
	ID     string
	Secret string   // empty: a public client, by PKCE alone
	Scopes []string // empty: openid, profile, email
}

// Kind is what a token was made for.
type Kind uint8

// The kinds. An issuer's tokens may be of any kind where KindAny says so.
const (
	KindID     Kind = iota // tells an application who signed in
	KindAccess             // opens an API
	KindAny
)

// Config is whom the node believes. Without issuers and key nobody can sign in.
type Config struct {
	Issuers    []Issuer
	AdminGroup string       // whose members may do everything; empty: DefaultAdminGroup
	APIKey     string       // X-API-Key of a full admin; empty: there is none
	Clock      clock.Clock  // real time, by which tokens expire; nil: clock.Real
	Keys       KeyStore     // where fetched keys are kept; nil: in memory alone
	Client     *http.Client // that fetches keys; nil: one with short time-outs that follows no redirect
	Logger     *slog.Logger // nil: silent
}

// KeySet is an issuer's keys as they came.
type KeySet struct {
	Issuer    string
	Body      []byte // a JWKS (RFC 7517)
	Discovery []byte // the issuer's description of itself; nil: it was not asked for one
	ETag      string // of Body; empty: none
	FetchedAt time.Time
}

// KeyStore keeps issuers' keys over a restart.
type KeyStore interface {
	// LoadKeys returns what was saved last; a nil Body: nothing yet.
	LoadKeys(ctx context.Context, issuer string) (KeySet, error)
	// SaveKeys replaces what was saved before.
	SaveKeys(ctx context.Context, k KeySet) error
}

func unauthorized(format string, args ...any) error {
	return fault.New(fault.Unauthorized, "unauthorized", format, args...)
}

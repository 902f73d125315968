package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Scheme is how a caller was identified.
type Scheme uint8

// The schemes. The zero value means that nobody was identified.
const (
	_         Scheme = iota
	Bearer           // an issuer's token, sent with each request
	Session          // a session of this node, started by a sign-in
	Anonymous        // only an id that this node gave to the browser
	APIKey           // the node's API key, without a user
)

// Identity is the caller of a request.
type Identity struct {
	Subject string    // the user's id from the issuer's subject claim; empty: the API key alone
	Scheme  Scheme    // how the caller was identified
	Issuer  string    // iss of the token; empty: identified by the node itself
	Groups  []string  // the user's groups according to the issuer
	Admin   bool      // an admin, by the issuer's admin claim or the API key: of what AdminOf names
	AdminOf []string  // the applications whose admin the claim makes, or AdminOfNode; nil: the node, and so everything
	Key     bool      // sent the API key
	Name    string    // for display; empty: not known
	Email   string    // empty: not known
	Session string    // public id of the session; empty: none
	Expires time.Time // when the identification expires; zero: never
}

// AdminOfNode in Identity.AdminOf and Issuer.AdminOf stands for the node, and so for all of its applications.
const AdminOfNode = "node"

// IsNodeAdmin reports whether the caller is an admin of the node.
func (id Identity) IsNodeAdmin() bool {
	return id.Admin && (id.Key || id.AdminOf == nil || slices.Contains(id.AdminOf, AdminOfNode))
}

// IsAdminOf reports whether the caller is an admin of an application.
func (id Identity) IsAdminOf(application string) bool {
	return id.IsNodeAdmin() || id.Admin && slices.Contains(id.AdminOf, application)
}

// Authenticator identifies callers. It returns ErrNone, fault.Unauthorized with a text for the app's developer, or fault.Unavailable if
// the issuer's keys cannot be fetched. Errors never contain parts of tokens or keys.
type Authenticator interface {
	// Identify reads the Authorization and X-API-Key headers. Without either it returns ErrNone. One invalid header is an error, even
	// if the other is valid.
	Identify(ctx context.Context, r *http.Request) (Identity, error)
	// Verify verifies a bare token, as in a cookie or a sign-in form.
	Verify(ctx context.Context, token string) (Identity, error)
}

// ErrNone is the error of a request without credentials.
var ErrNone = errors.New("no credentials")

// DefaultAdminGroup is the default of Config.AdminGroup.
const DefaultAdminGroup = "admin"

// Leeway is how far the issuer's clock and ours may differ.
const Leeway = time.Minute

// Issuer is a trusted issuer of tokens.
type Issuer struct {
	Name      string   // name in the settings: "cognito"
	Title     string   // label of its sign-in button
	URL       string   // the exact iss claim
	ClientIDs []string // the aud claim of an ID token must be one of them
	Client    Client   // this node at the issuer; without an ID there is no browser sign-in

	Tokens   Kind     // kind of token that programs may send; zero: ID tokens
	Audience []string // the aud claim of an access token must be one of them; one without aud must be issued to one of ClientIDs

	Subject    string // claim with the user's id; empty: sub
	AdminClaim string // claim that makes an admin, such as "app_metadata.game_admin"; empty: cognito:groups
	AdminValue string // value of that claim, or in its list; empty: Config.AdminGroup

	// AdminOf names the applications whose admins the claim makes, or AdminOfNode; nil: the node.
	AdminOf []string

	// Discover asks the issuer for the location of its keys (OpenID Connect Discovery). Otherwise it is an Amazon Cognito user pool:
	// the keys are at URL/.well-known/jwks.json, and every token has a token_use.
	Discover bool

	dev *DevIssuer // nil: keys are fetched
}

// Client is this node's registration at an issuer.
type Client struct {
	ID     string
	Secret string   // empty: a public client with PKCE only
	Scopes []string // empty: openid, profile, email
}

// Kind is the purpose of a token.
type Kind uint8

// The kinds of tokens. KindAny accepts both.
const (
	KindID     Kind = iota // identifies a user to an application
	KindAccess             // grants access to an API
	KindAny
)

// Config configures whom the node trusts. Without issuers and key nobody can sign in.
type Config struct {
	Issuers    []Issuer
	AdminGroup string       // group of admins; empty: DefaultAdminGroup
	APIKey     string       // X-API-Key of a full admin; empty: none
	Clock      clock.Clock  // for expiry; nil: clock.Real
	Keys       KeyStore     // stores fetched keys; nil: memory only
	Client     *http.Client // fetches keys; nil: a client with short timeouts that follows no redirects
	Logger     *slog.Logger // nil: silent
}

// KeySet is an issuer's keys as received.
type KeySet struct {
	Issuer    string
	Body      []byte // a JWKS (RFC 7517)
	Discovery []byte // the issuer's discovery document; nil: not requested
	ETag      string // ETag of Body; empty: none
	FetchedAt time.Time
}

// KeyStore stores issuers' keys across restarts.
type KeyStore interface {
	// LoadKeys returns what was last saved; a nil Body means nothing.
	LoadKeys(ctx context.Context, issuer string) (KeySet, error)
	// SaveKeys replaces what was last saved.
	SaveKeys(ctx context.Context, k KeySet) error
}

func unauthorizedError(format string, args ...any) error {
	return fault.New(fault.Unauthorized, "unauthorized", format, args...)
}

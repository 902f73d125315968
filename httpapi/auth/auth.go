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

// Identity is who is asking.
type Identity struct {
	Subject string    // the user's id, the token's sub; empty for the API key alone
	Groups  []string  // of the user, as the issuer has them
	Admin   bool      // may do everything: of the admin group, or by the API key
	Key     bool      // showed the API key
	Expires time.Time // end of the token; zero: none
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

// The defaults of a Config.
const (
	DefaultAdminGroup = "admin"
	DefaultGrace      = 30 * 24 * time.Hour
)

// Leeway is by how much the issuer's clock and ours may differ.
const Leeway = time.Minute

// Issuer is one whose tokens count.
type Issuer struct {
	URL       string   // the iss claim, to the letter; its keys are at URL/.well-known/jwks.json
	ClientIDs []string // the aud claim must be one of them

	dev *DevIssuer // nil: the keys are fetched
}

// Config is whom the node believes. Without issuers and key nobody can sign in.
type Config struct {
	Issuers    []Issuer
	AdminGroup string        // whose members may do everything; empty: DefaultAdminGroup
	APIKey     string        // X-API-Key of a full admin; empty: there is none
	Clock      clock.Clock   // real time, by which tokens expire; nil: clock.Real
	Keys       KeyStore      // where fetched keys are kept; nil: in memory alone
	Grace      time.Duration // how long keys count that could not be fetched again; 0: DefaultGrace
	Client     *http.Client  // that fetches keys; nil: one with short time-outs that follows no redirect
	Logger     *slog.Logger  // nil: silent
}

// KeySet is an issuer's keys as they came.
type KeySet struct {
	Issuer    string
	Body      []byte // a JWKS (RFC 7517)
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

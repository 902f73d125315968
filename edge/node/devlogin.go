package node

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/rebind"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/store"
)

// devURL returns the issuer (iss) of the login page.
func (a AuthConfig) devURL() string { return "http://" + a.DevLogin }

// maxDevUsers bounds the file of the login page's users, in bytes.
const maxDevUsers = 1 << 20

// ServeLogin serves the development issuer's login page, if configured, until stop is called. Its key is in the data directory, which
// must exist.
func (a AuthConfig) ServeLogin(ctx context.Context, dataDir string, log *slog.Logger) (stop func(), err error) {
	if a.DevLogin == "" {
		return func() {}, nil
	}
	users := devlogin.DemoUsers(a.AdminGroup)
	if a.DevUsers != "" {
		raw, err := secretfile.ReadAny(a.DevUsers, maxDevUsers)
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "no_users", "cannot read auth.dev_users %s: %s", a.DevUsers, ReasonOf(err))
		}
		if users, err = devlogin.ReadUsers(raw); err != nil {
			return nil, err
		}
	}
	key, err := auth.OpenDevIssuer(dataDir)
	if err != nil {
		return nil, err
	}
	ln, err := Listen(ctx, a.DevLogin, "auth.dev_login")
	if err != nil {
		return nil, err
	}
	log.Warn("development issuer: everybody on this machine can sign in as anybody", "login", a.devURL(), "users", cmp.Or(a.DevUsers, "demo users"))
	return serveLogin(ctx, ln, devlogin.New(a.devURL(), key, users), log), nil
}

func serveLogin(ctx context.Context, ln net.Listener, provider *devlogin.Provider, log *slog.Logger) (stop func()) {
	return Background(ctx, func(ctx context.Context) {
		if err := ServeUntil(ctx, httpapi.NewHTTPServer(rebind.Guard(ln, provider, elsewhere), log), ln); err != nil {
			log.Error("the development login page has ended", "err", err)
		}
	})
}

// DemoLogin is the login page of a demo, on a loopback port of its own, with a button for each user.
type DemoLogin struct {
	issuer   auth.Issuer
	provider *devlogin.Provider
	first    *devlogin.User
	Close    func() // ends the login page
}

// OpenDemoLogin serves the login page until Close. users must not be empty. The key is new in each process, so sessions of an earlier
// run are invalid.
func OpenDemoLogin(ctx context.Context, users []devlogin.User, log *slog.Logger) (*DemoLogin, error) {
	key, err := auth.NewDevIssuer()
	if err != nil {
		return nil, err
	}
	ln, err := Listen(ctx, "127.0.0.1:0", "the demo's login page")
	if err != nil {
		return nil, err
	}
	url := "http://" + ln.Addr().String()
	provider := devlogin.New(url, key, users)
	return &DemoLogin{
		issuer:   auth.Issuer{Name: "demo", Title: "a demo user", URL: url, Client: auth.Client{ID: devlogin.ClientID}, Discover: true},
		provider: provider, first: &users[0], Close: serveLogin(ctx, ln, provider, log),
	}, nil
}

// SignIn returns a token of the first user, for httpapi.Config.Demo.
func (d *DemoLogin) SignIn() (string, error) { return d.provider.Token(d.first, "") }

// Identity is the demo's AuthMaker.
func (d *DemoLogin) Identity(*store.Store) (*auth.Verifier, error) {
	return auth.New(auth.Config{Issuers: []auth.Issuer{d.issuer}, Clock: clock.Real()})
}

// elsewhere answers a request addressed to another machine's name.
func elsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, rebind.Refusal, http.StatusMisdirectedRequest)
}

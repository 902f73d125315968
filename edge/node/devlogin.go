package node

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/rebind"
)

// devURL is the iss of the development issuer with a login page.
func (a AuthConfig) devURL() string { return "http://" + a.DevLogin }

// ServeLogin serves the login page of the development issuer, if the section wants one, until stop is called. Its key is in the
// data directory, which must be there.
func (a AuthConfig) ServeLogin(ctx context.Context, dataDir string, log *slog.Logger) (stop func(), err error) {
	if a.DevLogin == "" {
		return func() {}, nil
	}
	users := devlogin.DemoUsers(a.AdminGroup)
	if a.DevUsers != "" {
		raw, err := os.ReadFile(filepath.Clean(a.DevUsers))
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
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	provider := devlogin.New(a.devURL(), key, users)
	serving.Go(func() {
		if err := ServeUntil(ctx, httpapi.NewHTTPServer(rebind.Guard(ln, provider, elsewhere), log), ln); err != nil {
			log.Error("the development login page has ended", "err", err)
		}
	})
	log.Warn("development issuer: everybody on this machine can sign in as anybody", "login", a.devURL(), "users", cmp.Or(a.DevUsers, "demo users"))
	return func() { cancel(); serving.Wait() }, nil
}

// elsewhere answers a request for another machine's name.
func elsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, rebind.Refusal, http.StatusMisdirectedRequest)
}

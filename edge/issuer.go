package edge

import (
	"sync"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

const (
	demoUser     = "demo-asha" // one of those whose phones the demo shows
	demoLife     = 12 * time.Hour
	demoRenewing = time.Hour // a token that has less left is not handed out any more
)

// demoSignIn signs the demo's user in, by real tokens of an issuer that is as old as the process. The user is an admin:
// who can reach the demo is at this machine.
type demoSignIn struct {
	issuer *auth.DevIssuer
	clock  clock.Clock // real time, whatever the demo's runs like

	mu      sync.Mutex
	token   string
	expires time.Time
}

func newDemoSignIn() (*demoSignIn, error) {
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		return nil, err
	}
	return &demoSignIn{issuer: issuer, clock: clock.Real()}, nil
}

// identity is the demo's AuthMaker.
func (d *demoSignIn) identity(*store.Store) (*auth.Verifier, error) {
	return auth.New(auth.Config{Issuers: []auth.Issuer{d.issuer.Issuer()}, Clock: d.clock})
}

// signIn returns a token of the demo's user, as httpapi.Config.Demo does.
func (d *demoSignIn) signIn() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	if d.expires.Sub(now) >= demoRenewing {
		return d.token, nil
	}
	token, expires, err := d.issuer.Sign(auth.Grant{Subject: demoUser, Groups: []string{auth.DefaultAdminGroup}, Life: demoLife}, now)
	if err != nil {
		return "", err
	}
	d.token, d.expires = token, expires
	return token, nil
}

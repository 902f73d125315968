package node

import (
	"sync"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

const (
	demoLife     = 12 * time.Hour
	demoRenewing = time.Hour // a token that has less left is not handed out any more
)

// DemoSignIn signs a demo's user in, by real tokens of an issuer that is as old as the process. The user is an admin:
// who can reach the demo is at this machine.
type DemoSignIn struct {
	user   string
	issuer *auth.DevIssuer
	clock  clock.Clock // real time, whatever the demo's runs like

	mu      sync.Mutex
	token   string
	expires time.Time
}

// NewDemoSignIn creates the sign-in of a user.
func NewDemoSignIn(user string) (*DemoSignIn, error) {
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		return nil, err
	}
	return &DemoSignIn{user: user, issuer: issuer, clock: clock.Real()}, nil
}

// Identity is the demo's AuthMaker.
func (d *DemoSignIn) Identity(*store.Store) (*auth.Verifier, error) {
	return auth.New(auth.Config{Issuers: []auth.Issuer{d.issuer.Issuer()}, Clock: d.clock})
}

// SignIn returns a token of the demo's user, as httpapi.Config.Demo does.
func (d *DemoSignIn) SignIn() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	if d.expires.Sub(now) >= demoRenewing {
		return d.token, nil
	}
	token, expires, err := d.issuer.Sign(auth.Grant{Subject: d.user, Groups: []string{auth.DefaultAdminGroup}, Life: demoLife}, now)
	if err != nil {
		return "", err
	}
	d.token, d.expires = token, expires
	return token, nil
}

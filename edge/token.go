package edge

import (
	"slices"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
)

// TokenConfig is the content of a token.
type TokenConfig struct {
	User   string
	Groups []string
	Admin  bool // add the configuration's admin group
	Life   time.Duration
}

// TokenInfo is a token and its content.
type TokenInfo struct {
	Token     string    `json:"token"`
	UserID    string    `json:"userId"`
	Groups    []string  `json:"groups"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Token signs a token with the key that a node with auth.dev_issuer created in its data directory.
func Token(c Config, t TokenConfig) (TokenInfo, error) {
	issuer, err := auth.ReadDevIssuer(c.DataDir)
	if err != nil {
		return TokenInfo{}, err
	}
	groups := slices.Clone(t.Groups)
	if t.Admin && !slices.Contains(groups, c.Auth.AdminGroup) {
		groups = append(groups, c.Auth.AdminGroup)
	}
	token, expires, err := issuer.Sign(auth.Grant{Subject: t.User, Groups: groups, Life: t.Life}, clock.Real().Wall())
	if err != nil {
		return TokenInfo{}, err
	}
	return TokenInfo{Token: token, UserID: t.User, Groups: append([]string{}, groups...), ExpiresAt: expires}, nil
}

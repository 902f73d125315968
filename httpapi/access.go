package httpapi

import (
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
)

// access is who may ask for a route.
type access uint8

const (
	public   access = iota // everybody
	optional               // everybody; who signs in is known
	user                   // who has signed in
	admin                  // the admin group, or the key
)

const keyIdentity = "touchline.identity"

// identityOf gives who asks, if it is known.
func identityOf(c *gin.Context) (auth.Identity, bool) {
	id, ok := c.Get(keyIdentity)
	if !ok {
		return auth.Identity{}, false
	}
	who, ok := id.(auth.Identity)
	return who, ok
}

// allow lets through who may ask.
func (s *Server) allow(a access) gin.HandlerFunc {
	return func(c *gin.Context) {
		if a == public {
			return
		}
		var who auth.Identity
		err := error(auth.ErrNone)
		if s.cfg.Auth != nil {
			who, err = s.cfg.Auth.Identify(c.Request.Context(), c.Request)
		}
		if errors.Is(err, auth.ErrNone) {
			err = fault.New(fault.Unauthorized, "unauthorized", "Sign in first.")
		}
		switch {
		case err == nil && a == admin && !who.Admin:
			s.fail(c, fault.New(fault.Forbidden, "forbidden", "This is for admins."))
		case err == nil:
			c.Set(keyIdentity, who)
		case a != optional:
			s.fail(c, err)
		}
	}
}

package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
)

// Access is who may use a route.
type Access uint8

// The levels. The zero value is none of them: a route whose level was forgotten is for nobody.
const (
	_        Access = iota
	Public          // anybody; who it is does not matter
	Optional        // anybody; Identity tells who it is, where that is known
	Guest           // a user, whoever has the API key, or somebody with an anonymous id of the application
	User            // a user, or whoever has the API key: that one has no Subject
	Admin           // a member of the admin group, or whoever has the API key
)

const keyIdentity = "touchline.identity"

// Identity returns the caller. On a route for users or admins it is always known, on a public one never.
func Identity(c *gin.Context) (auth.Identity, bool) {
	id, ok := c.Value(keyIdentity).(auth.Identity)
	return id, ok
}

// allow lets those through who may use a route, as long as they do not ask too much. A route that is quiet has said so
// before: it is not limited, but for those who guess at it.
func (s *Server) allow(a Access) gin.HandlerFunc {
	return s.wrap(func(c *gin.Context) error {
		id, err := s.identify(c, a)
		if err := s.limitAccess(c, a, id, err); err != nil {
			return err
		}
		if err == nil && a != Public {
			c.Set(keyIdentity, id)
		}
		if err := permit(a, id, err); err != nil {
			return s.refuse(c, err)
		}
		return nil
	})
}

// limitAccess counts a request; failed is what came of asking who sent it.
func (s *Server) limitAccess(c *gin.Context, a Access, id auth.Identity, failed error) error {
	switch {
	case a > Optional && fault.Is(failed, fault.Unauthorized) && !errors.Is(failed, errSignIn):
		return s.limitFailure(c, credentialsOf(c.Request))
	case !c.GetBool(keyQuiet) || a > Optional && failed != nil:
		return s.limit(c, id)
	}
	return nil
}

// permit reports whether a level admits who is asking; err is what came of asking who that is.
func permit(a Access, id auth.Identity, err error) error {
	switch a {
	case Public, Optional:
		return nil
	case Guest, User:
		return err
	case Admin:
		if err == nil && !id.Admin {
			return fault.New(fault.Forbidden, "forbidden", "Only admins may do this.")
		}
		return err
	default:
		return fault.New(fault.Forbidden, "forbidden", "Nobody may do this.")
	}
}

// refuse has a person's browser sign in, and tells a program how it could.
func (s *Server) refuse(c *gin.Context, err error) error {
	if !fault.Is(err, fault.Unauthorized) {
		return err
	}
	if wantsHTML(c.Request) && s.appAt(c.Request.URL.Path) == nil {
		c.Abort()
		return seeOther(c, s.signInAt(appOf(c))+"?"+url.Values{"to": {c.Request.URL.RequestURI()}}.Encode())
	}
	challenge(c, err)
	return err
}

// signInAt is where people sign in; empty: nowhere.
func (s *Server) signInAt(m *mounted) string {
	switch {
	case m != nil && m.SignIn.Own != nil:
		return m.prefix + "/-" + m.SignIn.Page
	case s.cfg.Auth == nil:
		return ""
	}
	return pathSignIn
}

// challenge says with a 401 what would have done (RFC 6750).
func challenge(c *gin.Context, err error) {
	text := `Bearer realm="touchline"`
	if f, ok := errors.AsType[*fault.Error](err); ok && !errors.Is(err, errSignIn) {
		text += `, error="invalid_token", error_description="` + strings.NewReplacer(`"`, "'", `\`, "'").Replace(f.Message) + `"`
	}
	c.Header("WWW-Authenticate", text)
}

// errSignIn is a request of nobody, where it takes somebody.
var errSignIn error = fault.New(fault.Unauthorized, "unauthorized",
	"Sign in: send Authorization: Bearer and an ID token, or an X-API-Key.")

// identify finds out who is asking, as the application of the route knows them.
func (s *Server) identify(c *gin.Context, a Access) (auth.Identity, error) {
	m := appOf(c)
	if m != nil && m.SignIn.Own != nil {
		return m.own(c, a)
	}
	id, err := s.byCredentials(c, a)
	if m == nil {
		return id, err
	}
	if err == nil {
		return m.knows(s, id)
	}
	if m.SignIn.Header != "" && s.cfg.Tokens && errors.Is(err, errSignIn) && c.GetHeader(m.SignIn.Header) != "" {
		return auth.Identity{Subject: c.GetHeader(m.SignIn.Header), Scheme: auth.Bearer}, nil
	}
	if (a == Guest || a == Optional) && errors.Is(err, errSignIn) {
		if guest := m.guest(s, c.Request); guest != "" {
			return auth.Identity{Subject: guest, Scheme: auth.Anonymous}, nil
		}
	}
	return id, err
}

// byCredentials finds out who is asking: by the headers, by a cookie where it counts, or by the demo's leave. What a program
// says in headers is never replaced by what a browser adds by itself.
func (s *Server) byCredentials(c *gin.Context, a Access) (auth.Identity, error) {
	if s.cfg.Auth == nil {
		return auth.Identity{}, errSignIn
	}
	id, err := s.cfg.Auth.Identify(c.Request.Context(), c.Request)
	if !errors.Is(err, auth.ErrNone) {
		return id, err
	}
	if id, err = s.bySession(c, a); errors.Is(err, errSignIn) {
		id, err = s.byCookie(c.Request)
	}
	if err != nil && s.cfg.Demo != nil && a != Public && s.demoFor(c.Request) {
		return s.signInDemo(c)
	}
	return id, err
}

// isStream reports whether a request is for a stream, all of which end so.
func isStream(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/stream") }

// Subject returns the user whose rows a request is about. For the API key, which is not a user, it returns an error.
func Subject(c *gin.Context) (string, error) {
	who, ok := Identity(c)
	if !ok || who.Subject == "" {
		return "", fault.New(fault.Forbidden, "no_user", "An API key is not a user: sign in as a user.")
	}
	return who.Subject, nil
}

package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/fault"
)

// Access is the level that a route requires of its caller.
type Access uint8

// The levels. The zero value is none of them, so a route without a level admits nobody.
const (
	_         Access = iota
	Public           // anybody, without identification
	Optional         // anybody; Identity is set if the caller is known
	Guest            // a user, the API key, or a caller with an anonymous id of the application
	User             // a user, or the API key, which has no Subject
	Admin            // an admin of the route's application, or of the node on the node's own routes
	NodeAdmin        // an admin of the node: a member of its admin group, or the API key
)

const keyIdentity = "touchline.identity"

// Identity returns the caller. It is always set on routes for users or admins, and never on public ones.
func Identity(c *gin.Context) (auth.Identity, bool) {
	id, ok := c.Value(keyIdentity).(auth.Identity)
	return id, ok
}

// allow admits callers that a route permits, within the rate limit. Quiet routes are exempt from the limit, except for failed attempts
// on restricted ones.
func (s *Server) allow(a Access) gin.HandlerFunc {
	return s.wrap(func(c *gin.Context) error {
		if h := handingOf(c); h != nil {
			return s.allowHanded(c, a, h)
		}
		id, err := s.identify(c, a)
		s.noteBucket(c, id)
		if err := s.limitAccess(c, a, err); err != nil {
			return err
		}
		if err == nil && a != Public {
			c.Set(keyIdentity, id)
			markConnection(c, id)
		}
		if err := permit(a, id, err); err != nil {
			return s.refuse(c, err)
		}
		return nil
	})
}

// markConnection keeps a user's connection when the port is full of connections of strangers.
func markConnection(c *gin.Context, id auth.Identity) {
	if id.Scheme != auth.Anonymous {
		connlimit.MarkUser(c.Request.Context(), id.Subject)
	}
}

// limitAccess counts a request against the rate limit. failed is the error of identifying the caller.
func (s *Server) limitAccess(c *gin.Context, a Access, failed error) error {
	switch {
	case a > Optional && fault.Is(failed, fault.Unauthorized) && !errors.Is(failed, errSignIn):
		return s.limitFailure(c, credentialsOf(c.Request))
	case !c.GetBool(keyQuiet) || a > Optional && failed != nil:
		return s.limit(c)
	}
	return nil
}

// permit returns an error unless a level admits the caller. err is the error of identifying the caller.
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
	case NodeAdmin:
		if err == nil && !id.IsNodeAdmin() {
			return fault.New(fault.Forbidden, "forbidden", "Only admins of this node may do this.")
		}
		return err
	default:
		return fault.New(fault.Forbidden, "forbidden", "Nobody may do this.")
	}
}

// refuse redirects a browser to the sign-in page, and tells a program how to authenticate.
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

// signInAt returns the path of the sign-in page; empty: there is none.
func (s *Server) signInAt(m *mounted) string {
	switch {
	case m != nil && m.SignIn.Own != nil:
		return m.prefix + "/-" + m.SignIn.Page
	case s.cfg.Auth == nil:
		return ""
	}
	return pathSignIn
}

// challenge sets WWW-Authenticate for a 401 (RFC 6750).
func challenge(c *gin.Context, err error) {
	text := `Bearer realm="touchline"`
	if f, ok := errors.AsType[*fault.Error](err); ok && !errors.Is(err, errSignIn) {
		text += `, error="invalid_token", error_description="` + strings.NewReplacer(`"`, "'", `\`, "'").Replace(f.Message) + `"`
	}
	c.Header("WWW-Authenticate", text)
}

// errSignIn is the error of a request without credentials that needs them.
var errSignIn error = fault.New(fault.Unauthorized, "unauthorized",
	"Sign in: send Authorization: Bearer and an ID token, or an X-API-Key.")

// identify returns the caller as the route's application, or the node, knows them: an admin elsewhere is none here.
func (s *Server) identify(c *gin.Context, a Access) (auth.Identity, error) {
	m := appOf(c)
	id, err := s.identifyAt(c, m, a)
	id.Admin = id.IsNodeAdmin() || m != nil && id.IsAdminOf(m.Name)
	return id, err
}

// identifyAt returns the caller of a route of an application; nil: of the node.
func (s *Server) identifyAt(c *gin.Context, m *mounted, a Access) (auth.Identity, error) {
	if m != nil && m.SignIn.Own != nil {
		return m.ownUser(c, a)
	}
	id, err := s.byCredentials(c, a)
	if m == nil {
		return id, err
	}
	if err == nil {
		return m.knows(s, id)
	}
	if m.SignIn.Header != "" && s.cfg.Tokens && errors.Is(err, errSignIn) && c.GetHeader(m.SignIn.Header) != "" && !isForwarded(c.Request) {
		return auth.Identity{Subject: c.GetHeader(m.SignIn.Header), Scheme: auth.Bearer}, nil
	}
	if (a == Guest || a == Optional) && errors.Is(err, errSignIn) {
		if guest := m.guest(s, c.Request); guest != "" {
			return auth.Identity{Subject: guest, Scheme: auth.Anonymous}, nil
		}
	}
	return id, err
}

// byCredentials identifies the caller by headers, by a cookie where cookies count, or as the demo's user. A cookie, which a browser
// adds by itself, never replaces credentials that a program sent in headers.
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

// isStream reports whether a request is for a stream: the paths of all streams end like this.
func isStream(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/stream") }

// Subject returns the user whose rows a request is about. The API key is not a user and gets an error.
func Subject(c *gin.Context) (string, error) {
	who, ok := Identity(c)
	if !ok || who.Subject == "" {
		return "", fault.New(fault.Forbidden, "no_user", "An API key is not a user: sign in as a user.")
	}
	return who.Subject, nil
}

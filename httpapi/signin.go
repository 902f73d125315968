package httpapi

import (
	"cmp"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

const (
	pathSignIn  = "/signin"
	pathSignOut = "/signout"
)

// signInRoutes returns the routes that set and clear a browser's cookies.
func (s *Server) signInRoutes() []Route {
	return []Route{
		{Method: "GET", Path: pathSignIn, Access: Optional, Do: s.getSignIn},
		{Method: "POST", Path: pathSignIn, Access: Public, Do: s.ownForm(s.postSignIn)},
		{Method: "POST", Path: pathSignOut, Access: Public, Do: s.ownForm(s.postSignOut)},
	}
}

// getSignIn is the page where people sign in, or see that they are signed in. A browser that follows a link from another site does not
// send the Strict cookie. If it is redirected from our own page, it does.
func (s *Server) getSignIn(c *gin.Context) error {
	to := s.goOn(c.Query("to"))
	if c.GetHeader("Sec-Fetch-Site") == "cross-site" && to != s.goOn("") {
		c.Header("Refresh", "0; url="+to)
		body, err := s.pages.Notice("One moment", "Continue to where you were going.")
		return HTML(c, http.StatusOK, body, err)
	}
	id, _ := Identity(c)
	return s.signInPage(c, http.StatusOK, page.SignInInput{
		To: to, Subject: id.Subject, Name: cmp.Or(id.Name, id.Email), Admin: id.Admin, Session: id.Session != "",
		Out: s.signOutAt(c, c.Query("out")),
	})
}

func (s *Server) signInPage(c *gin.Context, status int, in page.SignInInput) error {
	in.Codes = s.cfg.People != nil
	for _, issuer := range s.choices(in.To) {
		q := url.Values{"to": {in.To}}
		in.Issuers = append(in.Issuers, page.Link{Href: pathWith + issuer.Name + "?" + q.Encode(), Text: issuer.Title})
	}
	in.Tokens = s.cfg.Tokens && (s.cfg.Demo == nil || len(in.Issuers) == 0) // a demo has a button for each user
	body, err := s.pages.SignIn(in)
	return HTML(c, status, body, err)
}

// signInBody is the body of POST /signin, as a form or as JSON.
type signInBody struct {
	Token string `json:"token"`
	To    string `json:"to"` // path on this node to which a form redirects
}

// signedIn is the JSON answer to a valid token.
type signedIn struct {
	UserID    string   `json:"userId"`
	Groups    []string `json:"groups"`
	Admin     bool     `json:"admin"`
	ExpiresAt string   `json:"expiresAt"` // RFC 3339
}

// postSignIn stores a token in the browser as a cookie. Pages of other origins must not do this: they would sign the person in as a
// user of their choice.
func (s *Server) postSignIn(c *gin.Context) error {
	if s.cfg.Auth != nil && !s.cfg.Tokens {
		return fault.New(fault.Forbidden, "no_token_sign_in", "This node does not accept pasted tokens: sign in at an issuer, or send Authorization: Bearer.")
	}
	in, form, err := readSignIn(c.Request)
	if err != nil {
		return err
	}
	id, err := s.verifyCookie(c, in.Token)
	if err != nil {
		challenge(c, err)
		return s.notSignedIn(c, in.Token, in.To, form, err)
	}
	if _, err := s.endSession(c); err != nil {
		return err
	}
	s.setToken(c, in.Token, id.Expires)
	if form {
		return seeOther(c, s.goOn(in.To))
	}
	return Answer(c, http.StatusOK, signedIn{
		UserID: id.Subject, Groups: append([]string{}, id.Groups...), Admin: id.IsNodeAdmin(),
		ExpiresAt: id.Expires.UTC().Format("2006-01-02T15:04:05Z"),
	}, nil)
}

// verifyCookie verifies a token that will become a cookie.
func (s *Server) verifyCookie(c *gin.Context, token string) (auth.Identity, error) {
	switch {
	case s.cfg.Auth == nil:
		return auth.Identity{}, fault.New(fault.Unauthorized, "unauthorized", "Nobody can sign in on this node: no issuer is configured.")
	case token == "":
		return auth.Identity{}, fault.New(fault.Invalid, "no_token", "Paste a token.")
	case len(token) > maxCookie:
		return auth.Identity{}, fault.New(fault.TooLarge, "token_too_long", "The token is too long for a cookie: %d bytes at most.", maxCookie)
	}
	return s.cfg.Auth.Verify(c.Request.Context(), token)
}

// readSignIn reads the body; form reports whether it is a form, from a person's browser.
func readSignIn(r *http.Request) (in signInBody, form bool, err error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return in, false, fault.New(fault.Invalid, "bad_body", `The body must be {"token": "..."}.`)
		}
	case "application/x-www-form-urlencoded":
		in, form = signInBody{Token: r.PostForm.Get("token"), To: r.PostForm.Get("to")}, true
	default:
		return in, false, fault.New(fault.Invalid, "bad_body", "The body must be JSON or a form.")
	}
	in.Token = strings.TrimSpace(in.Token)
	return in, form, nil
}

// postSignOut ends the session and clears the cookies. The token itself stays valid until it expires: only its issuer could revoke it.
func (s *Server) postSignOut(c *gin.Context) error {
	issuer, err := s.endSession(c)
	if err != nil {
		return err
	}
	s.clearCookie(c, tokenCookie)
	ForgetPages(c)
	if !strings.Contains(c.GetHeader("Accept"), "text/html") {
		return NoContent(c)
	}
	to := pathSignIn
	if issuer != "" {
		to += "?" + url.Values{"out": {issuer}}.Encode()
	}
	return seeOther(c, to)
}

// ForgetPages has the browser delete what it has cached of this node, since its next reader may be somebody else. It does not delete what
// waits to be sent: that would need "storage". The copies of the service worker are deleted by forget.js.
func ForgetPages(c *gin.Context) { c.Header("Clear-Site-Data", `"cache"`) }

// ownForm accepts requests of this node's own pages only, and parses their form (PostForm: the body alone).
func (s *Server) ownForm(do Handler) Handler {
	return func(c *gin.Context) error {
		if err := s.ownPage(c.Request); err != nil {
			return err
		}
		if err := c.Request.ParseForm(); err != nil {
			return fault.New(fault.Invalid, "bad_body", "The form cannot be read.")
		}
		return do(c)
	}
}

// ownPage refuses requests that a browser sends on behalf of another origin's page.
func (s *Server) ownPage(r *http.Request) error {
	if err := s.cross.Check(r); err != nil || crossOrigin(r) {
		return fault.Wrap(err, fault.Forbidden, "cross_origin", "Only this node's own pages may do that.")
	}
	return nil
}

// goOn returns where a person goes after signing in: where they came from, or the first page.
func (s *Server) goOn(to string) string {
	if to = localPath(to); to == "/" {
		return s.home()
	}
	return to
}

// localPath returns to if it is a path on this node, otherwise "/". A link from another site must not redirect through our sign-in to a
// third one.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || len(to) > 2048 ||
		!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r == ';' || r == ',' || r >= 0x7f }) ||
		u.Path == pathSignIn || u.Path == pathSignOut || strings.HasPrefix(u.Path, pathFlow) || strings.Contains(u.Path, "//") {
		return "/"
	}
	return to
}

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

// signInRoutes are how a browser comes by its cookie.
func (s *Server) signInRoutes() []Route {
	return []Route{
		{Method: "GET", Path: pathSignIn, Access: Optional, Do: s.getSignIn},
		{Method: "POST", Path: pathSignIn, Access: Public, Do: s.ownForm(s.postSignIn)},
		{Method: "POST", Path: pathSignOut, Access: Public, Do: s.ownForm(s.postSignOut)},
	}
}

// getSignIn is the page where people sign in, or see that they are. A browser that follows a link from elsewhere keeps the cookie to
// itself: sent on from here it shows it.
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
	in.Tokens = s.cfg.Tokens && (s.cfg.Demo == nil || len(in.Issuers) == 0) // a demo's users have a button each
	body, err := s.pages.Still("signin", "Sign in", in, nil)
	return HTML(c, status, body, err)
}

// signInBody is what POST /signin takes, as a form or as JSON.
type signInBody struct {
	Token string `json:"token"`
	To    string `json:"to"` // a path on this node; a form goes on there
}

// signedIn is what a program is told of its token.
type signedIn struct {
	UserID    string   `json:"userId"`
	Groups    []string `json:"groups"`
	Admin     bool     `json:"admin"`
	ExpiresAt string   `json:"expiresAt"` // RFC 3339
}

// postSignIn takes a token and keeps it in the browser as a cookie. Another origin's page may not sign anybody in here:
// it would be as the one it chooses.
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
		UserID: id.Subject, Groups: append([]string{}, id.Groups...), Admin: id.Admin,
		ExpiresAt: id.Expires.UTC().Format("2006-01-02T15:04:05Z"),
	}, nil)
}

// verifyCookie judges a token that is to be kept as a cookie.
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

// readSignIn reads the body; form reports whether a person's browser has sent it.
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

// postSignOut ends the session, and forgets the cookies. A token counts until it expires: it is its issuer's.
func (s *Server) postSignOut(c *gin.Context) error {
	issuer, err := s.endSession(c)
	if err != nil {
		return err
	}
	s.clearCookie(c, cookieName)
	if !strings.Contains(c.GetHeader("Accept"), "text/html") {
		return NoContent(c)
	}
	to := pathSignIn
	if issuer != "" {
		to += "?" + url.Values{"out": {issuer}}.Encode()
	}
	return seeOther(c, to)
}

// ownForm has only this node's own pages send something, and reads their form (PostForm: of the body alone).
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

// ownPage refuses what another origin's page has a browser send.
func (s *Server) ownPage(r *http.Request) error {
	if err := s.cross.Check(r); err != nil || crossOrigin(r) {
		return fault.Wrap(err, fault.Forbidden, "cross_origin", "Only this node's own pages may do that.")
	}
	return nil
}

// goOn is where somebody goes who has signed in: where they came from, or the first page.
func (s *Server) goOn(to string) string {
	if to = localPath(to); to == "/" {
		return s.home()
	}
	return to
}

// localPath is a path on this node, as it was asked for, or / where it was none: a link from elsewhere must not lead
// through our sign-in to somebody else's.
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

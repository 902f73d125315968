package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/internal/fault"
)

const (
	pathFlow = "/_/signin/"
	pathWith = pathFlow + "with/" // followed by the name of an issuer
	pathBack = pathFlow + "back/"
	pathCode = pathFlow + "code"

	flowLife = 600 // seconds to complete a sign-in at the issuer
)

// choices returns the issuers at which a person on the way to an address can sign in.
func (s *Server) choices(to string) []auth.Choice {
	if s.cfg.People == nil {
		return nil
	}
	all := s.cfg.People.Issuers.Choices()
	path, _, _ := strings.Cut(to, "?")
	for _, m := range s.apps {
		if len(m.SignIn.Issuers) > 0 && (path == m.prefix || strings.HasPrefix(path, m.prefix+"/")) {
			all = slices.DeleteFunc(all, func(c auth.Choice) bool { return !slices.Contains(m.SignIn.Issuers, c.Name) })
		}
	}
	return all
}

// issuersKnown checks that the issuers accepted by applications exist.
func (s *Server) issuersKnown() error {
	if s.cfg.People == nil {
		return nil
	}
	for _, m := range s.apps {
		for _, name := range m.SignIn.Issuers {
			if !s.cfg.People.Issuers.Has(name) {
				return fault.New(fault.Invalid, "no_issuer", "The application %s accepts the issuer %s, which is not in auth.issuers.", m.Name, name)
			}
		}
	}
	return nil
}

// base returns the public base URL of this node. Redirect URIs registered at issuers begin with it.
func (s *Server) base(r *http.Request) string {
	switch {
	case s.cfg.PublicURL != "":
		return s.cfg.PublicURL
	case s.overTLS(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// getSignInWith redirects a browser to an issuer. The browser keeps the state of the flow in a cookie.
func (s *Server) getSignInWith(c *gin.Context) error {
	name := c.Param("issuer")
	f, to, err := s.cfg.People.Issuers.Begin(c.Request.Context(), name, s.base(c.Request)+pathBack+name)
	if err != nil {
		return err
	}
	f.To = s.goOn(c.Query("to"))
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	s.setFlow(c, base64.RawURLEncoding.EncodeToString(raw), flowLife)
	return seeOther(c, to)
}

// setFlow stores the state of a sign-in in the browser. It is Lax because the issuer's page redirects the browser back.
func (s *Server) setFlow(c *gin.Context, value string, life int) {
	s.setCookie(c, s.nodeCookie(c.Request, flowCookie), value, pathFlow, http.SameSiteLaxMode, life)
}

// getSignInBack receives the browser with the issuer's answer.
func (s *Server) getSignInBack(c *gin.Context) error {
	var f auth.Flow
	if found := c.Request.CookiesNamed(s.nodeCookie(c.Request, flowCookie)); len(found) == 1 {
		raw, _ := base64.RawURLEncoding.DecodeString(found[0].Value)
		_ = json.Unmarshal(raw, &f) // without a valid cookie the state does not match
	}
	s.setFlow(c, "", -1)
	name := c.Param("issuer")
	if f.Issuer != name {
		f = auth.Flow{}
	}
	id, err := s.cfg.People.Issuers.Finish(c.Request.Context(), &f, s.base(c.Request)+pathBack+name, c.Request.URL.Query())
	if err != nil {
		return s.notSignedIn(c, c.Query("state"), f.To, true, err)
	}
	return s.signedIn(c, id, f.To, false)
}

// postCode signs in with a one-time code.
func (s *Server) postCode(c *gin.Context) error {
	code, to := c.Request.PostFormValue("code"), c.Request.PostFormValue("to")
	id, err := s.cfg.People.Sessions.Redeem(c.Request.Context(), code)
	if err != nil {
		return s.notSignedIn(c, code, to, true, err)
	}
	return s.signedIn(c, id, to, true)
}

// notSignedIn shows a person the sign-in page with the problem. Failures are rate-limited, because a code could be guessed.
func (s *Server) notSignedIn(c *gin.Context, shown, to string, person bool, err error) error {
	if s.cfg.Auth != nil && fault.Is(err, fault.Unauthorized) {
		if err := s.limitFailure(c, shown); err != nil {
			return err
		}
	}
	f := FailureOf(err)
	if !person || f.Code == "internal" {
		return err
	}
	_ = c.Error(err)
	return s.signInPage(c, f.Status, page.SignInInput{To: s.goOn(to), Problem: f.Message})
}

// signedIn starts a session for an authenticated person, replacing the one that the browser has.
func (s *Server) signedIn(c *gin.Context, id auth.Identity, to string, byCode bool) error {
	if _, err := s.endSession(c); err != nil {
		return err
	}
	in := session.SignIn{Agent: c.Request.UserAgent(), ByCode: byCode, Cookie: session.PlainName}
	if s.byTLS(c.Request) {
		in.Cookie = session.PrefixedName
	}
	cookie, err := s.cfg.People.Sessions.Begin(c.Request.Context(), id, in)
	if err != nil {
		return err
	}
	s.clearCookie(c, tokenCookie)
	s.setSession(c, cookie)
	return seeOther(c, s.goOn(to))
}

// endSession ends the browser's session, if any, and returns the name of the issuer where it began.
func (s *Server) endSession(c *gin.Context) (issuer string, err error) {
	if s.cfg.People == nil {
		return "", nil
	}
	found := s.shownSessions(c.Request)
	if len(found) > 0 {
		s.clearCookie(c, sessionCookie)
	}
	for _, shown := range found {
		id, _, err := s.cfg.People.Sessions.Find(c.Request.Context(), shown)
		if err == nil {
			for _, at := range s.cfg.People.Issuers.Choices() {
				if at.URL == id.Issuer {
					issuer = at.Name
				}
			}
			err = s.cfg.People.Sessions.End(c.Request.Context(), id.Session, id)
		}
		if err != nil && !fault.Is(err, fault.Unauthorized) && !fault.Is(err, fault.NotFound) {
			return "", err
		}
	}
	return issuer, nil
}

// signOutAt returns a link to the issuer's own sign-out; nil: it has none. The person decides whether to follow it: the issuer may be
// unreachable, and its session may be in use elsewhere.
func (s *Server) signOutAt(c *gin.Context, name string) *page.Link {
	if name == "" || s.cfg.People == nil {
		return nil
	}
	to, title := s.cfg.People.Issuers.SignOut(c.Request.Context(), name)
	if to == "" {
		return nil
	}
	return &page.Link{Href: to, Text: title}
}

// shownSessions returns all session cookies of a request, under both names.
func (s *Server) shownSessions(r *http.Request) (all []session.Shown) {
	secure := s.byTLS(r)
	for _, cookie := range r.CookiesNamed(sessionCookie) {
		all = append(all, session.Shown{Value: cookie.Value, Name: session.PlainName, Secure: secure})
	}
	for _, cookie := range r.CookiesNamed(prefixedName(sessionCookie)) {
		all = append(all, session.Shown{Value: cookie.Value, Name: session.PrefixedName, Secure: secure})
	}
	return all
}

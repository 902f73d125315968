package httpapi

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
)

// cookieName is the cookie that holds a user's token for pages and streams, which cannot send headers.
const cookieName = "touchline_token"

// maxCookie is the longest token that a browser keeps as a cookie, with the rest of the cookie.
const maxCookie = 3900

// byCookie identifies the caller by the cookie, which a browser adds to whatever is sent here, whoever has it sent. So it
// counts for looking at pages and streams, and else only in what our own pages send. Two cookies of the name are one
// that somebody else has set for the whole domain, and nobody can tell which.
func (s *Server) byCookie(r *http.Request) (auth.Identity, error) {
	token, err := s.cookie(r, cookieName)
	if err != nil {
		return auth.Identity{}, err
	}
	return s.cfg.Auth.Verify(r.Context(), token)
}

// cookie is the value of a cookie that counts here.
func (s *Server) cookie(r *http.Request, name string) (string, error) {
	found := r.CookiesNamed(name)
	switch {
	case len(found) == 0:
		return "", errSignIn
	case len(found) > 1:
		return "", fault.New(fault.Unauthorized, "unauthorized", "There is more than one cookie %s.", name)
	}
	looks := safe(r) && (isStream(r) || s.appAt(r.URL.Path) == nil)
	if !looks && !sameOrigin(r) || crossOrigin(r) && !isNavigation(r) {
		return "", errSignIn
	}
	return found[0].Value, nil
}

func safe(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// isNavigation reports whether a browser goes to a page: the answer is shown, not handed to the page that sent it here.
func isNavigation(r *http.Request) bool {
	return safe(r) && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// sameOrigin reports whether a browser vouches that one of our own pages sent a request. What it says of the site counts
// also behind a proxy that changes the Host; the origin is for browsers that do not say.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	return originHost(r) != "" && originHost(r) == r.Host
}

// crossOrigin reports whether a browser says that somebody else's page sent a request. It says nothing of what a program
// or a person has sent.
func crossOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "":
		return r.Header.Get("Origin") != "" && originHost(r) != r.Host
	case "same-origin", "none":
		return false
	default:
		return true
	}
}

// originHost is the host and port in the Origin header; empty: none, or one that is not a site's.
func originHost(r *http.Request) string {
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	if err != nil || origin != "http://"+u.Host && origin != "https://"+u.Host {
		return ""
	}
	return u.Host
}

// setCookie keeps something in the browser for so many seconds, for this origin's pages alone; a negative age takes it away. With
// Lax a link from elsewhere leads to a page of somebody who is signed in, and with Strict it does not.
func (s *Server) setCookie(c *gin.Context, name, value, path string, site http.SameSite, age int) {
	http.SetCookie(c.Writer, &http.Cookie{ //nolint:gosec // Secure wherever the browser came by https
		Name: name, Value: value, Path: path, HttpOnly: true, SameSite: site, Secure: s.overTLS(c.Request), MaxAge: age,
	})
}

// setToken keeps a token, for pages and streams, until it expires.
func (s *Server) setToken(c *gin.Context, token string, expires time.Time) {
	s.setCookie(c, cookieName, token, "/", http.SameSiteStrictMode, max(1, int(expires.Sub(s.wall.Now()).Seconds())))
}

func (s *Server) clearCookie(c *gin.Context, name string) {
	s.setCookie(c, name, "", "/", http.SameSiteStrictMode, -1)
}

// overTLS reports whether the browser came by https: a trusted proxy says so, or the browser itself, which names its
// scheme with every form that it sends. A client that lies does so about its own cookie.
func (s *Server) overTLS(r *http.Request) bool {
	return r.TLS != nil || s.limits.Load().proxies.https(r) || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}

// demoFor reports whether a request without credentials is of the person at this machine: a page that they open, or a
// program that they run. What somebody else's page has their browser send is not, and what a proxy hands on may not be.
func (s *Server) demoFor(r *http.Request) bool {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !addr.Addr().Unmap().IsLoopback() {
		return false
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if isNavigation(r) && s.appAt(r.URL.Path) == nil {
		return true
	}
	return !crossOrigin(r) && s.cross.Check(r) == nil
}

// signInDemo signs the demo's user in; a page keeps the token for what it sends later.
func (s *Server) signInDemo(c *gin.Context) (auth.Identity, error) {
	token, err := s.cfg.Demo()
	if err != nil {
		return auth.Identity{}, err
	}
	id, err := s.cfg.Auth.Verify(c.Request.Context(), token)
	if err == nil && wantsHTML(c.Request) && s.appAt(c.Request.URL.Path) == nil {
		s.setToken(c, token, id.Expires)
	}
	return id, err
}

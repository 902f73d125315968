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

// cookieName is the cookie with a user's token, for pages and streams, which cannot send headers.
const cookieName = "touchline_token"

// maxCookie is the longest token, in bytes, that still fits into a browser's cookie limit with the cookie's other attributes.
const maxCookie = 3900

// byCookie identifies the caller by the token cookie. Browsers attach it to every request to this node, whichever site caused it, so it
// counts only for reading pages and streams, and otherwise only in requests from our own pages. Two cookies with this name are refused:
// somebody else set one for the whole domain, and we cannot tell which.
func (s *Server) byCookie(r *http.Request) (auth.Identity, error) {
	token, err := s.cookie(r, cookieName)
	if err != nil {
		return auth.Identity{}, err
	}
	return s.cfg.Auth.Verify(r.Context(), token)
}

// cookie returns the value of a cookie if cookies count for this request.
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

// isNavigation reports whether a browser is opening a page: it shows the answer, and the page that caused the request cannot read it.
func isNavigation(r *http.Request) bool {
	return safe(r) && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// sameOrigin reports whether the browser confirms that one of our own pages sent a request. Sec-Fetch-Site also works behind a proxy
// that changes Host; Origin is the fallback for browsers that do not send it.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	return originHost(r) != "" && originHost(r) == r.Host
}

// crossOrigin reports whether the browser says that another site's page sent a request. Requests of programs, and addresses that a
// person entered, are not cross-origin.
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

// originHost returns the host and port in the Origin header; empty: the header is missing or does not name a site.
func originHost(r *http.Request) string {
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	if err != nil || origin != "http://"+u.Host && origin != "https://"+u.Host {
		return ""
	}
	return u.Host
}

// setCookie sets a cookie for this origin only, for age seconds; a negative age deletes it. Browsers send a Lax cookie when a person
// follows a link from another site, a Strict one they do not.
func (s *Server) setCookie(c *gin.Context, name, value, path string, site http.SameSite, age int) {
	http.SetCookie(c.Writer, &http.Cookie{ //nolint:gosec // Secure if the browser connected by https
		Name: name, Value: value, Path: path, HttpOnly: true, SameSite: site, Secure: s.overTLS(c.Request), MaxAge: age,
	})
}

// setToken sets the token cookie, for pages and streams, until the token expires.
func (s *Server) setToken(c *gin.Context, token string, expires time.Time) {
	s.setCookie(c, cookieName, token, "/", http.SameSiteStrictMode, max(1, int(expires.Sub(s.wall.Now()).Seconds())))
}

func (s *Server) clearCookie(c *gin.Context, name string) {
	s.setCookie(c, name, "", "/", http.SameSiteStrictMode, -1)
}

// overTLS reports whether the browser connected by https, according to the connection, a trusted proxy, or the scheme in the Origin
// header that browsers send with every form. A client that lies about it affects only its own cookie.
func (s *Server) overTLS(r *http.Request) bool {
	return r.TLS != nil || s.limits.Load().proxies.https(r) || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}

// demoFor reports whether a request without credentials comes from the person at this machine: a page that they open, or a program that
// they run. Requests that another site's page causes do not count, nor do requests forwarded by a proxy.
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

// signInDemo signs in the demo's user. A page also gets the token as a cookie, for its later requests.
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

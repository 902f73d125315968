package httpapi

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/internal/fault"
)

// byCookie identifies the caller by the token cookie. Browsers attach it to every request to this node, whichever site caused it, so it
// counts only for reading pages and streams, and otherwise only in requests from our own pages.
func (s *Server) byCookie(r *http.Request) (auth.Identity, error) {
	token, _, err := s.shownCookie(r, tokenCookie)
	if err != nil {
		return auth.Identity{}, err
	}
	return s.cfg.Auth.Verify(r.Context(), token)
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

// demoFor reports whether a request without credentials comes from the person at this machine: a page that they open, or a program that
// they run. Requests that another site's page causes do not count, nor do requests forwarded by a proxy.
func (s *Server) demoFor(r *http.Request) bool {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !addr.Addr().Unmap().IsLoopback() {
		return false
	}
	if isForwarded(r) {
		return false
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

// The node's cookies. Where browsers reach the node by https, their names have a prefix (nodeCookie).
const (
	sessionCookie = "touchline_session"
	tokenCookie   = "touchline_token" // a user's token, for pages and streams, which cannot send headers
	flowCookie    = "touchline_signin"
	deviceCookie  = "touchline_device" // the id of a browser that keeps entries (package handover)
)

const deviceLife = 400 * 24 * 3600 // seconds; browsers keep no cookie longer

// maxCookie is the longest token, in bytes, that still fits into a browser's cookie limit with the cookie's other attributes.
const maxCookie = 3900

// prefixedName returns the name of one of the node's cookies over https. A browser accepts such a name by https alone, with __Host- only for
// the whole of the host that set it. So nobody on the way, and no other host of the domain, can give a browser a cookie of ours. The
// cookies of applications keep the names that their documents give.
func prefixedName(name string) string {
	switch name {
	case sessionCookie, tokenCookie, deviceCookie:
		return "__Host-" + name
	case flowCookie: // for one path only, which __Host- does not allow
		return "__Secure-" + name
	default:
		return name
	}
}

// nodeCookie returns the name under which the browser of a request keeps one of the node's cookies.
func (s *Server) nodeCookie(r *http.Request, name string) string {
	if s.byTLS(r) {
		return prefixedName(name)
	}
	return name
}

// byTLS reports whether the browser connected by https: according to the connection, to a trusted proxy, or because it asked for the name
// of a public URL with https.
func (s *Server) byTLS(r *http.Request) bool {
	if r.TLS != nil || s.limits.Load().proxies.https(r) {
		return true
	}
	public, secure := strings.CutPrefix(s.cfg.PublicURL, "https://")
	return secure && strings.EqualFold(r.Host, public)
}

// overTLS is byTLS, but also accepts the scheme in the Origin header, which browsers send with every form. It is for attributes and
// links: a client that lies about it affects only itself.
func (s *Server) overTLS(r *http.Request) bool {
	return s.byTLS(r) || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}

// shownCookie returns the value of one of the node's cookies if cookies count for this request, and under which of its names the browser
// sent it. Only a session may still have its plain name over https: session.Keeper decides whether it is old enough.
func (s *Server) shownCookie(r *http.Request, name string) (value string, under session.CookieName, err error) {
	if prefixed := prefixedName(name); len(r.CookiesNamed(prefixed)) > 0 {
		value, err = s.cookie(r, prefixed)
		return value, session.PrefixedName, err
	}
	if s.byTLS(r) && name != sessionCookie {
		return "", "", errSignIn
	}
	value, err = s.cookie(r, name)
	return value, session.PlainName, err
}

// cookie returns the value of a cookie if cookies count for this request. Two cookies of one name are refused: somebody else set one for
// the whole domain, and we cannot tell which.
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

// setCookie sets a cookie for this origin only, for age seconds; a negative age deletes it. Browsers send a Lax cookie when a person
// follows a link from another site, a Strict one they do not.
func (s *Server) setCookie(c *gin.Context, name, value, path string, site http.SameSite, age int) {
	secure := s.overTLS(c.Request) || strings.HasPrefix(name, "__")
	http.SetCookie(c.Writer, &http.Cookie{ //nolint:gosec // Secure if the browser connected by https
		Name: name, Value: value, Path: path, HttpOnly: true, SameSite: site, Secure: secure, MaxAge: age,
	})
}

// setSession sets the session cookie. A cookie that has the plain name over https is deleted: the prefixed one replaces it.
func (s *Server) setSession(c *gin.Context, value string) {
	name := s.nodeCookie(c.Request, sessionCookie)
	if name != sessionCookie && len(c.Request.CookiesNamed(sessionCookie)) > 0 {
		s.setCookie(c, sessionCookie, "", "/", http.SameSiteLaxMode, -1)
	}
	s.setCookie(c, name, value, "/", http.SameSiteLaxMode, int(s.cfg.People.Sessions.Life.Seconds()))
}

// setToken sets the token cookie, for pages and streams, until the token expires.
func (s *Server) setToken(c *gin.Context, token string, expires time.Time) {
	age := max(1, int(expires.Sub(s.wall.Wall()).Seconds()))
	s.setCookie(c, s.nodeCookie(c.Request, tokenCookie), token, "/", http.SameSiteStrictMode, age)
}

// clearCookie deletes one of the node's cookies under its present name, and under the other one if the browser shows it.
func (s *Server) clearCookie(c *gin.Context, name string) {
	now := s.nodeCookie(c.Request, name)
	for _, each := range []string{name, prefixedName(name)} {
		if each == now || len(c.Request.CookiesNamed(each)) > 0 {
			s.setCookie(c, each, "", "/", http.SameSiteStrictMode, -1)
		}
	}
}

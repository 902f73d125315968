package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// placed is a route with where it lies.
type placed struct {
	Route
	paths []string
	app   *mounted // nil: the node's own
}

// table is everything that the server answers.
func (s *Server) table() (all []placed) {
	for _, r := range s.nodeRoutes() {
		all = append(all, placed{Route: r, paths: []string{r.Path}})
	}
	for _, m := range s.apps {
		all = append(all, m.routes()...)
		all = append(all, s.moved(m)...)
	}
	return append(all, s.firstPage())
}

// routes are those under the mount of an application: its root answers with and without a slash.
func (m *mounted) routes() (all []placed) {
	add := func(base string, r Route) {
		p := placed{Route: r, paths: []string{base + r.Path}, app: m}
		if r.Path == "/" && base != "" {
			p.paths = []string{base, base + "/"}
		}
		all = append(all, p)
	}
	for _, r := range append(m.documentRoutes(), m.Routes...) {
		add(m.prefix, r)
	}
	pages := append(m.offlineRoutes(), m.Pages...)
	if m.Open {
		pages = append(pages, Route{Method: "GET", Path: "/stream", Access: Optional, Do: m.views.s.streamPage, Stream: true})
	}
	for _, r := range pages {
		add(m.prefix+"/-", r)
	}
	return all
}

// nodeRoutes are the node's own.
func (s *Server) nodeRoutes() []Route {
	all := append(slices.Concat(s.signInRoutes(), s.peopleRoutes(), s.caRoutes()), []Route{
		{Method: "GET", Path: "/livez", Access: Public, Do: s.getLive, Quiet: true},
		{Method: "GET", Path: "/readyz", Access: Public, Do: s.getReady, Quiet: true},
		{Method: "GET", Path: "/statusz", Access: Admin, Do: s.getStatus, Quiet: true},
		{Method: "GET", Path: "/metrics", Access: Admin, Do: s.getMetrics, Quiet: true},
		{Method: "GET", Path: "/_/", Access: User, Do: s.getIndex},
		{Method: "GET", Path: "/_/hub", Access: Admin, Do: s.getHubPage},
		{Method: "GET", Path: "/_/docs", Access: Public, Do: s.getDocs},
		{Method: "GET", Path: "/_/docs/:name", Access: Public, Do: s.getDocs},
		{Method: "GET", Path: "/_/docs/:name/:file", Access: Public, Do: s.getDocsFile, Quiet: true},
		{Method: "GET", Path: "/_/stream", Access: User, Do: s.streamPage, Stream: true},
		{Method: "GET", Path: "/_/assets/:version/:name", Access: Public, Do: s.getAsset, Quiet: true},
		{Method: "GET", Path: "/_/writes/:node/:seq", Access: Optional, Do: s.getWritten}, // applications take writes of people whom the node does not know
		{Method: "GET", Path: "/_/api/hub", Access: Admin, Do: getHub},
	}...)
	for _, r := range OperatorRoutes() {
		r.Path = "/_/api" + r.Path
		all = append(all, r)
	}
	if s.cfg.Development {
		all = append(all,
			Route{Method: "GET", Path: "/_/gallery", Access: Public, Do: s.getGallery},
			Route{Method: "GET", Path: "/_/gallery/:app/:scene", Access: Public, Do: s.getScene})
	}
	if s.atRoot() == nil { // the former addresses
		all = append(all,
			Route{Method: "GET", Path: "/hub", Access: Public, Do: movedFrom("", "/_")},
			Route{Method: "GET", Path: "/docs", Access: Public, Do: movedFrom("", "/_")})
	}
	return all
}

// OperatorRoutes returns the routes that show admins the node and its cloud, for applications whose clients expect them under
// the application's mount. The node also serves them at /_/api.
func OperatorRoutes() []Route {
	return []Route{
		{Method: "GET", Path: "/sync", Access: Admin, Do: getSync, Quiet: true},
		{Method: "GET", Path: "/conflicts", Access: Admin, Do: getConflicts},
		{Method: "GET", Path: "/conflicts/:id", Access: Admin, Do: getConflict},
		{Method: "POST", Path: "/conflicts/:id/retry", Access: Admin, Do: decideConflict("retry")},
		{Method: "POST", Path: "/conflicts/:id/discard", Access: Admin, Do: decideConflict("discard")},
	}
}

// atRoot is the application that is mounted at "/", if any.
func (s *Server) atRoot() *mounted {
	for _, m := range s.apps {
		if m.prefix == "" {
			return m
		}
	}
	return nil
}

// home is the address of the node's first page.
func (s *Server) home() string {
	switch {
	case s.atRoot() == nil:
		return "/"
	case len(s.apps) == 1:
		return "/-/"
	}
	return "/_/"
}

// firstPage is the route of "/": the list of what runs, or where that is one application its first page.
func (s *Server) firstPage() placed {
	p := placed{Route: Route{Method: "GET", Path: "/", Access: User, Do: s.getIndex}}
	if len(s.apps) == 1 {
		for _, r := range s.apps[0].Pages {
			if r.Path == "/" {
				p = placed{Route: r, app: s.apps[0]}
			}
		}
	}
	if s.atRoot() == nil { // else an API has it
		p.paths = []string{"/"}
	}
	return p
}

// moved sends former addresses of pages on. Where an application is mounted at "/", they lay under "/_".
func (s *Server) moved(m *mounted) (all []placed) {
	base := ""
	if m.prefix == "" {
		base = "/_"
	}
	for _, path := range m.Moved {
		from := base + path
		if s.atRoot() != nil && base == "" {
			continue // the other application's API has it
		}
		all = append(all, placed{Route: Route{Method: "GET", Path: path, Access: Public, Do: movedFrom(base, m.prefix+"/-")}, paths: []string{from}})
	}
	return all
}

// movedFrom answers that what lay under one base lies under another.
func movedFrom(base, now string) Handler {
	return func(c *gin.Context) error {
		to := now + strings.TrimPrefix(c.Request.URL.EscapedPath(), base)
		if q := c.Request.URL.RawQuery; q != "" {
			to += "?" + q
		}
		c.Redirect(http.StatusPermanentRedirect, to)
		return nil
	}
}

// newEngine makes a router, of which each request goes through the handlers that all have, and these.
func (s *Server) newEngine(use ...gin.HandlerFunc) *gin.Engine {
	gin.SetMode(gin.ReleaseMode) // else every route is printed
	e := gin.New()
	e.HandleMethodNotAllowed, e.UseRawPath = true, true // %2F is of a segment
	e.RedirectTrailingSlash = false
	e.ContextWithFallback = true
	_ = e.SetTrustedProxies(nil) // nobody's word counts for who is asking; nil cannot fail
	e.Use(s.enter, s.observe, s.rescue, guard)
	e.Use(use...)
	e.NoRoute(s.noRoute)
	e.NoMethod(s.noMethod)
	return e
}

func (s *Server) routes() http.Handler {
	e := s.newEngine(s.notElsewhere, s.allowOrigins)
	for _, r := range s.table() {
		chain := []gin.HandlerFunc{func(c *gin.Context) { c.Set(keyApp, r.app) }}
		if r.Quiet {
			chain = append(chain, quiet)
		}
		chain = append(chain, s.allow(r.Access), s.wrap(r.Do))
		for _, path := range r.paths {
			e.Handle(r.Method, path, chain...)
			if r.Method == http.MethodGet && !r.Stream {
				e.Handle(http.MethodHead, path, chain...)
			}
		}
	}
	return e
}

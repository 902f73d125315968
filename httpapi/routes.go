package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/store"
)

// placed is a route with its full paths.
type placed struct {
	Route
	paths []string
	app   *mounted // nil: the node's own
}

// table returns all routes of the server.
func (s *Server) table() (all []placed) {
	for _, r := range s.nodeRoutes() {
		all = append(all, placed{Route: r, paths: []string{r.Path}})
	}
	for _, m := range s.apps {
		all = append(all, m.routes()...)
		all = append(all, s.redirectFormer(m)...)
	}
	return append(all, s.firstPage())
}

// routes returns the routes below an application's mount. Its root answers with and without a trailing slash.
func (m *mounted) routes() (all []placed) {
	add := func(base string, r Route) {
		p := placed{Route: m.withHandler(r), paths: []string{base + r.Path}, app: m}
		if r.Path == "/" && base != "" {
			p.paths = []string{base, base + "/"}
		}
		all = append(all, p)
	}
	for _, r := range append(m.documentRoutes(), m.Routes...) {
		add(m.prefix, r)
	}
	pages := slices.Concat(m.offlineRoutes(), m.handInRoutes(), m.Pages)
	if m.Open {
		pages = append(pages, Route{Method: "GET", Path: "/stream", Access: Optional, Do: m.views.s.streamPage, Stream: true})
	}
	for _, r := range pages {
		add(m.prefix+"/-", r)
	}
	return all
}

// nodeRoutes returns the node's own routes.
func (s *Server) nodeRoutes() []Route {
	all := append(slices.Concat(s.signInRoutes(), s.peopleRoutes(), s.caRoutes()), []Route{
		{Method: "GET", Path: "/livez", Access: Public, Do: s.getLive, Quiet: true},
		{Method: "GET", Path: "/readyz", Access: Public, Do: s.getReady, Quiet: true},
		{Method: "GET", Path: "/statusz", Access: NodeAdmin, Do: s.getStatus, Quiet: true},
		{Method: "GET", Path: "/metrics", Access: NodeAdmin, Do: s.getMetrics, Quiet: true},
		{Method: "GET", Path: "/_/", Access: User, Do: s.getIndex},
		{Method: "GET", Path: "/_/hub", Access: NodeAdmin, Do: s.getHubPage},
		{Method: "POST", Path: "/_/damages/:id/read", Access: NodeAdmin, Do: s.ownForm(s.postDamageRead)},
		{Method: "POST", Path: "/_/api/damages/:id/read", Access: NodeAdmin, Do: s.readDamage},
		{Method: "GET", Path: pathRecount, Access: NodeAdmin, Do: s.getRecount},
		{Method: "POST", Path: pathRecount, Access: NodeAdmin, Do: s.ownForm(s.postRecount)},
		{Method: "GET", Path: "/_/docs", Access: Public, Do: s.getDocs},
		{Method: "GET", Path: "/_/docs/:name", Access: Public, Do: s.getDocs},
		{Method: "GET", Path: "/_/docs/:name/:file", Access: Public, Do: s.getDocsFile, Quiet: true},
		{Method: "GET", Path: "/_/stream", Access: User, Do: s.streamPage, Stream: true},
		{Method: "GET", Path: "/_/assets/:version/:name", Access: Public, Do: s.getAsset, Quiet: true},
		{Method: "GET", Path: "/_/writes/:node/:seq", Access: Optional, Do: s.getWritten}, // applications accept writes of people unknown to the node
		{Method: "GET", Path: "/_/api/hub", Access: NodeAdmin, Do: getHub},
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
	if s.atRoot() == nil { // former addresses
		all = append(all,
			Route{Method: "GET", Path: "/hub", Access: Public, Do: movedFrom("", "/_")},
			Route{Method: "GET", Path: "/docs", Access: Public, Do: movedFrom("", "/_")})
	}
	return all
}

// OperatorRoutes returns the routes that show admins the state of the node and its cloud, for applications whose clients expect them
// below the application's mount. The node also serves them at /_/api.
func OperatorRoutes() []Route {
	return []Route{
		{Method: "GET", Path: "/sync", Access: NodeAdmin, Do: getSync, Quiet: true},
		{Method: "GET", Path: "/conflicts", Access: NodeAdmin, Do: getConflicts},
		{Method: "GET", Path: "/conflicts/:id", Access: NodeAdmin, Do: getConflict},
		{Method: "POST", Path: "/conflicts/:id/retry", Access: NodeAdmin, Do: decideConflict("retry")},
		{Method: "POST", Path: "/conflicts/:id/discard", Access: NodeAdmin, Do: decideConflict("discard")},
	}
}

// atRoot returns the application mounted at "/", if any.
func (s *Server) atRoot() *mounted {
	for _, m := range s.apps {
		if m.prefix == "" {
			return m
		}
	}
	return nil
}

// home returns the path of the node's first page.
func (s *Server) home() string {
	switch {
	case s.atRoot() == nil:
		return "/"
	case len(s.apps) == 1:
		return "/-/"
	}
	return "/_/"
}

// firstPage returns the route of "/": the list of applications, or the first page of the only one.
func (s *Server) firstPage() placed {
	p := placed{Route: Route{Method: "GET", Path: "/", Access: User, Do: s.getIndex}}
	if len(s.apps) == 1 {
		for _, r := range s.apps[0].Pages {
			if r.Path == "/" {
				p = placed{Route: s.apps[0].withHandler(r), app: s.apps[0]}
			}
		}
	}
	if s.atRoot() == nil { // otherwise "/" is an API's
		p.paths = []string{"/"}
	}
	return p
}

// redirectFormer redirects former page addresses. Those of an application mounted at "/" were below "/_".
func (s *Server) redirectFormer(m *mounted) (all []placed) {
	base := ""
	if m.prefix == "" {
		base = "/_"
	}
	for _, path := range m.Moved {
		from := base + path
		if s.atRoot() != nil && base == "" {
			continue // the path is another application's API
		}
		all = append(all, placed{Route: Route{Method: "GET", Path: path, Access: Public, Do: movedFrom(base, m.prefix+"/-")}, paths: []string{from}})
	}
	return all
}

// movedFrom returns a handler that redirects paths below base to the same paths below now.
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

// newEngine creates a router. Every request passes the common handlers, then use.
func (s *Server) newEngine(use ...gin.HandlerFunc) *gin.Engine {
	gin.SetMode(gin.ReleaseMode) // otherwise gin prints every route
	e := gin.New()
	e.HandleMethodNotAllowed, e.UseRawPath = true, true // %2F is part of a segment
	e.RedirectTrailingSlash = false
	e.ContextWithFallback = true
	_ = e.SetTrustedProxies(nil) // proxies finds the client's address, not gin; nil cannot fail
	e.Use(s.enter, s.observe, s.rescue, guard)
	e.Use(use...)
	e.NoRoute(s.noRoute)
	e.NoMethod(s.noMethod)
	return e
}

// beginAsking lets the handlers of an application's request ask the cloud.
func (s *Server) beginAsking(c *gin.Context) {
	if s.asks != nil {
		c.Request = c.Request.WithContext(s.asks.Begin(c.Request.Context(), Client(c)))
	}
}

// readAsClient lets the expensive reads of an application's request, and its questions to the cloud, count as its client's.
func (s *Server) readAsClient(c *gin.Context) {
	ask.CountFor(c.Request.Context(), bucketFor(c))
	c.Request = c.Request.WithContext(store.AsClient(c.Request.Context(), bucketFor(c)))
}

func (s *Server) routes() http.Handler {
	e := s.newEngine(s.notRefused, s.allowOrigins)
	for _, r := range s.table() {
		chain := []gin.HandlerFunc{func(c *gin.Context) { c.Set(keyApp, r.app) }, s.admitHanded(r)}
		if r.app != nil {
			chain = append(chain, s.beginAsking)
		}
		if r.Quiet {
			chain = append(chain, quiet)
		}
		chain = append(chain, s.allow(r.Access))
		if r.app != nil {
			chain = append(chain, s.readAsClient)
		}
		chain = append(chain, s.wrap(doHanded(r)))
		for _, path := range r.paths {
			e.Handle(r.Method, path, chain...)
			if r.Method == http.MethodGet && !r.Stream {
				e.Handle(http.MethodHead, path, chain...)
			}
		}
	}
	s.engine = e
	return e
}

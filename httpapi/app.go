package httpapi

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/store"
)

// App is what an application serves over HTTP: a value that it fills in. Name, Title and Mount are required; everything else may be
// zero. Applications in one server are independent: each has its own routes, errors, topics and pages, and a failure in one does not
// affect the others.
type App struct {
	Name  string // in addresses of streams and of the gallery, and in the log
	Title string // for people
	About string // what it is for, in a few words, for the list of applications; empty: the title is enough
	Mount string // path of its routes: "/counter"; its pages are under Mount + "/-". "/" moves the node's list to "/_/"

	Routes  []Route            // under the mount
	Pages   []Route            // under the mount's "/-"; that of "/" is the application's first page
	Moved   []string           // former addresses of pages, at the root: "/counts/:id" leads to Mount + "/-/counts/:id"
	OpenAPI []byte             // YAML; served under the mount as openapi.yaml and openapi.json, with the mount as its first server
	Problem func(*Failure) any // the JSON body of an error under the mount, 404s and panics too; it may set another status; nil: problem+json
	Strict  bool               // bodies with unknown members are refused
	CORS    []string           // origins of web applications that may call; none: only our own pages
	// Credentials lets those origins send the application's own cookies.
	Credentials bool
	SignIn      SignIn                                         // how it knows people; zero: by all issuers of the node
	Rate        RateConfig                                     // limit per user, key or address, counted separately; zero: the node's limit, shared with the others
	Ready       func(ctx context.Context) []operator.Check     // besides the node's own; nil: none
	Status      func(node *operator.NodeStatus) map[string]any // members that it adds to /statusz; nil: none

	// Topics returns what a journal record changes for streams and pages; ok is false if it changes nothing there. An error is
	// logged, and ends streams that replay the record. Topics must be pure: it is called for each stream that catches up.
	Topics func(*store.Record) (ch sse.Change, ok bool, err error)
	// Snapshot returns the frames with which a stream of a topic begins; topic "" is everything. They have no sequence.
	Snapshot func(ctx context.Context, topic string) ([]sse.Frame, error)
	// Ensure fetches what a topic shows from the cloud before it is read, and once a minute while somebody reads it. It sets its own
	// time limit.
	Ensure func(ctx context.Context, topic string) error

	// View renders the page of a topic. Parts that have not changed since last are taken from it. A page that does not exist is
	// fault.NotFound.
	View func(ctx context.Context, node *operator.NodeStatus, topic string, last page.View) (page.View, error)
	// Offline makes its pages work while the node cannot be reached: a browser keeps those that were opened, and queues what people do
	// on them (assets/offline.js, docs/http.md).
	Offline bool
	// Open allows pages to follow their topic without a sign-in: nothing in a View is only for people who have signed in.
	Open bool

	Look   *page.Renderer                                 // of its pages
	Nav    func(who auth.Identity) []page.Link            // navigation links of its pages
	Live   func(ctx context.Context) ([]page.Tile, error) // what is on now, for the list of applications
	Scenes func() ([]page.Scene, error)                   // for the gallery

	// Operator returns its part of the Status page, at an instant of the node's clock. It is called at most once a second.
	Operator func(ctx context.Context, now time.Time) (operator.Part, error)
}

// SignIn configures how an application identifies people, besides the API key. What a route requires is its Access.
type SignIn struct {
	// Issuers are the issuers that it accepts, by their names in the node's settings; none: all of them.
	Issuers []string
	// Anonymous is the cookie with the id of somebody who has not signed in, a UUID in lower case; empty: no anonymous ids. A user whose
	// id looks like a UUID is then known as "<issuer>|<id>", so that nobody can become a user by a cookie.
	Anonymous string
	// Header is the header that identifies the user of a request without credentials, on a node for development only (Config.Tokens);
	// empty: none.
	Header string
	// Own returns the user who is signed in at the application itself, which then accepts no other sign-in; an empty subject:
	// nobody is. nil: the node's sign-in counts. It is called on routes and pages that are not Public.
	Own  func(c *gin.Context) (subject string, err error)
	Page string // path of the application's own sign-in page, below its pages: "/sign-in"
}

// Handler is a route's code: it answers, or returns the error to answer with.
type Handler func(c *gin.Context) error

// Route is one method and path that the server answers. A GET also answers HEAD, except for a stream.
type Route struct {
	Method string
	Path   string
	Access Access
	Do     Handler
	Stream bool // lasts as long as the reader stays; its path ends in "/stream"
	Quiet  bool // called very often: successes are logged at debug level
}

// mounted is an application in a server.
type mounted struct {
	App
	prefix    string // of its routes: the mount without a slash at its end
	views     *views
	snapshots *snapshots
	document  document
	buckets   *buckets // nil: the node's
	cors      gin.HandlerFunc

	requests, failed atomic.Uint64 // answered since the start
}

// mount puts an application into the server.
func (s *Server) mount(a App) (m *mounted, err error) {
	m = &mounted{App: a, prefix: strings.TrimSuffix(a.Mount, "/")}
	m.views = &views{s: s, app: m}
	m.snapshots = &snapshots{s: s, app: m}
	if m.document, err = newDocument(a.OpenAPI, a.Mount); err != nil {
		return nil, err
	}
	if m.buckets, err = newBuckets(a.Rate); err != nil {
		return nil, err
	}
	m.cors, err = newCORS(a.CORS, a.Credentials)
	return m, err
}

// owns reports whether a path is under the application's mount and not one of its pages.
func (m *mounted) owns(path string) bool {
	rest, ok := strings.CutPrefix(path, m.prefix)
	return ok && (rest == "" || rest[0] == '/') && rest != "/-" && !strings.HasPrefix(rest, "/-/")
}

// appAt returns the application whose API a path belongs to, known or not; nil: it is the node's, or a page.
func (s *Server) appAt(path string) *mounted {
	var root *mounted
	for _, m := range s.apps {
		switch {
		case m.prefix == "":
			root = m
		case m.owns(path):
			return m
		case strings.HasPrefix(path, m.prefix+"/-"):
			return nil
		}
	}
	if root == nil || path == "/_" || strings.HasPrefix(path, "/_/") || !root.owns(path) || s.own[path] {
		return nil
	}
	return root
}

// appNamed finds an application; the empty name is that of the only one.
func (s *Server) appNamed(name string) (*mounted, bool) {
	if name == "" && len(s.apps) == 1 {
		return s.apps[0], true
	}
	for _, m := range s.apps {
		if m.Name == name {
			return m, true
		}
	}
	return nil, false
}

const (
	keyServer = "touchline.server"
	keyApp    = "touchline.app"
)

// serverOf returns the server that answers a request.
func serverOf(c *gin.Context) *Server {
	s, _ := c.Value(keyServer).(*Server)
	return s
}

// appOf returns the application that a route is of; nil: the node.
func appOf(c *gin.Context) *mounted {
	m, _ := c.Value(keyApp).(*mounted)
	return m
}

// Body reads the JSON object that a request carries, strictly where the application does. Its Err says what is wrong with it.
func Body(c *gin.Context) *bind.Body {
	m := appOf(c)
	return bind.ReadBody(c, m != nil && m.Strict)
}

// ClearCache drops the rendered pages and snapshots of the request's application.
func ClearCache(c *gin.Context) {
	m := appOf(c)
	m.views.clear()
	m.snapshots.clear()
}

// Cached returns how many pages and stream snapshots of the application are cached.
func Cached(c *gin.Context) (pages, snapshots int) {
	m := appOf(c)
	return m.views.count(), m.snapshots.count()
}

// documentRoutes are where an application describes itself.
func (m *mounted) documentRoutes() []Route {
	if m.OpenAPI == nil {
		return nil
	}
	return []Route{
		{Method: http.MethodGet, Path: "/openapi.yaml", Access: Public, Do: m.document.getYAML},
		{Method: http.MethodGet, Path: "/openapi.json", Access: Public, Do: m.document.getJSON},
	}
}

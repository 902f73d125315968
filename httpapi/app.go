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

// App is what an application is to HTTP: a value that it fills in. Name, Title and Mount are needed; of the rest the zero value
// will do. Applications in one server know nothing of each other: each has its routes, errors, topics and pages, and what goes
// wrong in one is its own.
type App struct {
	Name  string // in addresses of streams and of the gallery, and in the log
	Title string // for people
	About string // what it is for, in a few words, for the list of what runs; empty: its title says it
	Mount string // where its routes lie: "/counter"; its pages lie under Mount + "/-". "/" moves the node's list to "/_/"

	Routes  []Route            // under the mount
	Pages   []Route            // under the mount's "/-"; that of "/" is the application's first page
	Moved   []string           // former addresses of pages, at the root: "/counts/:id" leads to Mount + "/-/counts/:id"
	OpenAPI []byte             // YAML; served under the mount as openapi.yaml and openapi.json, with the mount as its first server
	Problem func(*Failure) any // the JSON body of an error under the mount, 404s and panics too; it may set another status; nil: problem+json
	Strict  bool               // bodies with unknown members are refused
	CORS    []string           // origins of web applications that may call; none: only our own pages
	// Credentials lets those origins send its cookies, which it has made itself.
	Credentials bool
	SignIn      SignIn                                         // who its people are; zero: those of all issuers of the node
	Rate        RateConfig                                     // how much each may ask of it, counted by itself; zero: as the node allows, with the others
	Ready       func(ctx context.Context) []operator.Check     // beside the node's own; nil: none
	Status      func(node *operator.NodeStatus) map[string]any // members that it adds to /statusz; nil: none

	// Topics says what a journal record means to streams and pages; ok is false for one that concerns no reader of it. An error is
	// logged, and ends streams that replay the record. It must be pure: it is called for each stream that catches up.
	Topics func(*store.Record) (ch sse.Change, ok bool, err error)
	// Snapshot returns the frames with which a stream of a topic begins, of "" those of everything. They have no sequence.
	Snapshot func(ctx context.Context, topic string) ([]sse.Frame, error)
	// Ensure has what a topic shows here before it is read, and again once a minute while somebody reads. It bounds its time itself.
	Ensure func(ctx context.Context, topic string) error

	// View renders a page, which is named by the topic that it shows. Parts that say what they said in last are taken from it. A
	// page that is not there is fault.NotFound.
	View func(ctx context.Context, node *operator.NodeStatus, topic string, last page.View) (page.View, error)
	// Offline has its pages work while the node is away: a browser keeps those that were opened, and what people do on them is
	// queued (assets/offline.js, docs/http.md).
	Offline bool
	// Open has pages that show a topic follow it for anybody: nothing in a View is for those alone who have signed in.
	Open bool

	Look   *page.Renderer                                 // of its pages
	Nav    func(who auth.Identity) []page.Link            // where its pages lead on to
	Live   func(ctx context.Context) ([]page.Tile, error) // what is on, for the list of what runs
	Scenes func() ([]page.Scene, error)                   // for the gallery

	// Operator is its part of the operator's page, at an instant of the node's clock. It is asked at most once a second.
	Operator func(ctx context.Context, now time.Time) (operator.Part, error)
}

// SignIn are the schemes by which an application knows people, besides the API key. What a route asks of them is its Access.
type SignIn struct {
	// Issuers are those whose people it knows, by their names in the node's settings; none: all of them.
	Issuers []string
	// Anonymous is the cookie with the id of somebody who has not signed in, a UUID in small letters; empty: there are none such.
	// A user whose id looks like one is then known as "<issuer>|<id>": nobody becomes a user by a cookie.
	Anonymous string
	// Header names who asks, where nothing else does and the node is one for development (Config.Tokens); empty: no header does.
	Header string
	// Own finds who has signed in at the application itself, which then knows nobody else; empty: nobody. It is asked on routes and pages
	// that are not Public.
	Own  func(c *gin.Context) (subject string, err error)
	Page string // where people do so, below the application's pages: "/sign-in"
}

// Handler is a route's code: it answers, or returns the error to answer with.
type Handler func(c *gin.Context) error

// Route is one thing that the server answers. A GET answers HEAD as well, but for a stream.
type Route struct {
	Method string
	Path   string
	Access Access
	Do     Handler
	Stream bool // goes on for as long as the reader stays; its path ends in "/stream"
	Quiet  bool // asked all the time: logged at debug level while it works
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

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
	"github.com/touchline/touchline/store/attr"
)

// App describes what an application serves over HTTP. Name, Title and Mount are required; everything else may be zero. Applications in
// one server are independent: each has its own routes, errors, topics and pages, and a failure in one does not affect the others.
type App struct {
	Name  string // used in stream and gallery addresses, and in the log
	Title string // shown to people
	About string // short description for the list of applications; may be empty
	Mount string // path of its routes: "/counter"; pages are under Mount + "/-". With "/", the node's list of applications moves to "/_/"

	Routes  []Route            // below Mount
	Pages   []Route            // below Mount + "/-"; "/" is the application's first page
	Moved   []string           // former page addresses at the root: "/counts/:id" redirects to Mount + "/-/counts/:id"
	OpenAPI []byte             // YAML; served below Mount as openapi.yaml and openapi.json, with Mount as its first server
	Problem func(*Failure) any // JSON body of an error below Mount, including 404s and panics; may change the status; nil: problem+json
	Strict  bool               // refuse bodies with unknown fields
	CORS    []string           // origins of web applications that may call its routes; none: only our own pages
	// Credentials allows those origins to send the application's own cookies.
	Credentials bool
	SignIn      SignIn                                         // how it identifies people; zero: by all issuers of the node
	Rate        RateConfig                                     // limit per user, key or address, counted separately; zero: the node's limit, shared with the others
	Ready       func(ctx context.Context) []operator.Check     // readiness checks besides the node's; nil: none
	Status      func(node *operator.NodeStatus) map[string]any // fields that it adds to /statusz; nil: none

	// Admit refuses callers whom a route's Access admits, but the application does not. It runs before Needs and the handler; nil: it refuses
	// nobody.
	Admit func(r *Request) error
	Table string // of the rows that Route.Needs names
	Rows  Ensure // fetches them from the cloud; nil: the node has none

	// Topics returns how a journal record changes streams and pages; ok is false if it does not. An error is logged, and ends streams
	// that replay the record. Topics must be pure: it is called for each stream that catches up.
	Topics func(*store.Record) (ch sse.Change, ok bool, err error)
	// Snapshot returns the frames that start a stream of a topic, without sequence numbers. The topic "" covers everything.
	Snapshot func(ctx context.Context, topic string) ([]sse.Frame, error)
	// Ensure fetches a topic's data from the cloud before it is read, and once a minute while somebody follows it. It sets its own time
	// limit.
	Ensure func(ctx context.Context, topic string) error

	// View renders the page of a topic. It may reuse parts of last that have not changed. It returns fault.NotFound for a page that
	// does not exist.
	View func(ctx context.Context, node *operator.NodeStatus, topic string, last page.View) (page.View, error)
	// Offline makes pages work while the node is unreachable: the browser keeps pages that were opened, and queues what people do on
	// them (assets/offline.js, docs/http.md).
	Offline bool
	// Open allows pages to follow their topic without a sign-in: no View contains anything reserved for signed-in users.
	Open bool

	Look   *page.Renderer                                 // renders its pages
	Nav    func(who auth.Identity) []page.Link            // navigation links of its pages
	Live   func(ctx context.Context) ([]page.Tile, error) // what is on now, for the list of applications
	Scenes func() ([]page.Scene, error)                   // for the gallery

	// Games says which rows belong to a game, so that the Status page can list the games that are not all in the cloud; nil: none do.
	Games *operator.Games
	// Operator returns the application's part of the Status page; now is the node's time. It is called at most once a second.
	Operator func(ctx context.Context, now time.Time) (operator.Part, error)
}

// SignIn configures how an application identifies people, besides the API key. What a route requires is its Access.
type SignIn struct {
	// Issuers are the accepted issuers, by their names in the node's settings; none: all of them.
	Issuers []string
	// Anonymous is the name of the cookie with the id of a person who has not signed in, a UUID in lower case; empty: no anonymous ids.
	// A user whose id looks like a UUID is then known as "<issuer>|<id>", so that no cookie can impersonate a user.
	Anonymous string
	// Retired reports whether an anonymous id identifies nobody any more, because its rows became a user's; nil: ids are never retired. The
	// browser then gets a fresh id.
	Retired func(tx *store.Tx, id string) (bool, error)
	// Header is a header that identifies the user of a request without credentials, on development nodes only (Config.Tokens); empty:
	// none.
	Header string
	// Own returns the user who signed in at the application itself, which then accepts no other sign-in; an empty subject means that
	// nobody is signed in. nil: the node's sign-in counts. It is called on routes and pages that are not Public, with a request that has no
	// Route yet.
	Own func(r *Request) (subject string, err error)
	// Session returns whose session of the application a request shows, as far as the store knows; empty: nobody's. By it the rate limit tells
	// people who signed in at the application itself from strangers at their address. It must be cheap, because it runs before the limit
	// counts, and only a valid session may have a result: everybody can send a cookie.
	Session func(tx *store.Tx, r *http.Request) (subject string, err error)
	Page    string // the application's own sign-in page, a path below its pages: "/sign-in"
}

// Handler is a route's code. It writes the answer, or returns an error to answer with.
type Handler func(c *gin.Context) error

// Route is one method and path. A GET route also answers HEAD, unless it is a stream.
type Route struct {
	Method string
	Path   string
	Access Access
	Role   string // what App.Admit asks of the caller beyond Access; may be empty
	Stream bool   // stays open as long as the reader does; its path ends in "/stream"
	Once   bool   // a request with an Idempotency-Key takes effect once, so a page keeps it as a second copy
	// Needs names rows that another node may have written, given the local ones: they are fetched before the work; nil: none.
	Needs  func(tx *store.Tx, r *Request) ([]attr.Item, error)
	Handle func(r *Request) (Response, error)
	Do     Handler // instead of Handle, for routes that work on gin's context
	Quiet  bool    // called very often: successes are logged at debug level

	// Say makes requests of the route entries that somebody hands in for the device that made them, which cannot send them (handin.go). It checks what
	// is asked for, changes nothing, and returns words that repeat nothing of the request. nil: only the device itself sends them.
	Say func(r *Request) (words string, err error)
	// NotHandedIn is why entries that pages queue are not handed in: time decides between people. It is for routes without Say; may be empty.
	NotHandedIn string
}

// mounted is an application in a server.
type mounted struct {
	App
	prefix    string // Mount without its trailing slash
	views     *views
	snapshots *snapshots
	answers   publicAnswers
	document  document
	buckets   *buckets // nil: the node's
	cors      gin.HandlerFunc
	handIns   Handler // limits how often files are handed in

	requests, failed atomic.Uint64 // answered since the start
}

// mount adds an application to the server.
func (s *Server) mount(a App) (m *mounted, err error) {
	m = &mounted{App: a, prefix: strings.TrimSuffix(a.Mount, "/")}
	m.views = &views{s: s, app: m}
	m.snapshots, m.handIns = &snapshots{s: s, app: m}, Limit(handInsAMinute)
	if m.document, err = newDocument(a.OpenAPI, a.Mount); err != nil {
		return nil, err
	}
	if m.buckets, err = newBuckets(a.Rate); err != nil {
		return nil, err
	}
	m.cors, err = newCORS(a.CORS, a.Credentials)
	return m, err
}

// owns reports whether a path is below the application's mount and not one of its pages.
func (m *mounted) owns(path string) bool {
	rest, ok := strings.CutPrefix(path, m.prefix)
	return ok && (rest == "" || rest[0] == '/') && rest != "/-" && !strings.HasPrefix(rest, "/-/")
}

// appAt returns the application whose API a path belongs to, whether or not a route exists there; nil: the path is the node's, or a
// page.
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

// appNamed returns an application by name. If there is only one, the empty name finds it.
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

// appOf returns the application of the current route; nil: it is the node's.
func appOf(c *gin.Context) *mounted {
	m, _ := c.Value(keyApp).(*mounted)
	return m
}

// Body reads a request's JSON object, strictly if App.Strict is set. Its Err describes what is wrong with it.
func Body(c *gin.Context) *bind.Body {
	m := appOf(c)
	return bind.ReadBody(c, m != nil && m.Strict)
}

// documentRoutes returns the routes that serve an application's OpenAPI description.
func (m *mounted) documentRoutes() []Route {
	if m.OpenAPI == nil {
		return nil
	}
	return []Route{
		{Method: http.MethodGet, Path: "/openapi.yaml", Access: Public, Do: m.document.getYAML},
		{Method: http.MethodGet, Path: "/openapi.json", Access: Public, Do: m.document.getJSON},
	}
}

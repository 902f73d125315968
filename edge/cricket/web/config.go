package web

import (
	"cmp"
	"context"
	_ "embed" // the document
	"strings"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	httppage "github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// Service is what the routes need of cricket; matches.Service implements it. An unknown match is fault.NotFound.
type Service interface { //nolint:interfacebloat // what pages and routes read of one application
	// Matches returns a page of fixtures; next is the cursor of the following page, "" on the last.
	Matches(ctx context.Context, f matches.MatchFilter) (fixtures []matches.Fixture, next string, err error)
	// Live returns the fixtures of live matches.
	Live(ctx context.Context) ([]matches.Fixture, error)
	// Match returns the fixture of a match.
	Match(ctx context.Context, id string) (matches.Fixture, error)
	// Display returns the display; before the first poll of a match there is none.
	Display(ctx context.Context, id string) (cricket.Display, error)
	// Card returns the scorecard, which is empty before the first ball.
	Card(ctx context.Context, id string) (cricket.Card, error)
	// Events returns the events in the order they were confirmed; none for an unknown match.
	Events(ctx context.Context, id string) ([]cricket.Event, error)
}

// ReplaySet plays recorded matches as if they were live. Unknown recordings and replays are fault.NotFound,
// actions that are not possible now fault.Conflict, invalid ones fault.Invalid.
type ReplaySet interface {
	// Recordings lists the recordings.
	Recordings() []replay.Info
	// Start plays a recording from its beginning.
	Start(r replay.StartReplay) (replay.Playing, error)
	// List returns the replays that were started and not removed.
	List() []replay.Playing
	// Control changes a replay.
	Control(id string, c replay.Control) (replay.Playing, error)
	// Remove ends and deletes a replay.
	Remove(id string) error
}

// Notifier sends an admin's text as an alert to users' devices. It is fault.Unavailable, with the reason, while pushes are not
// possible.
type Notifier interface {
	// Notify queues the pushes and returns how many phones will get one; it does not wait for Apple.
	Notify(ctx context.Context, n Notice) (phones int, err error)
}

// Notice is an admin's push about a match.
type Notice struct {
	MatchID string
	UserIDs []string // whose devices get it; nil: all followers'
	Title   string   // of the alert
	Body    string
}

// AppInfo is what an app requests at startup.
type AppInfo struct {
	MinVersion  string `json:"minAppVersion"`
	StoreURL    string `json:"storeUrl"`
	Maintenance bool   `json:"maintenanceMode"`
}

// Pushes is the coordinator's status with counts.
type Pushes struct {
	push.Status
	push.Counts                  // of live matches
	Reasons     map[string]int64 `json:"reasons"` // refusals since startup, by Apple's reason
}

// Config configures cricket's routes and pages. Service and Store are required; other fields may be zero.
type Config struct {
	Service Service
	Store   *store.Store
	Ensure  httpapi.Ensure // nil: everything is in the store

	Mount       string   // path of the routes; empty: "/cricket"
	CORS        []string // origins of web applications that may call; none: only our own pages
	MultiDevice bool     // several devices per user
	Version     string
	Info        AppInfo

	Feed     func() *Feed   // nil: no feed
	Push     func() *Pushes // nil: no pushes
	Notifier Notifier       // nil: admins cannot push
	Replay   ReplaySet      // nil: no replays

	Channel  func(ctx context.Context, matchID string) (id string, err error) // nil: no channels
	Audience func(ctx context.Context, matchID string) (page.Audience, error) // nil: no followers
	Phones   func() []sandbox.PhoneView                                       // nil: no phones
	Featured func() string                                                    // the match shown on the first page; nil or "": a live one
}

// name is the application's name in addresses, logs and the node's state.
const name = "cricket"

// handlers has a method for each route: that of an API route has the name of its operation in openapi.yaml.
type handlers struct {
	Config
	pages *page.Renderer
}

//go:embed openapi.yaml
var openAPI []byte

// New returns the application. An error is a bug in its pages.
func New(c Config) (httpapi.App, error) {
	c.Mount = cmp.Or(c.Mount, "/cricket")
	if c.Feed == nil {
		c.Feed = func() *Feed { return nil }
	}
	if c.Push == nil {
		c.Push = func() *Pushes { return nil }
	}
	if c.Channel == nil {
		c.Channel = func(context.Context, string) (string, error) { return "", nil }
	}
	if c.Phones == nil {
		c.Phones = func() []sandbox.PhoneView { return nil }
	}
	if c.Featured == nil {
		c.Featured = func() string { return "" }
	}
	pages, err := page.New(strings.TrimSuffix(c.Mount, "/") + "/-")
	if err != nil {
		return httpapi.App{}, err
	}
	c.Service = askedService{c.Service}
	h := &handlers{Config: c, pages: pages}
	return httpapi.App{
		Name: name, Title: "Cricket", About: "Cricket: live scores, alerts and lock screens", Mount: c.Mount,
		Routes: append(h.routes(), httpapi.OperatorRoutes()...), Pages: h.pageRoutes(), OpenAPI: openAPI, CORS: c.CORS, Admit: h.admit,
		Moved:   []string{"/matches", "/matches/:id", "/matches/:id/overs", "/replay"},
		Problem: problemOf, Status: h.status, Topics: topicOf, Snapshot: h.snapshot, Ensure: h.ensureEvents,
		View: h.renderTopic, Look: pages.Renderer, Nav: h.navLinks, Live: h.liveTiles, Scenes: pages.Gallery, Operator: h.operator, Games: h.gamesInCloud(),
	}, nil
}

// address returns the full path of a route.
func (h *handlers) address(path string) string { return strings.TrimSuffix(h.Mount, "/") + path }

// nav returns the links in the navigation of cricket's pages.
func (h *handlers) navLinks(who auth.Identity) []httppage.Link {
	links := []httppage.Link{{Href: h.pages.At("/matches"), Text: "Matches"}}
	if who.Admin && h.Replay != nil {
		links = append(links, httppage.Link{Href: h.pages.At("/replay"), Text: "Replays"})
	}
	return links
}

// problem is the body of every error.
type problem struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Details any    `json:"details,omitempty"`
	} `json:"error"`
}

func problemOf(f *httpapi.Failure) any {
	var p problem
	p.Error.Code, p.Error.Message = f.Code, f.Message
	switch {
	case f.Conflict != 0:
		p.Error.Details = map[string]uint64{"conflict": f.Conflict}
	case len(f.Details) > 0:
		p.Error.Details = f.Details
	case f.Status >= 500:
		p.Error.Details = map[string]string{"requestId": f.RequestID}
	}
	return p
}

// Bounds of members that several bodies have.
const (
	maxMatchID = 64  // bytes; longer ids do not exist
	maxToken   = 200 // hex digits of a device token
)

package cricket

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
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/cricket/page"
	httppage "github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Service is what the routes need of the cricket service. matches.Service is one. An unknown match is fault.NotFound.
type Service interface { //nolint:interfacebloat // what pages and routes read of one application
	// Matches returns a page of fixtures; next is the cursor of the following one, "" on the last.
	Matches(ctx context.Context, f matches.MatchFilter) (fixtures []matches.Fixture, next string, err error)
	// Live returns the fixtures of the matches that are on.
	Live(ctx context.Context) ([]matches.Fixture, error)
	// Match returns the fixture of a match.
	Match(ctx context.Context, id string) (matches.Fixture, error)
	// Display returns the display state; a match that has not been read yet has none.
	Display(ctx context.Context, id string) (cricket.Display, error)
	// Card returns the scorecard, which is empty before the first ball.
	Card(ctx context.Context, id string) (cricket.Card, error)
	// Events returns what happened, in the order it became sure; none for an unknown match.
	Events(ctx context.Context, id string) ([]cricket.Event, error)
}

// Ensure has items here, or whole partitions, before they are read, where another node may have written them. A cloud that
// cannot be reached is no error.
type Ensure func(ctx context.Context, table string, keys ...attr.Item) error

// ReplaySet plays recorded matches as if they were live. Unknown recordings and replays are fault.NotFound, what cannot be done now
// fault.Conflict, what makes no sense fault.Invalid.
type ReplaySet interface {
	// Recordings lists what can be played.
	Recordings() []replay.Info
	// Start plays a recording from its beginning.
	Start(r replay.StartReplay) (replay.Playing, error)
	// List returns what was started and not removed.
	List() []replay.Playing
	// Control changes a replay.
	Control(id string, c replay.Control) (replay.Playing, error)
	// Remove ends a replay and forgets it.
	Remove(id string) error
}

// Notifier pushes to users what an admin wants them to have: a text as an alert to their devices, without one the display
// of a match once more to the phones that show it. A match whose display is not known yet is fault.Conflict; while
// nothing can be pushed it is fault.Unavailable, which says why.
type Notifier interface {
	// Notify queues the pushes and returns how many phones will get one; it does not wait for Apple.
	Notify(ctx context.Context, n Notice) (phones int, err error)
}

// Notice is what an admin has pushed about a match.
type Notice struct {
	MatchID string
	UserIDs []string // of a text: whose devices get it; nil: all followers'
	Title   string   // of the alert; both empty: the display is refreshed in silence
	Body    string
}

// AppInfo is what an app asks about itself when it starts.
type AppInfo struct {
	MinVersion  string `json:"minAppVersion"`
	StoreURL    string `json:"storeUrl"`
	Maintenance bool   `json:"maintenanceMode"`
}

// Pushes is what the coordinator tells.
type Pushes struct {
	push.Status
	push.Counts                  // of the matches that are on
	Reasons     map[string]int64 `json:"reasons"` // refusals since the start, by Apple's reason
}

// Config is what cricket's routes and pages work with. Service and Store are needed; of the rest the zero value will do.
type Config struct {
	Service Service
	Store   *store.Store
	Ensure  Ensure // nil: what is not in the store is nowhere

	Mount       string   // where the routes lie; "/cricket" when empty
	CORS        []string // origins of web applications that may call; none: only our own pages
	MultiDevice bool     // several devices a user
	Version     string
	Info        AppInfo

	Feed     func() *Feed   // what reads the feed; nil: nothing does
	Push     func() *Pushes // nil: nothing is pushed
	Notifier Notifier       // nil: nothing can be pushed
	Replay   ReplaySet      // nil: there are no replays here

	Audience func(ctx context.Context, matchID string) (page.Audience, error) // nil: nobody follows a match
	Phones   func() []sandbox.PhoneView                                       // nil: none
	Featured func() string                                                    // the match that the first page opens with; nil or "": one that is on
}

// name is the application's in addresses, logs and the state of the node.
const name = "cricket"

// api is cricket's handlers.
type api struct {
	Config
	pages *page.Renderer
}

//go:embed openapi.yaml
var openAPI []byte

// New fills in the application. An error is a bug in its pages.
func New(c Config) (httpapi.App, error) {
	c.Mount = cmp.Or(c.Mount, "/cricket")
	if c.Feed == nil {
		c.Feed = func() *Feed { return nil }
	}
	if c.Push == nil {
		c.Push = func() *Pushes { return nil }
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
	a := &api{Config: c, pages: pages}
	return httpapi.App{
		Name: name, Title: "Cricket", About: "Cricket: live scores, alerts and lock screens", Mount: c.Mount, Routes: a.routes(), Pages: a.pageRoutes(), OpenAPI: openAPI, CORS: c.CORS,
		Moved:   []string{"/matches", "/matches/:id", "/matches/:id/overs", "/replay"},
		Problem: problemOf, Status: a.status, Topics: topicOf, Snapshot: a.snapshot, Ensure: a.ensureEvents,
		View: a.view, Look: pages.Renderer, Nav: a.nav, Live: a.live, Scenes: pages.Gallery, Operator: a.operator,
	}, nil
}

// address is the full path of a route.
func (a *api) address(path string) string { return strings.TrimSuffix(a.Mount, "/") + path }

// nav is where cricket's pages lead on to.
func (a *api) nav(who auth.Identity) []httppage.Link {
	links := []httppage.Link{{Href: a.pages.At("/matches"), Text: "Matches"}}
	if who.Admin && a.Replay != nil {
		links = append(links, httppage.Link{Href: a.pages.At("/replay"), Text: "Replays"})
	}
	return links
}

// problem is the shape of every error.
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

// What members hold that bodies have in common.
const (
	maxMatchID = 64  // bytes; what is longer need not be looked up
	maxToken   = 200 // hex digits of a device's token
)

// matchMember reads the id of a match.
func matchMember(b *bind.Body) func(name string) string {
	return func(name string) string { return b.ID(name, maxMatchID) }
}

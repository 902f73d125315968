// Package web serves three-sided football over HTTP: routes, pages, errors, sessions and streams.
package web

import (
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

//go:embed openapi.yaml
var document []byte

// Config holds the dependencies of the routes.
type Config struct {
	Service   *threefc.Service
	Mount     string
	Version   string
	PublicURL string   // the node's public address, for links in mails
	Origins   []string // web origins that may call with the session cookie
	// Queue queues a mail in the transaction that causes it; nil if the node sends no mail.
	Queue  func(tx *store.Tx, m threefc.Mail) error
	Ensure httpapi.Ensure
	Node   string // this node's id, for rows of Idempotency-Keys
	// Scorers knows which devices score a game.
	Scorers *presence.Board
	// Read runs do in a read transaction, for pages that update themselves.
	Read func(ctx context.Context, do func(tx *store.Tx) error) error
}

type api struct {
	Config
	mount   string // without trailing slash
	look    *page.Renderer
	own     *http.CrossOriginProtection
	starts  *hourly         // sign-in links, by client and address
	clients *hourly         // sign-in links, by client
	invites *hourly         // by user
	wrong   *hourly         // wrong codes, by client
	guessed *hourly         // wrong codes, by address
	joins   httpapi.Handler // limits the rate of joins
}

// New returns the application's routes and pages for a server.
func New(c Config) (httpapi.App, error) {
	a := &api{
		Config: c, mount: strings.TrimSuffix(c.Mount, "/"), own: http.NewCrossOriginProtection(),
		starts: newHourly(5), clients: newHourly(30), invites: newHourly(20), wrong: newHourly(5), guessed: newHourly(20),
		joins: httpapi.Limit(joinsAMinute),
	}
	origins := c.Origins
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		origins = append(slices.Clone(origins), u.Scheme+"://"+u.Host)
	}
	for _, origin := range origins {
		if err := a.own.AddTrustedOrigin(origin); err != nil {
			return httpapi.App{}, err
		}
	}
	app := httpapi.App{
		About:  "Three-sided football: scorers and live tables",
		Routes: a.routes(), OpenAPI: document, Problem: problem, Strict: true, CORS: c.Origins, Credentials: true, Topics: a.topicOf, Snapshot: snapshot,
	}
	return app, a.addPages(&app)
}

// keySignIn is where reader leaves the session of a page's reader.
const keySignIn = "threefc.sign-in"

// level is the access level that a route requires.
type level uint8

const (
	public      level = iota
	session           // any signed-in user
	mailed            // a user who has signed in by mail: what a session is for that counts in all leagues
	viewer            // any role in the league
	scorekeeper       // that role, or admin
	admin
)

var roles = map[level]string{viewer: threefc.RoleViewer, scorekeeper: threefc.RoleScorekeeper, admin: threefc.RoleAdmin}

// route is an entry of the route table. The first parameter of its path names its subject.
type route struct {
	method, path string
	who          level
	do           func(r *request) (work, error)
}

func (a *api) table() []route {
	return slices.Concat(a.authRoutes(), a.leagueRoutes(), a.gameRoutes(), a.playerRoutes(), a.goalRoutes(), a.accessRoutes(), a.publicRoutes())
}

func (a *api) routes() (all []httpapi.Route) {
	sayings := a.sayings()
	for _, ro := range a.table() {
		r := a.newRoute(ro, httpapi.Public)
		if say, ok := sayings[ro.method+" "+ro.path]; ok {
			r.Describe = a.describeEntry(ro, say)
		}
		all = append(all, r)
	}
	return all
}

// newRoute checks, in this order, the origin, the session, the user's role and the body. For pages, which are not Public, the server has found
// the session.
func (a *api) newRoute(ro route, access httpapi.Access) httpapi.Route {
	return a.Ensure.Route(a.Service.Table, ro.method, ro.path, access, func(c *httpapi.Call) (work, error) {
		r, err := a.enter(c, &ro, access)
		if err != nil {
			return nil, err
		}
		work, err := ro.do(r)
		if err == nil && ro.method != http.MethodGet && ro.who == scorekeeper && access == httpapi.Public && r.madeBy == "" {
			r.noteScoring()
		}
		return work, err
	})
}

// enter returns a request that may be made.
func (a *api) enter(c *httpapi.Call, ro *route, access httpapi.Access) (*request, error) {
	if a.own.Check(c.Request) != nil {
		return nil, fault.New(fault.Forbidden, "forbidden_origin", "State-changing requests must originate from an allowed app domain.")
	}
	r := &request{Call: c, api: a}
	r.Same = strings.HasPrefix(ro.path, "/v1/public/")
	r.signIn, _ = c.Value(keySignIn).(*threefc.SignIn)
	if ro.who > public && access == httpapi.Public {
		if err := r.signedIn(); err != nil {
			return nil, err
		}
	}
	if err := r.checkRole(ro.who); err != nil {
		return nil, err
	}
	return r, r.handedIn()
}

// errorBody is the JSON body of an error.
type errorBody struct {
	Error   string `json:"error"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// words maps a status to the value of error.
var words = map[int]string{
	http.StatusBadRequest: "bad_request", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found",
	http.StatusMethodNotAllowed: "method_not_allowed", http.StatusConflict: "conflict", http.StatusRequestEntityTooLarge: "too_large",
	http.StatusTooManyRequests: "too_many_requests", http.StatusServiceUnavailable: "unavailable", http.StatusInternalServerError: "internal",
}

// named lists the codes that are themselves the value of error.
var named = []string{"invalid_email", "invalid_or_expired_magic_link", "forbidden_origin", "idempotency_conflict"}

func problem(f *httpapi.Failure) any {
	e := errorBody{Error: words[f.Status], Code: f.Code, Message: f.Message}
	if len(f.Details) > 0 {
		e.Code, e.Message = "", sentence(f.Details)
	}
	switch {
	case f.Code == "idempotency_conflict":
		e.Error, e.Message = f.Code, "Idempotency key has already been used with a different payload."
	case slices.Contains(named, f.Code):
		e.Error, e.Code = f.Code, ""
	case e.Code == e.Error || e.Code == "validation":
		e.Code = ""
	}
	if e.Error == "" {
		e.Error = "error"
	}
	return e
}

// sentence describes the faults of a body in words.
func sentence(all []bind.Detail) string {
	var out []string
	for _, d := range all {
		text := "Field `" + d.Field + "` " + d.Message + "."
		if d.Field == "body" {
			text = "The body " + d.Message + "."
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// maxText is the maximum length of a text, in bytes.
const maxText = 512

// text reads a required, non-empty string and trims it.
func text(b *bind.Body, name string) string {
	raw, _ := b.Get(name)
	var v string
	if json.Unmarshal(raw, &v) != nil || strings.TrimSpace(v) == "" {
		b.Bad(name, "must be a non-empty string")
		return ""
	}
	return strings.TrimSpace(b.Text(name, maxText))
}

// optional reads a string; nil if it is null or absent.
func optional(b *bind.Body, name string) *string {
	v := b.Change(name, maxText)
	if v != nil && strings.TrimSpace(*v) == "" {
		return nil
	}
	return v
}

// newID reads the id of the record to create. It fetches what another node may have created with this id.
func (r *request) newID(b *bind.Body, kind string) string {
	id := text(b, kind+"Id")
	if id != "" && !threefc.IsID(id) {
		b.Bad(kind+"Id", "must be 1 to 128 bytes without #")
	}
	r.wants = append(r.wants, threefc.Partition(threefc.Scope{Kind: kind, ID: id}))
	return id
}

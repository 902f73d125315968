// Package threefc is three-sided football's face to HTTP: its routes, errors in their shape, sessions and streams.
package threefc

import (
	"cmp"
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
)

//go:embed openapi.yaml
var document []byte

// Config is what the routes work with.
type Config struct {
	Service   *threefc.Service
	Mount     string
	Version   string
	PublicURL string   // where people reach the node, for links in mails
	Origins   []string // of web applications that may call with the cookie
	// Queue sends a mail in the transaction of what it stands for; nil: the node sends none.
	Queue func(tx *store.Tx, m threefc.Mail) error
	// Ensure has rows here that another node may have written; nil: the node has no cloud.
	Ensure func(ctx context.Context, table string, keys ...attr.Item) error
	Node   string // the id of this node, for rows of Idempotency-Keys
	// Read reads what is kept, for pages that follow it.
	Read func(ctx context.Context, do func(tx *store.Tx) error) error
}

type api struct {
	Config
	mount   string // without a slash at its end
	look    *page.Renderer
	starts  *hourly
	clients *hourly
	invites *hourly
	wrong   *hourly
}

// New makes the application's part of a server.
func New(c Config) (httpapi.App, error) {
	a := &api{
		Config: c, mount: strings.TrimSuffix(c.Mount, "/"),
		starts: newHourly(5), clients: newHourly(30), invites: newHourly(20), wrong: newHourly(5),
	}
	routes, err := a.routes()
	app := httpapi.App{
		Routes: routes, OpenAPI: document, Problem: problem, Strict: true, CORS: c.Origins, Credentials: true, Topics: a.topicOf, Snapshot: snapshot,
	}
	return app, cmp.Or(err, a.addPages(&app))
}

// level is who may use a route.
type level uint8

const (
	public      level = iota
	session           // whoever has signed in
	viewer            // any role in the league
	scorekeeper       // that role, or admin
	admin
)

var roles = map[level]string{viewer: threefc.RoleViewer, scorekeeper: threefc.RoleScorekeeper, admin: threefc.RoleAdmin}

// request is one that may do what it asks for.
type request struct {
	*gin.Context
	api    *api
	user   string // the address of who has signed in; empty: nobody has
	signIn *threefc.SignIn
	league string // that the route is about
}

// id is a parameter of the path.
func (r *request) id(name string) string { return r.Param(name) }

// isAdmin reports whether who asks is an admin of the league.
func (r *request) isAdmin(tx *store.Tx) bool {
	return r.api.Service.Allow(tx, r.league, r.user, threefc.RoleAdmin) == nil
}

// route is one of the table: what it is about is named by the first parameter of its path.
type route struct {
	method, path string
	who          level
	do           func(r *request) error
	stream       bool
	perMinute    int // by a client, besides the node's limits; 0: as the node allows
}

func (a *api) routes() (all []httpapi.Route, err error) {
	for _, ro := range slices.Concat(a.authRoutes(), a.leagueRoutes(), a.gameRoutes(), a.accessRoutes(), a.publicRoutes()) {
		do := a.guarded(ro)
		if ro.perMinute > 0 {
			if do, err = httpapi.Limited(ro.perMinute, do); err != nil {
				return nil, err
			}
		}
		all = append(all, httpapi.Route{Method: ro.method, Path: ro.path, Access: httpapi.Public, Do: do, Stream: ro.stream})
	}
	return all, nil
}

// guarded asks in this order: may this origin, who is it, may they, and then what they have sent.
func (a *api) guarded(ro route) httpapi.Handler {
	return func(c *gin.Context) error {
		if err := a.allowOrigin(c.Request); err != nil {
			return err
		}
		r := &request{Context: c, api: a}
		if ro.who != public {
			if err := a.signedIn(r); err != nil {
				return err
			}
		}
		if role := roles[ro.who]; role != "" {
			if err := a.allowed(r, role); err != nil {
				return err
			}
		}
		return ro.do(r)
	}
}

// allowOrigin refuses a change that another origin's page has a browser send, unless that origin is on the list.
func (a *api) allowOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" || r.Method == http.MethodGet || r.Method == http.MethodHead || slices.Contains(a.Origins, origin) {
		return nil
	}
	for _, own := range []string{"http://" + r.Host, "https://" + r.Host, a.PublicURL} {
		if u, err := url.Parse(own); err == nil && u.Host != "" && origin == u.Scheme+"://"+u.Host {
			return nil
		}
	}
	return fault.New(fault.Forbidden, "forbidden_origin", "State-changing requests must originate from an allowed app domain.")
}

// need has rows here that another node may have written.
func (a *api) need(c *gin.Context, keys ...attr.Item) error {
	if a.Ensure == nil {
		return nil
	}
	return httpapi.EnsureWithin(c.Request.Context(), func(ctx context.Context) error {
		return a.Ensure(ctx, a.Service.Table, keys...)
	})
}

// signedIn finds out who is asking, by the cookie.
func (a *api) signedIn(r *request) error {
	cookie, err := r.Request.Cookie(cookieName)
	if err != nil || cookie.Value == "" {
		return fault.New(fault.Unauthorized, "unauthorized", "Valid session cookie required.")
	}
	if err := a.need(r.Context, threefc.SignInKey(cookie.Value)); err != nil {
		return err
	}
	err = httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		r.signIn, err = a.Service.SignedIn(tx, cookie.Value)
		return err
	})
	if err == nil && r.signIn == nil {
		err = fault.New(fault.Unauthorized, "unauthorized", "Session is missing, invalid, or expired.")
	}
	if err != nil {
		return err
	}
	r.user = r.signIn.Email
	return nil
}

// scopes are the parameters of paths by which a route is about a league.
var scopes = []string{"league", "season", "session", "game"}

// allowed finds the league that a route is about, and refuses who has not the role there.
func (a *api) allowed(r *request, role string) error {
	var of threefc.Scope
	for _, kind := range scopes {
		if id := r.id(kind); id != "" {
			of = threefc.Scope{Kind: kind, ID: id}
		}
	}
	if err := a.fetch(r, of); err != nil {
		return err
	}
	return httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		if r.league, err = a.Service.LeagueOf(tx, of); err != nil {
			return err
		}
		return a.Service.Allow(tx, r.league, r.user, role)
	})
}

// fetch has what a route is about here, up to its league.
func (a *api) fetch(r *request, of threefc.Scope) error {
	if a.Ensure == nil {
		return nil
	}
	if err := a.need(r.Context, threefc.Partition(of)); err != nil {
		return err
	}
	var above []attr.Item
	if err := httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		above, err = a.Service.Above(tx, of)
		return err
	}); err != nil || len(above) == 0 {
		return err
	}
	if err := a.need(r.Context, above...); err != nil {
		return err
	}
	if of.Kind != "session" {
		return nil
	}
	if err := httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		above, err = a.Service.Above(tx, of)
		return err
	}); err != nil {
		return err
	}
	return a.need(r.Context, above...)
}

// write does what a request asks for, once for each Idempotency-Key, and answers with what render makes of it. body is what was asked,
// as it was understood.
func (r *request) write(status int, body any, plan func(tx *store.Tx, ids *threefc.IDs) (threefc.Change, error), render func(tx *store.Tx, made map[string]string) (any, error)) error {
	key, err := httpapi.IdempotencyKey(r.Context)
	if err != nil {
		return err
	}
	row, seed, err := r.once(key, body)
	if err != nil {
		return err
	}
	out, err := httpapi.UpdateOnce(r.Context, row, func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
		change, err := plan(tx, &threefc.IDs{Seed: seed})
		return idempotency.Outcome{Status: status, IDs: change.IDs}, change.Writes, err
	})
	if err != nil {
		return err
	}
	if render == nil {
		return httpapi.NoContent(r.Context)
	}
	var answer any
	err = httpapi.View(r.Context, func(tx *store.Tx) (err error) {
		answer, err = render(tx, out.IDs)
		return err
	})
	return httpapi.Answer(r.Context, out.Status, answer, err)
}

// once is the row of a request's key; nil: it has none.
func (r *request) once(key string, body any) (row *idempotency.Row, seed string, err error) {
	if key == "" {
		return nil, "", nil
	}
	scope := r.user + ":" + r.Request.Method + ":" + strings.TrimPrefix(r.Request.URL.Path, r.api.mount)
	hash, err := idempotency.Hash(scope, body)
	if err != nil {
		return nil, "", err
	}
	more, err := threefc.OnceMore(scope, key, hash)
	return &idempotency.Row{
		Table: r.api.Service.Table, Key: threefc.OnceKey(scope, key), Hash: hash, Node: r.api.Node, More: more,
	}, scope + "\n" + key, err
}

// errorBody is the shape of errors.
type errorBody struct {
	Error   string `json:"error"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// words are what errors are called by their status.
var words = map[int]string{
	http.StatusBadRequest: "bad_request", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found",
	http.StatusMethodNotAllowed: "method_not_allowed", http.StatusConflict: "conflict", http.StatusRequestEntityTooLarge: "too_large",
	http.StatusTooManyRequests: "too_many_requests", http.StatusServiceUnavailable: "unavailable", http.StatusInternalServerError: "internal",
}

// named are errors that are called by their code.
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

// sentence tells what is wrong with a body.
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

// maxText is the longest text that is taken, in bytes.
const maxText = 512

// text reads a string that must have something in it, trimmed.
func text(b *bind.Body, name string) string {
	raw, _ := b.Get(name)
	var v string
	if json.Unmarshal(raw, &v) != nil || strings.TrimSpace(v) == "" {
		b.Bad(name, "must be a non-empty string")
		return ""
	}
	return strings.TrimSpace(b.Text(name, maxText))
}

// optional reads a string that may be null; nil: it is, or is absent.
func optional(b *bind.Body, name string) *string {
	v := b.Change(name, maxText)
	if v != nil && strings.TrimFunc(*v, unicode.IsSpace) == "" {
		return nil
	}
	return v
}

// identifier reads an id.
func identifier(b *bind.Body, name string) string {
	v := text(b, name)
	if v != "" && threefc.CheckID(name, v) != nil {
		b.Bad(name, "must be 1 to 128 bytes without #")
	}
	return v
}

// nothing reads a body that must be empty, or an object without members.
func nothing(r *request) error { return httpapi.Body(r.Context).Err() }

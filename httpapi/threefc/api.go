// Package threefc is three-sided football's face to HTTP: its routes, errors in their shape, sessions and streams.
package threefc

import (
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
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
	Queue  func(tx *store.Tx, m threefc.Mail) error
	Ensure httpapi.Ensure
	Node   string // the id of this node, for rows of Idempotency-Keys
	// Read reads what is kept, for pages that follow it.
	Read func(ctx context.Context, do func(tx *store.Tx) error) error
}

type api struct {
	Config
	mount   string // without a slash at its end
	look    *page.Renderer
	own     *http.CrossOriginProtection
	starts  *hourly
	clients *hourly
	invites *hourly
	wrong   *hourly
	joins   httpapi.Handler // refuses who joins too often
}

// New makes the application's part of a server.
func New(c Config) (httpapi.App, error) {
	a := &api{
		Config: c, mount: strings.TrimSuffix(c.Mount, "/"), own: http.NewCrossOriginProtection(),
		starts: newHourly(5), clients: newHourly(30), invites: newHourly(20), wrong: newHourly(5),
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

// route is one of the table. What it is about is named by the first parameter of its path.
type route struct {
	method, path string
	who          level
	do           func(r *request) error
}

func (a *api) table() []route {
	return slices.Concat(a.authRoutes(), a.leagueRoutes(), a.gameRoutes(), a.playerRoutes(), a.goalRoutes(), a.accessRoutes(), a.publicRoutes())
}

func (a *api) routes() (all []httpapi.Route) {
	for _, ro := range a.table() {
		all = append(all, httpapi.Route{
			Method: ro.method, Path: ro.path, Access: httpapi.Public, Do: a.guarded(ro), Stream: strings.HasSuffix(ro.path, "/stream"),
		})
	}
	return all
}

// guarded asks in this order: may this origin, who is it, may they, and then what they have sent.
func (a *api) guarded(ro route) httpapi.Handler {
	return func(c *gin.Context) error {
		if a.own.Check(c.Request) != nil {
			return fault.New(fault.Forbidden, "forbidden_origin", "State-changing requests must originate from an allowed app domain.")
		}
		r := &request{Context: c, api: a}
		if ro.who > public {
			if err := r.signedIn(); err != nil {
				return err
			}
		}
		if err := r.allowed(ro.who); err != nil {
			return err
		}
		return ro.do(r)
	}
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
	if v != nil && strings.TrimSpace(*v) == "" {
		return nil
	}
	return v
}

// newID reads the id of what a request makes: what another node has made with it has to be here.
func (r *request) newID(b *bind.Body, kind string) string {
	id := text(b, kind+"Id")
	if id != "" && !threefc.IsID(id) {
		b.Bad(kind+"Id", "must be 1 to 128 bytes without #")
	}
	r.wants = append(r.wants, threefc.Partition(threefc.Scope{Kind: kind, ID: id}))
	return id
}

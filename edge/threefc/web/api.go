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
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
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

// handlers has a method for each route: that of an API route has the name of its operation in openapi.yaml.
type handlers struct {
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
	h := &handlers{
		Config: c, mount: strings.TrimSuffix(c.Mount, "/"), own: http.NewCrossOriginProtection(),
		starts: newHourly(5), clients: newHourly(30), invites: newHourly(20), wrong: newHourly(5), guessed: newHourly(20),
		joins: httpapi.Limit(joinsAMinute),
	}
	origins := c.Origins
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		origins = append(slices.Clone(origins), u.Scheme+"://"+u.Host)
	}
	for _, origin := range origins {
		if err := h.own.AddTrustedOrigin(origin); err != nil {
			return httpapi.App{}, err
		}
	}
	app := httpapi.App{
		About:  "Three-sided football: scorers and live tables",
		Routes: h.routes(), OpenAPI: document, Problem: problem, Strict: true, CORS: c.Origins, Credentials: true, Topics: h.topicOf, Snapshot: snapshot,
		Admit: h.admit, Table: c.Service.Table, Rows: c.Ensure,
	}
	return app, h.addPages(&app)
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

// readNewID reads the id of the record to create.
func readNewID(b *bind.Body, kind string) string {
	id := text(b, kind+"Id")
	if id != "" && !threefc.IsID(id) {
		b.Bad(kind+"Id", "must be 1 to 128 bytes without #")
	}
	return id
}

// rowsOfNew returns the rows that another node may have created with the id of a record to create.
func rowsOfNew(kind, id string) []attr.Item {
	return []attr.Item{threefc.Partition(threefc.Scope{Kind: kind, ID: id})}
}

// Package web serves the prediction league over HTTP: API routes, error format, event stream and pages.
package web

import (
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"net/url"
	"strings"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

//go:embed openapi.yaml
var document []byte

// Config is what New needs.
type Config struct {
	Service *pickem.Service
	Mount   string
	Ensure  httpapi.Ensure // fetches rows that another node may have written; nil: the node has no cloud
}

// handlers has a method for each route: that of an API route has the name of its operation in openapi.yaml.
type handlers struct {
	league *pickem.Service
	cloud  bool
	look   *page.Renderer
}

// New returns the application's part of a server.
func New(c Config) (httpapi.App, error) {
	look, err := page.New(strings.TrimSuffix(c.Mount, "/")+"/-", files, nil)
	h := &handlers{league: c.Service, cloud: c.Ensure != nil, look: look}
	return httpapi.App{
		About:  "A prediction league whose picks lock on time",
		Routes: h.routes(), Pages: h.pageRoutes(), OpenAPI: document, Problem: problem, Topics: h.topicOf, Snapshot: snapshot,
		Admit: h.admit, Table: c.Service.Table, Rows: c.Ensure,
		Offline: true, Look: look, Nav: h.navLinks, Scenes: h.scenes, Games: h.gamesInCloud(),
	}, err
}

// admit refuses users who are not invited. Before that it fetches what another node may have written about the user and the event in the path.
func (h *handlers) admit(r *httpapi.Request) error {
	if r.Route.Access != httpapi.User {
		return nil
	}
	user, err := r.Caller()
	if err != nil {
		return err
	}
	if err := r.Fetch(pickem.Needs(user, r.Param("id"))...); err != nil {
		return err
	}
	return r.View(func(tx *store.Tx) error { return h.league.CheckInvited(tx, user) })
}

// problem returns an error in the format of the API.
func problem(f *httpapi.Failure) any { return httpapi.ErrorObject(f.Code, f.Message, f.Details) }

// gamesInCloud says which rows belong to an event, for the node's list of those that are not all in the cloud.
func (h *handlers) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != h.league.Table {
				return ""
			}
			event, _ := pickem.Concerns(key)
			return event
		},
		Name: func(tx *store.Tx, id string) (name, href string, err error) {
			card, err := h.league.Event(tx, id, "")
			return card.Name + ", " + card.Date, h.look.At("/events/" + url.PathEscape(id)), err
		},
	}
}

const topicLeague = "league"

// streamLeague tells which events and standings to fetch again.
func (h *handlers) streamLeague(r *httpapi.Request) (httpapi.Response, error) {
	return r.Stream(topicLeague, topicLeague)
}

// snapshot returns the events that tell a new reader, or one too far behind, to fetch everything it shows.
func snapshot(context.Context, string) ([]sse.Frame, error) {
	all := []byte("{}")
	return []sse.Frame{sse.NewFrame("event", 0, all), sse.NewFrame("standings", 0, all)}, nil
}

// topicOf turns a journal record into an event that names the league event, or the year of the standings, to fetch. It never reveals picks.
func (h *handlers) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	event, year := pickem.Concerns(r.Key)
	kind, about := "event", map[string]string{"id": event}
	if event == "" {
		kind, about = "standings", map[string]string{"year": year}
	}
	ofUser := strings.HasPrefix(r.Key["PK"].Str(), "USER#")
	if r.Table != h.league.Table || year == "" || kind == "event" && ofUser {
		return ch, false, nil
	}
	body, err := json.Marshal(about)
	frame := sse.NewFrame(kind, r.Seq, body)
	frame.Slot = kind + " " + string(body)
	return sse.Change{Topic: topicLeague, Frame: frame, All: func() sse.Frame { return frame }}, true, err
}

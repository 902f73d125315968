package web

import (
	"encoding/json"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
)

// routes returns the routes of the API. User means an invited user here (admit).
func (h *handlers) routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/app/stream", Access: httpapi.User, Handle: h.streamLeague, Stream: true},
		{Method: "GET", Path: "/app/events", Access: httpapi.User, Handle: h.listEvents},
		{Method: "GET", Path: "/app/events/:id", Access: httpapi.User, Handle: h.getEvent},
		{Method: "GET", Path: "/app/events/:id/predictions.csv", Access: httpapi.User, Handle: h.exportPredictions},
		{Method: "PUT", Path: "/app/events/:id/predictions", Access: httpapi.User, Handle: h.putPredictions, NotHandedIn: picksStay},
		{Method: "GET", Path: "/app/standings", Access: httpapi.User, Handle: h.getStandings},
		{Method: "GET", Path: "/app/standings.csv", Access: httpapi.User, Handle: h.exportStandings},
		{Method: "GET", Path: "/app/me", Access: httpapi.User, Handle: h.getMe},
		{Method: "GET", Path: "/app/users/:user", Access: httpapi.User, Handle: h.getUser},

		{Method: "GET", Path: "/admin/users", Access: httpapi.Admin, Handle: h.listUsers},
		{Method: "POST", Path: "/admin/users", Access: httpapi.Admin, Handle: h.inviteUser},
		{Method: "PATCH", Path: "/admin/users/:id", Access: httpapi.Admin, Handle: h.updateUser},
		{Method: "DELETE", Path: "/admin/users/:id", Access: httpapi.Admin, Handle: h.deleteUser, Needs: h.rowsOfUser},

		{Method: "POST", Path: "/admin/events", Access: httpapi.Admin, Handle: h.createEvent},
		{Method: "PATCH", Path: "/admin/events/:id", Access: httpapi.Admin, Handle: h.updateEvent},
		{Method: "DELETE", Path: "/admin/events/:id", Access: httpapi.Admin, Handle: h.deleteEvent, Needs: h.rowsOfEvent},
		{Method: "POST", Path: "/admin/events/:id/matches", Access: httpapi.Admin, Handle: h.addMatch, Once: true},
		{Method: "POST", Path: "/admin/events/:id/card", Access: httpapi.Admin, Handle: h.importCard, Once: true},
		{Method: "PATCH", Path: "/admin/events/:id/matches/:match", Access: httpapi.Admin, Handle: h.updateMatch},
		{Method: "DELETE", Path: "/admin/events/:id/matches/:match", Access: httpapi.Admin, Handle: h.deleteMatch},
		{Method: "PUT", Path: "/admin/events/:id/order", Access: httpapi.Admin, Handle: h.orderMatches},
		{Method: "PUT", Path: "/admin/events/:id/state", Access: httpapi.Admin, Handle: h.setState},
		{Method: "PUT", Path: "/admin/events/:id/results", Access: httpapi.Admin, Handle: h.setResults},
		{Method: "POST", Path: "/admin/events/:id/score", Access: httpapi.Admin, Handle: h.scoreEvent},
	}
}

// pageRoutes returns the routes of the pages.
func (h *handlers) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.User, Handle: h.eventsPage},
		{Method: "GET", Path: "/events/:id", Access: httpapi.User, Handle: h.cardPage},
		{Method: "GET", Path: "/standings", Access: httpapi.User, Handle: h.standingsPage},
		{Method: "GET", Path: "/users/:user", Access: httpapi.User, Handle: h.profilePage},
		{Method: "GET", Path: "/me", Access: httpapi.User, Handle: h.profilePage},
		{Method: "GET", Path: "/admin", Access: httpapi.Admin, Handle: h.adminPage},
		{Method: "GET", Path: "/admin/events/:id", Access: httpapi.Admin, Handle: h.editorPage},
	}
}

// picksStay is why picks are not taken from a file.
const picksStay = "Picks cannot be handed in: they count as they arrive, and only from who made them."

// maxText limits string fields, in bytes.
const maxText = 512

// requiredText reads a field that must be there.
func requiredText(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, maxText) })
}

// indexes reads a field that maps match IDs to the index of a team, or to null.
func indexes(b *bind.Body, name string) (out map[string]*int) {
	raw, ok := b.Get(name)
	if !ok || json.Unmarshal(raw, &out) != nil || len(out) > pickem.MaxMatches {
		b.Bad(name, "must map match IDs to the index of a team, or to null")
	}
	return out
}

// readDetails reads the details of a match. Applying them leaves fields that the body does not name as they are.
func readDetails(b *bind.Body) func(to *pickem.Details) {
	members, _ := b.Members()
	raw, err := json.Marshal(members)
	if err != nil || json.Unmarshal(raw, new(pickem.Details)) != nil {
		b.Bad("match", "does not have the form that the OpenAPI document describes")
	}
	return func(to *pickem.Details) {
		was := *to
		to.Championships, to.Teams = nil, nil // json.Unmarshal would reuse their elements
		_ = json.Unmarshal(raw, to)
		if to.Championships == nil {
			to.Championships = was.Championships
		}
		if to.Teams == nil {
			to.Teams = was.Teams
		}
	}
}

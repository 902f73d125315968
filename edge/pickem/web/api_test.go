package web

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/contract"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// rig is the application in a server, on a store whose clock the test sets. It validates answers against the OpenAPI document.
type rig struct {
	t       *testing.T
	store   *store.Store
	app     httpapi.App
	server  *httpapi.Server
	service *pickem.Service
	now     time.Time
	doc     *contract.Document
}

const event = "2024-03-03-aew-revolution"

var start = time.Date(2024, 3, 4, 1, 0, 0, 0, time.UTC)

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigFor(t, auth.Identity{})
}

// newRigFor returns a rig on which a user is signed in without credentials, as by a browser's session.
func newRigFor(t *testing.T, silent auth.Identity) *rig {
	t.Helper()
	r := &rig{t: t, now: start.Add(-48 * time.Hour), doc: contract.Read(t, document)}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return r.now }}, append(handover.Tables(), pickem.Table("pickem-test", "GSI"))...)
	r.service = &pickem.Service{Store: s, Handle: pickem.Rows("pickem-test"), Index: "GSI"}
	app, err := New(Config{Service: r.service, Mount: "/pickem"})
	if err != nil {
		t.Fatal(err)
	}
	app.Name, app.Title, app.Mount = "pickem", "Pick'Em", "/pickem"
	r.store, r.app = s, app
	if r.server, err = httpapi.New(httpapi.Config{Apps: []httpapi.App{app}, Store: s, Clock: clock.Real(), Auth: web.ByName{Silent: silent}, Devices: true}); err != nil {
		t.Fatal(err)
	}
	return r
}

// want sends a request, checks the status and that the answer contains a text, and validates the answer against the OpenAPI document.
func (r *rig) want(status int, has, who, method, path, body string) string {
	r.t.Helper()
	var headers []string
	switch who {
	case "-":
	case "key":
		headers = []string{"X-API-Key", "key"}
	default:
		headers = []string{"Authorization", "Bearer " + who}
	}
	w := web.Ask(r.server.Handler(), method, "/pickem"+path, body, headers...)
	if w.Code != status || !strings.Contains(w.Body.String(), has) {
		r.t.Errorf("%s: %s %s %s: %d %s, want %d %s", who, method, path, body, w.Code, w.Body, status, has)
	}
	r.doc.Check(r.t, method, "/pickem"+path, body, w)
	return w.Body.String()
}

// card creates users sam and max, and the event with two matches. It returns the IDs of the matches.
func (r *rig) card() (ids []string) {
	r.t.Helper()
	for _, u := range []string{"sam", "max"} {
		r.want(201, `"active":true`, "admin", "POST", "/admin/users", fmt.Sprintf(`{"userId":%q,"name":"%s H"}`, u, u))
	}
	r.want(201, `"id":"`+event+`"`, "admin", "POST", "/admin/events", `{"date":"2024-03-03","startsAt":"2024-03-03T20:00:00-05:00","name":"AEW Revolution"}`)
	for _, m := range []string{
		`{"name":"Tag Team","points":5,"preshow":true,"teams":[{"members":["A","B"]},{"members":["C"],"name":"The C"}]}`,
		`{"name":"Title","points":25,"championships":["World"],"teams":[{"members":["D"],"champion":true},{"members":["E"]}]}`,
	} {
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(r.want(201, `"teams"`, "admin", "POST", "/admin/events/"+event+"/matches", m)), &made); err != nil {
			r.t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	return ids
}

// Every route, with its answers and errors, through the life of an event.
func TestRoutes(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	at, admin := "/app/events/"+event, "/admin/events/"+event
	pick := func(match string, team any) string { return fmt.Sprintf(`{"predictions":{%q:%v}}`, match, team) }
	result := func(match string, team any) string { return fmt.Sprintf(`{"results":{%q:%v}}`, match, team) }

	r.want(409, "user_exists", "admin", "POST", "/admin/users", `{"userId":"sam","name":"x"}`)
	r.want(400, "bad_userId", "admin", "POST", "/admin/users", `{"userId":"s#m","name":"x"}`)
	r.want(400, `"details"`, "admin", "POST", "/admin/users", `{}`)
	r.want(409, "event_exists", "admin", "POST", "/admin/events", `{"date":"2024-03-03","startsAt":"2024-03-04T01:00:00Z","name":"AEW Revolution"}`)
	r.want(400, "bad_startsAt", "admin", "POST", "/admin/events", `{"date":"2024-03-03","startsAt":"2024-03-05T01:00:00Z","name":"x"}`)
	r.want(409, "date_immutable", "admin", "PATCH", admin, `{"date":"2024-03-04"}`)
	r.want(400, "bad_points", "admin", "POST", admin+"/matches", `{"name":"x","points":101,"teams":[{"members":["A"]},{"members":["B"]}]}`)
	r.want(400, "bad_teams", "admin", "POST", admin+"/matches", `{"name":"x","points":1,"teams":[{"members":["A"]}]}`)
	r.want(400, "bad_order", "admin", "PUT", admin+"/order", fmt.Sprintf(`{"matchIds":[%q,%q]}`, ids[0], ids[0]))
	r.want(200, ids[1]+`","name":"Title"`, "admin", "PUT", admin+"/order", fmt.Sprintf(`{"matchIds":[%q,%q]}`, ids[1], ids[0]))
	r.want(200, `"matches":[{"id":"`+ids[1], "sam", "GET", at, "")

	r.want(200, `"picked":"0 of 2"`, "sam", "GET", "/app/events", "")
	r.want(400, "bad_cursor", "sam", "GET", "/app/events?cursor=x", "")
	r.want(200, `"prediction":null`, "sam", "GET", at, "")
	r.want(404, "not_found", "sam", "GET", "/app/events/none", "")
	r.want(400, "unknown_match", "sam", "PUT", at+"/predictions", pick("x", 0))
	r.want(400, "bad_team", "sam", "PUT", at+"/predictions", pick(ids[0], 2))
	r.want(400, "validation", "sam", "PUT", at+"/predictions", `{"predictions":7}`)
	r.want(200, `"predictions":{"`+ids[0]+`":1}`, "sam", "PUT", at+"/predictions", pick(ids[0], 1))
	r.want(200, `"`+ids[1]+`":0`, "sam", "PUT", at+"/predictions", pick(ids[1], 0))
	r.want(200, `"predictions":{"`+ids[0]+`":1}`, "sam", "PUT", at+"/predictions", pick(ids[1], "null"))
	r.want(200, `"picked":"1 of 2"`, "sam", "GET", "/app/events?limit=1", "")
	r.want(409, "has_predictions", "admin", "DELETE", "/admin/users/sam", "")
	r.want(409, "has_predictions", "admin", "DELETE", admin, "")
	r.want(409, "event_upcoming", "admin", "PUT", admin+"/results", result(ids[0], 1))
	r.want(409, "event_upcoming", "admin", "POST", admin+"/score", "")

	r.want(200, `"state":"broadcast"`, "admin", "PUT", admin+"/state", `{"state":"broadcast"}`)
	r.want(200, `"state":"upcoming"`, "admin", "PUT", admin+"/state", `{"state":"upcoming"}`)
	r.now = start.Add(-time.Hour)
	r.want(409, "event_locked", "sam", "PUT", at+"/predictions", pick(ids[0], 0))
	r.want(200, `"state":"broadcast"`, "admin", "PUT", admin+"/state", `{"state":"broadcast"}`)
	r.want(409, "state_backwards", "admin", "PUT", admin+"/state", `{"state":"upcoming"}`)
	r.want(409, "not_scored", "admin", "PUT", admin+"/state", `{"state":"scored"}`)
	r.want(409, "event_not_upcoming", "admin", "PATCH", admin+"/matches/"+ids[0], `{"points":6}`)
	r.want(200, "Tag Teams", "admin", "PATCH", admin+"/matches/"+ids[0], `{"name":"Tag Teams"}`)
	r.want(409, "event_not_upcoming", "admin", "DELETE", admin+"/matches/"+ids[0], "")

	r.want(200, `"state":"broadcast"`, "admin", "PUT", admin+"/results", result(ids[0], 1))
	r.want(200, `"rank":1,"userId":"sam","name":"sam H","points":5,"mcorrect":1`, "max", "GET", at, "")
	r.want(409, `"code":"results_missing","message":"No result for `+ids[1]+`","details":["`+ids[1]+`"]`, "admin", "POST", admin+"/score", "")
	r.want(400, "bad_team", "admin", "PUT", admin+"/results", result(ids[0], 2))
	r.want(400, "bad_team", "admin", "PUT", admin+"/results", result(ids[0], -1))
	r.want(200, `"result":null`, "admin", "PUT", admin+"/results", result(ids[1], "null"))
	r.want(200, `{"scored":"`+event+`","predictions":1,"standings":1}`, "admin", "POST", admin+"/score", "")
	r.want(200, `{"year":"2024","standings":[{"rank":1,"userId":"sam","name":"sam H","points":5,"mcorrect":1,"eplayed":1}]}`, "max", "GET", "/app/standings", "")
	r.want(200, `"standings":[]`, "max", "GET", "/app/standings?year=2023", "")
	r.want(400, "validation", "max", "GET", "/app/standings?year=x", "")
	r.want(200, `"eventId":"`+event+`"`, "max", "GET", "/app/users/sam", "")
	r.want(404, "not_found", "max", "GET", "/app/users/none", "")
	r.want(200, `"events":[]`, "max", "GET", "/app/me", "")
	r.want(200, `"users":[{"userId":"max"`, "admin", "GET", "/admin/users", "")
	r.want(200, `"active":false`, "admin", "PATCH", "/admin/users/max", `{"active":false}`)
	r.want(403, "not_invited", "max", "GET", "/app/me", "")
	r.want(204, "", "admin", "DELETE", "/admin/users/max", "")

	r.want(201, "", "admin", "POST", "/admin/events", `{"date":"2024-04-01","startsAt":"2024-04-01T20:00:00Z","name":"Éx!"}`)
	r.want(200, `"name":"New"`, "admin", "PATCH", "/admin/events/2024-04-01-x", `{"name":"New"}`)
	r.want(204, "", "admin", "DELETE", "/admin/events/2024-04-01-x", "")
}

// If a wrong result is corrected after the scoring, points and standings follow at once.
func TestCorrectedResultIsRecalculated(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(200, "", "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[1]))
	r.now = start
	admin := "/admin/events/" + event
	r.want(200, "", "admin", "PUT", admin+"/state", `{"state":"broadcast"}`)
	r.want(200, "", "admin", "PUT", admin+"/results", fmt.Sprintf(`{"results":{%q:0,%q:0}}`, ids[0], ids[1]))
	r.want(200, "", "admin", "POST", admin+"/score", "")
	r.want(200, `"points":0,"mcorrect":0,"eplayed":1`, "sam", "GET", "/app/standings", "")
	r.want(200, "", "admin", "PUT", admin+"/results", fmt.Sprintf(`{"results":{%q:1}}`, ids[1]))
	r.want(200, `"points":25,"mcorrect":1,"eplayed":1`, "sam", "GET", "/app/standings", "")
}

// The operations of the OpenAPI document are the handlers.
func TestOperationsAreHandlers(t *testing.T) {
	contract.Read(t, document).CheckOperations(t, (&handlers{}).routes())
}

// The access of five identities to every route: nobody, a stranger, a user, an admin who was not invited, and the API key.
func TestAccess(t *testing.T) {
	r := newRig(t)
	r.card()
	const nobody, stranger, user, admin, key = "-", "eve", "sam", "admin", "key"
	h := &handlers{league: r.service}
	for _, route := range h.routes() {
		if route.Stream {
			continue
		}
		path := strings.NewReplacer(":id", "x", ":user", "x", ":match", "x").Replace(route.Path)
		forUsers := strings.HasPrefix(path, "/app/")
		for _, who := range []string{nobody, stranger, user, admin, key} {
			var status int
			var has string
			switch {
			case who == nobody:
				status, has = 401, "unauthorized"
			case forUsers && (who == stranger || who == admin):
				status, has = 403, "not_invited"
			case forUsers && who == key:
				status, has = 403, "no_user"
			case !forUsers && (who == stranger || who == user):
				status, has = 403, "forbidden"
			default:
				if got := web.Ask(r.server.Handler(), route.Method, "/pickem"+path, "{}", headersOf(who)...).Code; got == 401 || got == 403 {
					t.Errorf("%s: %s %s: %d", who, route.Method, path, got)
				}
				continue
			}
			r.want(status, has, who, route.Method, path, "{}")
		}
	}
}

func headersOf(who string) []string {
	if who == "key" {
		return []string{"X-API-Key", "key"}
	}
	return []string{"Authorization", "Bearer " + who}
}

// Before the lock, nothing that another user, a stranger or an admin can read contains a user's picks.
func TestOthersPicksAreNotSeenEarly(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	at := "/app/events/" + event
	r.want(200, "", "sam", "PUT", at+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
	seen := func() bool {
		var all strings.Builder
		for _, path := range []string{"/app/events", at, "/app/users/sam", "/app/standings", "/app/me", "/openapi.yaml"} {
			for _, who := range []string{"max", "admin", "eve"} {
				all.WriteString(web.Ask(r.server.Handler(), "GET", "/pickem"+path, "", headersOf(who)...).Body.String())
			}
		}
		for method, path := range map[string]string{"PUT": "/admin/events/" + event + "/order", "PATCH": "/admin/events/" + event} {
			body := fmt.Sprintf(`{"matchIds":[%q,%q]}`, ids[0], ids[1])
			all.WriteString(web.Ask(r.server.Handler(), method, "/pickem"+path, body, headersOf("admin")...).Body.String())
		}
		return strings.Contains(all.String(), ids[0]+`":1`)
	}
	if seen() {
		t.Error("a pick is seen before the lock")
	}
	r.now = start.Add(-time.Hour)
	if seen() {
		t.Error("a pick is seen at the lock, which has not been written")
	}
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	if !seen() {
		t.Error("a pick is not seen after the lock")
	}
}

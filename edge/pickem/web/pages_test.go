package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func (r *rig) page(who, path string, status int, has ...string) string {
	r.t.Helper()
	w := web.Ask(r.server.Handler(), "GET", "/pickem/-"+path, "", append(headersOf(who), "Accept", "text/html")...)
	if w.Code != status {
		r.t.Errorf("%s: %s: %d, want %d", who, path, w.Code, status)
	}
	for _, part := range has {
		if !strings.Contains(w.Body.String(), part) {
			r.t.Errorf("%s: %s has no %s", who, path, part)
		}
	}
	return w.Body.String()
}

// The pages through the life of an event: nothing, open, partly picked, locked, live results, scored, no contest.
func TestPages(t *testing.T) {
	r := newRig(t)
	r.want(201, "", "admin", "POST", "/admin/users", `{"userId":"eve","name":"Eve"}`)
	r.page("eve", "/", 200, "There are no events yet.")
	r.page("eve", "/standings", 200, "No event of this year has been scored yet.")
	ids := r.card()
	const at, admin = "/events/" + event, "/admin/events/" + event

	r.page("sam", "/", 200, "AEW Revolution", "0 of 2 picked.", "Locks in", `data-countdown="locked"`)
	open := r.page("sam", at, 200, "The C", "A &amp; B", "champion", fmt.Sprintf(`name="predictions.%s" value="1" data-type="number"`, ids[0]),
		`action="/pickem/app/events/`+event+`/predictions" data-queue="PUT"`, fmt.Sprintf(`data-until="%d"`, start.Add(-time.Hour).UnixMilli()), "data-local")
	if strings.Contains(open, `aria-pressed="true"`) || strings.Contains(open, "Everybody") {
		t.Errorf("nothing was picked: %s", open)
	}
	r.page("eve", "/admin", 403)
	r.page("nobody", "/", 403)
	remove, save := `action="/pickem/admin/events/`+event+`" data-queue="DELETE"`, `href="/pickem/app/events/`+event+`/predictions.csv" download`
	r.page("admin", "/admin", 200, "Create the event", "Deactivate sam H", `action="/pickem/admin/users/sam" data-queue="PATCH"`, remove, `href="/pickem/app/standings.csv" download`)
	r.page("admin", admin, 200, "Lock now", "Add the match", "Team 4, member 3", `name="teams.3.name"`, `name="preshow" type="checkbox"`, `name="matchIds[]" value="`+ids[1], "Remove Title from the card",
		`action="/pickem`+admin+`/card" data-queue="POST"`, `type="file"`)

	r.want(200, "", "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
	r.page("sam", at, 200, `aria-pressed="true"><b>The C</b>`)
	if other := r.page("max", at, 200); strings.Contains(other, `aria-pressed="true"`) {
		t.Error("another's pick is seen before the lock")
	}
	if other := r.page("max", "/users/sam", 200, "sam H", "No picks yet."); strings.Contains(other, event) {
		t.Error("another's page shows an open event")
	}
	if editor := r.page("admin", admin, 200); strings.Contains(editor, "Everybody") || strings.Contains(editor, save) {
		t.Error("an admin sees picks before the lock")
	}
	r.now = start.Add(-time.Hour)
	if locked := r.page("sam", at, 200, "You picked The C."); strings.Contains(locked, "data-queue") {
		t.Error("a locked card takes picks")
	}
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	if editor := r.page("admin", admin, 200, "2 results missing", "No contest", `data-queue="PUT"`, save); strings.Contains(editor, `type="file"`) {
		t.Error("a locked card takes matches from a file")
	}
	if list := r.page("admin", "/admin", 200); strings.Contains(list, remove) {
		t.Error("a locked event can be deleted")
	}
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/results", fmt.Sprintf(`{"results":{%q:1}}`, ids[0]))
	r.page("max", at, 200, "1. sam H", "The C ✓", "The C won.", save)
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/results", fmt.Sprintf(`{"results":{%q:null}}`, ids[1]))
	r.page("admin", admin, 200, "points as below", `aria-pressed="true"><b>No contest</b>`, "Standings with this event", `1. sam H</th><td class="num">5</td><td class="num">–</td>`)
	r.want(200, "", "admin", "POST", "/admin/events/"+event+"/score", "")
	r.page("max", at, 200, "No contest.")
	r.page("max", "/standings", 200, `<a href="/pickem/-/users/sam">1. sam H</a>`, "Change", "=")
	r.page("sam", "/me", 200, event)
	r.page("max", "/users/sam", 200, "sam H", event)
	r.page("max", "/users/nobody", 404)
	r.page("max", "/standings?year=2023", 200, "Standings 2023", "No event of this year", `href="/pickem/-/standings?year=2024"`)
	r.page("max", "/standings?year=2024", 200, `href="/pickem/app/standings.csv?year=2024" download`)
	r.page("max", "/standings?year=x", 400)
	r.page("sam", "/events/none", 404)
}

// Rows that another program has written in another form do not break any page: those that cannot be decoded are skipped.
func TestRowsOfOthersBreakNoPage(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(200, "", "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
	r.now = start.Add(-time.Hour)
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	at, year := `"GSI_PK":{"S":"EVENT#`+event+`"},`, `"GSI_PK":{"S":"STANDINGS#2024"},"GSI_SK":{"S":"SCORE#x"}`
	for _, row := range []string{
		`{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#"}}`, `{"PK":{"S":"EVENT"},"SK":{"S":"EVENT#x"},"GSI_PK":{"S":"EVENT#x"},"GSI_SK":{"S":"EVENT"},"type":{"S":"event"},"date":{"N":"1"},"state":{"S":"scored"}}`, `{"PK":{"S":"EVENT"},"SK":{"S":"other"}}`,
		`{"PK":{"S":"EVENT#` + event + `"},"SK":{"S":"MATCH#a"},` + at + `"GSI_SK":{"S":"MATCH#a"},"type":{"S":"match"},"teams":{"S":"x"}}`,
		`{"PK":{"S":"EVENT#` + event + `"},"SK":{"S":"MATCH#b"},` + at + `"GSI_SK":{"S":"MATCH#b"},"type":{"S":"match"},"id":{"S":"b"}}`,
		`{"PK":{"S":"EVENT#` + event + `"},"SK":{"S":"MATCH#c"},` + at + `"GSI_SK":{"S":"MATCH#c"},"type":{"S":"match"},"id":{"S":"c"},"points":{"S":"5"},"result":{"S":"A"},"teams":{"L":[{"S":"A"},{"M":{"members":{"S":"B"}}}]}}`,
		`{"PK":{"S":"USER#max"},"SK":{"S":"EVENT#` + event + `"},` + at + `"GSI_SK":{"S":"SCORE#000#max"},"type":{"S":"prediction"},"predictions":{"L":[]}}`,
		`{"PK":{"S":"USER#ann"},"SK":{"S":"EVENT#` + event + `"},` + at + `"GSI_SK":{"S":"x"},"type":{"S":"prediction"},"predictions":{"M":{"` + ids[0] + `":{"N":"9"},"x":{"S":"A"}}},"points":{"S":"many"}}`,
		`{"PK":{"S":"USER#max"},"SK":{"S":"STANDINGS#2024"},` + year + `,"points":{"S":"many"}}`, `{"PK":{"S":"other"},"SK":{"S":"STANDINGS#2024"},` + year + `}`,
		`{"PK":{"S":"USER#max"},"SK":{"S":"EVENT#y"},"predictions":{"N":"1"}}`, `{"PK":{"S":"USER#max"},"SK":{"S":"NOTE"}}`, `{"PK":{"S":"USER#bob"},"SK":{"S":"USER"},"name":{"N":"1"},"notcounted":{"S":"x"}}`,
	} {
		item, err := attr.ParseJSON([]byte(row))
		if err == nil {
			err = r.service.Store.Update(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: "pickem-test", Item: item})
				return err
			})
		}
		if err != nil {
			t.Fatal(row, err)
		}
	}
	for who, paths := range map[string][]string{
		"sam": {"/", "/events/" + event, "/standings?year=2024", "/me", "/users/max"}, "max": {"/", "/events/" + event, "/me"},
		"admin": {"/admin", "/admin/events/" + event},
	} {
		for _, path := range paths {
			r.page(who, path, 200)
		}
	}
	r.page("sam", "/events/x", 500, "The stored event cannot be read")
	r.page("admin", "/admin/events/x", 500, "The stored event cannot be read")
	r.page("sam", "/users/bob", 500, "The stored user cannot be read")
	r.page("sam", "/events/"+event, 200, "Tag Team", "Title", "1. sam H")
	r.page("admin", "/admin/events/"+event, 200, "The C wins Tag Team")
	for _, path := range []string{"/app/events", "/app/events/" + event, "/app/standings?year=2024", "/app/me", "/app/users/max", "/app/events/" + event + "/predictions.csv"} {
		r.want(200, "", "sam", "GET", path, "")
	}
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/results", fmt.Sprintf(`{"results":{%q:1,%q:0}}`, ids[0], ids[1]))
	r.want(503, "Counting waits for rows of AEW Revolution that cannot be read: 5", "admin", "POST", "/admin/events/"+event+"/score", "")
	r.want(201, "", "admin", "POST", "/admin/users", `{"userId":"a?b","name":"Slash"}`)
	if err := r.service.Store.Update(t.Context(), func(tx *store.Tx) error {
		it, err := attr.ParseJSON([]byte(`{"PK":{"S":"USER#a?b"},"SK":{"S":"STANDINGS#2024"},` + year + `,"points":{"N":"1"},"mcorrect":{"N":"0"},"eplayed":{"N":"1"}}`))
		if err == nil {
			_, err = tx.Put(store.PutItem{Table: "pickem-test", Item: it})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.page("max", "/standings?year=2024", 200, `href="/pickem/-/users/a%3Fb"`)
}

// A card is imported from a file, all or none. Picks and standings are exported to one, with cells that would be formulas as text.
func TestCSV(t *testing.T) {
	r := newRig(t)
	r.card()
	at, admin := "/app/events/"+event, "/admin/events/"+event
	const file = "name,points,preshow,championships,teams\nTornado,25,true,World|Tag,Sting & Darby Allin*|The Bucks\n"
	r.want(400, "five columns", "admin", "POST", admin+"/card", "a,b\n")
	r.want(400, "match 2: teams must number", "admin", "POST", admin+"/card", file+"Lone,5,false,,Sting\n")
	r.want(201, `"name":"Tornado","championships":["World","Tag"],"points":25,"preshow":true,"teams":[{"members":["Sting","Darby Allin"],"champion":true},{"members":["The Bucks"]}]}]`,
		"admin", "POST", admin+"/card", file)
	r.want(200, `"picked":"0 of 3"`, "sam", "GET", "/app/events", "")
	r.want(200, "", "admin", "PATCH", "/admin/users/sam", `{"name":"=SUM(A1)"}`)
	r.want(200, "Name,Points,Tag Team,Title,Tornado\n", "sam", "GET", at+"/predictions.csv", "")
	r.want(200, "rank,userId,name,points,mcorrect,eplayed\n", "sam", "GET", "/app/standings.csv", "")
	if w := web.Ask(r.server.Handler(), "GET", "/pickem/app/standings.csv?year=x", "", headersOf("sam")...); w.Code != 400 {
		t.Errorf("a bad year: %d", w.Code)
	}
}

// A link of the pages downloads a file with the session's cookie, and a link on another site does not. Before the lock the file names nobody.
func TestFilesBehindTheLinks(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(200, "", "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
	follow := func(path, site string, status int, want string) {
		t.Helper()
		w := web.Ask(r.server.Handler(), "GET", "/pickem/app/"+path, "", "Cookie", "touchline_token=max", "Sec-Fetch-Site", site, "Sec-Fetch-Mode", "navigate", "Accept", "text/html")
		if w.Code != status || status == 200 && (w.Body.String() != want || !strings.HasPrefix(w.Header().Get("Content-Disposition"), "attachment")) {
			t.Errorf("%s from %s: %d %v %s, want %d %s", path, site, w.Code, w.Header(), w.Body, status, want)
		}
	}
	const picks, head = "events/" + event + "/predictions.csv", "Name,Points,Tag Team,Title\n"
	follow(picks, "same-origin", 200, head)
	follow("standings.csv", "same-origin", 200, "rank,userId,name,points,mcorrect,eplayed\n")
	follow(picks, "cross-site", 401, "")
	r.now = start.Add(-time.Hour)
	follow(picks, "same-origin", 200, head)
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	follow(picks, "same-origin", 200, head+"1. sam H,0,The C,–\n")
}

// Every scene of the gallery is rendered.
func TestScenes(t *testing.T) {
	look, err := page.New("/pickem/-", files, nil)
	if err != nil {
		t.Fatal(err)
	}
	scenes, err := (&handlers{league: &pickem.Service{}, look: look}).scenes()
	if err != nil || len(scenes) != 7 {
		t.Fatalf("%d scenes, %v", len(scenes), err)
	}
	for i, has := range []string{"There are no events yet.", "Locks in", `aria-pressed="true"><b>The Cys</b>`, "Not counted: sent after the lock", "You picked The Cys.", "The Cys ✓", "No contest."} {
		if !strings.Contains(string(scenes[i].Page), has) {
			t.Errorf("%s has no %s", scenes[i].Name, has)
		}
	}
}

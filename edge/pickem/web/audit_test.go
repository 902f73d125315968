package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A machine whose clock is an hour wrong shows the card for picking until the lock by the cloud's clock. The browser's countdown is by the
// machine's clock, the only one it knows.
func TestPagesGoByTheCloudsClock(t *testing.T) {
	lock := start.Add(-time.Hour)
	for _, c := range []struct {
		name string
		now  time.Time // by the machine's clock
		skew time.Duration
		open bool
	}{
		{"an hour early, just before the lock", lock.Add(time.Hour - time.Second), -time.Hour, true},
		{"an hour early, at the lock", lock.Add(time.Hour), -time.Hour, false},
		{"an hour late, just before the lock", lock.Add(-time.Hour - time.Second), time.Hour, true},
		{"an hour late, at the lock", lock.Add(-time.Hour), time.Hour, false},
	} {
		r := newRig(t)
		r.card()
		r.now, r.service.Skew = c.now, func() time.Duration { return c.skew }
		card, list := r.page("sam", "/events/"+event, 200), r.page("sam", "/", 200)
		if got := strings.Contains(card, "data-queue"); got != c.open {
			t.Errorf("%s: whether the card takes picks: %t", c.name, got)
		}
		if got := strings.Contains(list, "Locks in"); got != c.open {
			t.Errorf("%s: whether it is the next event: %t", c.name, got)
		}
		here := lock.Add(-c.skew)
		if c.open && (!strings.Contains(card, fmt.Sprintf(`data-until="%d"`, here.UnixMilli())) || !strings.Contains(card, `datetime="`+here.Format(time.RFC3339)) || !strings.Contains(card, ">0:01<")) {
			t.Errorf("%s: %s", c.name, card)
		}
	}
}

// At a node that has locked an event by itself, and does not know whether other nodes have, the admin page shows neither picks nor their points.
func TestEditorShowsNothingOfAnUnconfirmedLock(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	confirmed := "upcoming"
	r.service.Confirmed = func(*store.Tx, string, attr.Item) (attr.Item, error) {
		return attr.Item{"state": attr.S(confirmed)}, nil
	}
	r.want(200, "", "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1,%q:1}}`, ids[0], ids[1]))
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/results", fmt.Sprintf(`{"results":{%q:1,%q:1}}`, ids[0], ids[1]))
	if body := r.page("admin", "/admin/events/"+event, 200); strings.Contains(body, "sam H") || strings.Contains(body, "Nobody has picked") {
		t.Errorf("before the cloud has the lock: %s", body)
	}
	confirmed = "broadcast"
	r.page("admin", "/admin/events/"+event, 200, "1. sam H", "Standings with this event", "Everybody&#39;s picks")
}

// After its lock a card does not change, not even in the minute before the state changes. Moving the start later then does not open the event;
// setting the state does.
func TestLockedCardStaysInTheMinuteBehindTheLock(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	at, admin := "/app/events/"+event, "/admin/events/"+event
	r.now = start.Add(-time.Hour)
	match := `{"name":"x","points":1,"teams":[{"members":["A"]},{"members":["B"]}]}`
	r.want(409, "event_not_upcoming", "admin", "POST", admin+"/matches", match)
	r.want(409, "event_not_upcoming", "admin", "PATCH", admin+"/matches/"+ids[0], match)
	r.want(409, "event_not_upcoming", "admin", "DELETE", admin+"/matches/"+ids[0], "")
	r.want(409, "event_not_upcoming", "admin", "DELETE", admin, "")
	r.want(200, `"state":"broadcast","startsAt":"2024-03-04T20:00:00Z"`, "admin", "PATCH", admin, `{"startsAt":"2024-03-04T20:00:00Z"}`)
	r.want(409, "event_locked", "sam", "PUT", at+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
	r.want(409, "event_not_upcoming", "admin", "PATCH", admin, `{"startsAt":"2024-03-04T21:00:00Z"}`)
	r.want(200, `"state":"upcoming"`, "admin", "PUT", admin+"/state", `{"state":"upcoming"}`)
	r.want(200, "", "sam", "PUT", at+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
}

// A request that picks nothing, or withdraws a pick that was never made, writes no row: a user who never picked has not played.
func TestNothingPickedIsNoPrediction(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(200, `"prediction":null`, "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:null}}`, ids[0]))
	r.want(204, "", "admin", "DELETE", "/admin/users/sam", "")
}

// The answer to a pick has the user's name, as the event has.
func TestPickIsAnsweredWithItsUser(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(200, `"prediction":{"userId":"sam","name":"sam H"`, "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
}

// A form sent again because its answer was lost adds only one match.
func TestMatchIsMadeOncePerKey(t *testing.T) {
	r := newRig(t)
	r.card()
	match := `{"name":"Once","points":1,"teams":[{"members":["A"]},{"members":["B"]}]}`
	ask := func(key string) string {
		w := web.Ask(r.server.Handler(), "POST", "/pickem/admin/events/"+event+"/matches", match, append(headersOf("admin"), "Idempotency-Key", key)...)
		if w.Code != http.StatusCreated {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
		return w.Body.String()
	}
	if first, again := ask("k1"), ask("k1"); first != again {
		t.Errorf("%s, then %s", first, again)
	}
	ask("k2")
	r.want(200, `"picked":"0 of 4"`, "sam", "GET", "/app/events", "")
}

// Blank texts and control characters are refused, in a form or a file. A spreadsheet's file may begin with a byte order mark.
func TestBadTexts(t *testing.T) {
	r := newRig(t)
	r.card()
	admin := "/admin/events/" + event
	for has, body := range map[string]string{
		"bad_name":          `{"name":"  ","points":1,"teams":[{"members":["A"]},{"members":["B"]}]}`,
		"bad_teams":         `{"name":"x","points":1,"teams":[{"members":["A\nB"]},{"members":["B"]}]}`,
		"bad_championships": `{"name":"x","points":1,"championships":["\u0000"],"teams":[{"members":["A"]},{"members":["B"]}]}`,
	} {
		r.want(400, has, "admin", "POST", admin+"/matches", body)
	}
	r.want(400, "match 1", "admin", "POST", admin+"/card", "x,5,yes,,A|B\n")
	r.want(400, "match 2", "admin", "POST", admin+"/card", "x,5,,,A|B\ny,five,,,A|B\n")
	r.want(201, `"name":"x","points":5,"preshow":true`, "admin", "POST", admin+"/card", "\ufeffname,points,preshow,championships,teams\nx,5,TRUE,,A|B\n")
}

// Pages show names and words: names of events on a user's page, words for states everywhere, and the outcome of a title match.
func TestPagesSpeakToPeople(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(200, "", "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1,%q:1}}`, ids[0], ids[1]))
	r.page("sam", "/me", 200, ">AEW Revolution</a>")
	r.want(200, `"eventId":"`+event+`","name":"AEW Revolution"`, "sam", "GET", "/app/me", "")
	r.page("admin", "/admin/events/"+event, 200, "open", `data-queue="PATCH"`, `name="startsAt" type="datetime-local"`, `value="AEW Revolution"`, "Locks", `name="teams.0.champion" type="checkbox" data-type="optional" checked`)
	r.now = start
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	for who, paths := range map[string][]string{"sam": {"/", "/events/" + event}, "admin": {"/admin", "/admin/events/" + event}} {
		for _, path := range paths {
			if body := r.page(who, path, 200); strings.Contains(strings.ReplaceAll(body, `value="broadcast"`, ""), "broadcast") {
				t.Errorf("%s: %s", path, body)
			}
		}
	}
	r.page("sam", "/", 200, "under way")
	r.page("admin", "/admin/events/"+event, 200, "under way", "champion")
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/results", fmt.Sprintf(`{"results":{%q:1,%q:1}}`, ids[0], ids[1]))
	r.page("admin", "/admin/events/"+event, 200, "new champion")
	if body := r.page("sam", "/events/"+event, 200, "E won: a new champion."); strings.Count(body, "a new champion") != 1 {
		t.Errorf("a match without a title has a new champion: %s", body)
	}
}

// The pre-show comes first on the page, wherever it is on the card.
func TestPreshowComesFirst(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/order", fmt.Sprintf(`{"matchIds":[%q,%q]}`, ids[1], ids[0]))
	body := r.page("sam", "/events/"+event, 200)
	if at := []int{strings.Index(body, "Tag Team"), strings.Index(body, "Title")}; !slices.IsSorted(at) {
		t.Errorf("at %v: %s", at, body)
	}
}

// The access of five identities to every page. Those who may not see a page do not learn either whether its subject exists.
func TestAccessToPages(t *testing.T) {
	r := newRig(t)
	r.card()
	for _, route := range (&handlers{league: r.service}).pageRoutes() {
		path := strings.NewReplacer(":id", event, ":user", "sam").Replace(route.Path)
		forAdmins := strings.HasPrefix(path, "/admin")
		for who, may := range map[string]bool{"-": false, "eve": false, "sam": !forAdmins, "admin": forAdmins, "key": forAdmins} {
			var headers []string
			if who != "-" {
				headers = headersOf(who)
			}
			w := web.Ask(r.server.Handler(), "GET", "/pickem/-"+path, "", append(headers, "Accept", "text/html")...)
			if got := w.Code == http.StatusOK; got != may || w.Code == http.StatusNotFound {
				t.Errorf("%s at %s: %d", who, path, w.Code)
			}
		}
	}
}

// Files of cards as spreadsheets and typing mistakes make them.
func TestCardFiles(t *testing.T) {
	r := newRig(t)
	r.card()
	card := "/admin/events/" + event + "/card"
	for _, c := range []struct {
		name, file string
		status     int
		has        string
	}{
		{"a mark and no head", "\ufeffMark,5,,,A|B\n", 201, `"name":"Mark"`},
		{"a mark before a quoted head", "\ufeff\"name\",\"points\",\"preshow\",\"championships\",\"teams\"\r\n\"Quoted\",\"5\",\"\",\"\",\"A|B\"\r\n", 201, `"name":"Quoted"`},
		{"spaces around the head", " Name ,points,preshow,championships,teams\nSpaced,5,,,A|B\n", 201, `"name":"Spaced"`},
		{"quotes and commas", `"Say ""I quit"", please",5,,"US, World",A|B`, 201, `"name":"Say \"I quit\", please","championships":["US, World"]`},
		{"empty", "", 400, "contains no matches"},
		{"a head alone", "\ufeffname,points,preshow,championships,teams\n", 400, "contains no matches"},
		{"semicolons", "x;5;;;A|B\n", 400, "five columns"},
		{"an open quote", "\"x,5,,,A|B\n", 400, "five columns"},
		{"Latin-1", "caf\xe9,5,,,A|B\n", 400, "not UTF-8"},
		{"UTF-16", "\xff\xfex\x00", 400, "five columns"},
		{"points in words", "x,5,,,A|B\ny,five,,,A|B\n", 400, "match 2: points must be a whole number"},
		{"points beyond the bound", "x,5,,,A|B\ny,101,,,A|B\n", 400, "match 2: points must be 1 to 100"},
		{"one team", "x,5,,,A|\n", 400, "match 1: teams must number from 2 to 20"},
		{"too many", strings.Repeat("x,1,,,A|B\n", 100), 400, "must be at most 99"},
		{"too large", strings.Repeat("x,1,,,A|B\n", 10_000), 413, "too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := web.Ask(r.server.Handler(), "POST", "/pickem"+card, c.file, headersOf("admin")...)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.has) {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, c.status, c.has)
			}
		})
	}
	r.want(200, `"picked":"0 of 6"`, "sam", "GET", "/app/events", "")
}

// A file sent again because its answer was lost is added only once; a match that is in it twice is added twice.
func TestCardFileIsTakenOncePerKey(t *testing.T) {
	r := newRig(t)
	r.card()
	for range 2 {
		w := web.Ask(r.server.Handler(), "POST", "/pickem/admin/events/"+event+"/card", "x,5,,,A|B\nx,5,,,A|B\n", append(headersOf("admin"), "Idempotency-Key", "k")...)
		if w.Code != http.StatusCreated {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	r.want(200, `"picked":"0 of 4"`, "sam", "GET", "/app/events", "")
}

// A form sent again adds no second match if the teams of the first were changed meanwhile, and none with an ID under which others have picked
// among other teams.
func TestMatchKeepsItsTeams(t *testing.T) {
	r := newRig(t)
	r.card()
	at, admin := "/app/events/"+event, "/admin/events/"+event+"/matches"
	ask := func(a, b string) string {
		body := fmt.Sprintf(`{"name":"Once","points":1,"teams":[{"members":[%q]},{"members":[%q]}]}`, a, b)
		w := web.Ask(r.server.Handler(), "POST", "/pickem"+admin, body, append(headersOf("admin"), "Idempotency-Key", "k")...)
		return idOf(t, w.Body.String())
	}
	first := ask("A", "B")
	r.want(200, "", "sam", "PUT", at+"/predictions", fmt.Sprintf(`{"predictions":{%q:0}}`, first))
	other := idOf(t, r.want(200, "", "admin", "PATCH", admin+"/"+first, `{"teams":[{"members":["C"]},{"members":["B"]}]}`))
	if again := ask("A", "B"); again != other {
		t.Errorf("the repeated request created %s, want %s", again, other)
	}
	r.want(204, "", "admin", "DELETE", admin+"/"+other, "")
	if again := ask("Z", "B"); again == first {
		t.Error("a pick of A became a pick of Z")
	}
}

func idOf(t *testing.T, answer string) string {
	t.Helper()
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.ID == "" {
		t.Fatal(err, answer)
	}
	return made.ID
}

// User IDs that a path cannot name, or that contain spaces typed by mistake, are refused.
func TestUserIDs(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"a/b", "sam ", " sam", "s m", "s#m", strings.Repeat("x", 65)} {
		r.want(400, "userId", "admin", "POST", "/admin/users", fmt.Sprintf(`{"userId":%q,"name":"x"}`, id))
	}
	for _, id := range []string{"auth0|5f", "sam@example.com", "-1+1", "a?b%c", "é"} {
		r.want(201, "", "admin", "POST", "/admin/users", fmt.Sprintf(`{"userId":%q,"name":"x"}`, id))
		r.want(200, "", "admin", "PATCH", "/admin/users/"+url.PathEscape(id), `{"active":false}`)
	}
}

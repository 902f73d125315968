package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/testrig/contract"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Of requests that come at once, each of which alone would be within the limit, one creates a league.
func TestMostLeaguesAtOnce(t *testing.T) {
	r := newRig(t)
	r.in("ann")
	for i := range threefc.MaxLeagues - 1 {
		if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
			c, err := r.service.CreateLeague(tx, "ann@example.org", threefc.League{LeagueID: fmt.Sprint(i), Name: "League"})
			if err != nil {
				return err
			}
			return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		}); err != nil {
			t.Fatal(err)
		}
	}
	const requests = 6
	held, let := make(chan struct{}), make(chan struct{})
	answers := make(chan *httptest.ResponseRecorder, requests)
	go func() {
		_ = r.store.Update(t.Context(), func(*store.Tx) error {
			close(held)
			<-let
			return nil
		})
	}()
	<-held
	for i := range requests {
		go func() {
			answers <- web.Ask(r.server.Handler(), "POST", "/3fc/v1/leagues", fmt.Sprintf(`{"leagueId":"at once %d","name":"League"}`, i), "Cookie", cookieName+"="+r.cookies["ann"])
		}()
	}
	wait.Until(t, "all requests wait for the writer", func() bool { return r.store.Stats().Waiting == requests })
	close(let)
	made := 0
	for range requests {
		switch w := <-answers; {
		case w.Code == http.StatusCreated:
			made++
		case w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "too_many_leagues"):
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if made != 1 {
		t.Errorf("%d leagues were created", made)
	}
}

// No route admits users below its level. The session is checked first, then the role, and only then the body.
func TestLevels(t *testing.T) {
	r := newRig(t)
	r.league()
	h := &handlers{Config: Config{Service: r.service, Mount: "/3fc"}, mount: "/3fc"}
	levels := []string{public, session, mailed, viewer, scorekeeper, admin}
	roles := map[string]string{"-": public, "other": mailed, "watcher": viewer, "keeper": scorekeeper}
	words := []string{"unauthorized", "mail_sign_in_required", "league_access_required", "scorekeeper_required", "admin_required"}
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	said := []string{"Public.", "For signed-in users.", "For users signed in by mail.", "For any role in the league.", "For scorekeepers and admins.", "For admins."}
	param := regexp.MustCompile(`:(\w+)`)
	n := 0
	for _, ro := range h.routes() {
		path, level := ro.Path, slices.Index(levels, ro.Role)
		if op := doc.Paths.Value(param.ReplaceAllString(path, "{$1}")).GetOperation(ro.Method); op.Description != said[level] {
			t.Errorf("%s %s has level %d, but the document says: %s", ro.Method, path, level, op.Description)
		}
		for name, id := range map[string]string{"league": "l", "season": "s", "session": "d", "game": "g", "team": "red", "player": "r1", "third": "1", "event": "e", "conflict": "1", "id": "x", "code": "AAAAAAAA"} {
			path = strings.ReplaceAll(path, ":"+name, id)
		}
		for who, has := range roles {
			if slices.Index(levels, has) >= level || strings.HasSuffix(ro.Path, "/stream") { // tested by TestStream
				continue
			}
			n++
			w := r.ask(who, ro.Method, path, `{"no":`)
			want := words[level-1]
			if who == "-" {
				want = words[0]
			}
			if status := map[bool]int{true: 401, false: 403}[who == "-"]; w.Code != status || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %s %s: %d %s, want %d %s", who, ro.Method, path, w.Code, w.Body, status, want)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d requests", n)
	}
}

// Pages of other origins cannot send changes, unless the origin is configured. Then they may send the cookie and read the answer.
func TestOrigins(t *testing.T) {
	r := newRig(t)
	r.in("boss")
	league := func(id string) string { return fmt.Sprintf(`{"leagueId":%q,"name":"L"}`, id) }
	r.want(403, `{"error":"forbidden_origin","message":"State-changing requests must originate from an allowed app domain."}`, "-", "POST", "/v1/leagues", "{", "Origin", "https://evil.example")
	for i, origin := range []string{"https://app.example", "https://3fc.example", "http://example.com"} {
		r.want(201, "", "boss", "POST", "/v1/leagues", league(fmt.Sprint("l", i)), "Origin", origin)
	}
	w := r.ask("boss", "GET", "/v1/leagues", "", "Origin", "https://app.example")
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "https://app.example" || h.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("%v", h)
	}
	if w := r.ask("boss", "GET", "/v1/leagues", "", "Origin", "https://evil.example"); w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w = web.Ask(r.server.Handler(), "OPTIONS", "/3fc/v1/leagues", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type,idempotency-key,x-csrf-token")
	if h := w.Header(); w.Code != 204 || !strings.Contains(strings.ToLower(h.Get("Access-Control-Allow-Headers")), "x-csrf-token") || h.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("%d %v", w.Code, h)
	}
}

// A node without mail refuses sign-in links with the reason, and creates invites without sending them.
func TestWithoutMail(t *testing.T) {
	for name, without := range map[string]func(*Config){
		"no mail":               func(c *Config) { c.Queue = nil },
		"no address for a link": func(c *Config) { c.PublicURL = "" },
	} {
		r := newRig(t, without)
		r.league()
		w := r.ask("-", "POST", "/v1/auth/magic/start", `{"email":"a@b.c"}`)
		if w.Code != 503 || !strings.Contains(w.Body.String(), `{"error":"unavailable","code":"mail_unavailable"`) || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %v", name, w.Code, w.Body, w.Header())
		}
		r.want(202, `"emailDelivery":"unavailable"`, "boss", "POST", "/v1/leagues/l/organiser-invites", `{"email":"a@b.c"}`)
	}
}

// A client may try 20 codes a minute and request 30 links an hour.
func TestLimits(t *testing.T) {
	r := newRig(t)
	for n := range 30 {
		r.want(202, "", "-", "POST", "/v1/auth/magic/start", fmt.Sprintf(`{"email":"a%d@b.c"}`, n))
	}
	r.want(429, "", "-", "POST", "/v1/auth/magic/start", `{"email":"b@b.c"}`)
	for range joinsAMinute {
		r.want(404, "", "-", "POST", "/v1/join/AAAAAAAA", `{"nickname":"Al"}`)
	}
	r.want(429, "too_many_requests", "-", "POST", "/v1/join/AAAAAAAA", `{"nickname":"Al"}`)
	r.now = r.now.Add(time.Hour)
	r.want(202, "", "-", "POST", "/v1/auth/magic/start", `{"email":"b@b.c"}`)
}

// Events of a game's stream name nobody.
func TestStream(t *testing.T) {
	r := newRig(t)
	r.league()
	base, stop := web.Run(t, r.server)
	for path, want := range map[string]int{"/public/games/x/stream": 404, "/games/g/stream": 401} {
		if s, err := web.Try(t, base+"/3fc/v1"+path, nil); err != nil || s.Resp.StatusCode != want {
			t.Errorf("%s: %v %v", path, s.Resp, err)
		}
	}
	for who, want := range map[string]int{"other": 403, "watcher": 200} {
		s, err := web.Try(t, base+"/3fc/v1/games/g/stream", map[string]string{"Cookie": cookieName + "=" + r.cookies[who]})
		if err != nil || s.Resp.StatusCode != want {
			t.Errorf("%s: %v %v", who, s.Resp, err)
			continue
		}
		s.Close()
	}
	s := web.Open(t, base+"/3fc/v1/public/games/g/stream", nil)
	s.Until(web.Named("game")) // the stream has started
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	r.goal(redGoal)
	seen := s.Until(web.Named("goal"))
	if web.Names(seen)["clock"] != 1 {
		t.Errorf("%v", seen)
	}
	for _, m := range seen {
		if text := m.Data; strings.Contains(text, "@") || strings.Contains(text, "r1") {
			t.Errorf("%s", text)
		}
	}
	s.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// Before a record is created with a given id, the row that another node may have created is fetched. An invalid body fetches nothing.
func TestWhatIsMadeIsAskedFor(t *testing.T) {
	asked := ""
	r := newRig(t, func(c *Config) {
		c.Ensure = func(_ context.Context, _ string, keys ...attr.Item) error {
			for _, k := range keys {
				asked += k["pk"].Str() + " "
			}
			return nil
		}
	})
	r.league()
	for _, tt := range []struct{ path, kind, body string }{
		{"/v1/leagues", "league", `"name":"L"`}, {"/v1/leagues/l/seasons", "season", `"name":"S"`}, {"/v1/seasons/s/sessions", "session", `"sessionDate":"2026-07-05"`},
		{"/v1/sessions/d/games", "game", `"gameStartTs":"2026-07-05T10:00:00Z"`}, {"/v1/games/g/players", "player", `"nickname":"P"`},
	} {
		row := strings.ToUpper(tt.kind) + "#new "
		for status, body := range map[int]string{400: `{"%sId":"new",%s,"no":1}`, 201: `{"%sId":"new",%s}`} {
			asked = ""
			r.want(status, "", "boss", "POST", tt.path, fmt.Sprintf(body, tt.kind, tt.body))
			if strings.Contains(asked, row) != (status == 201) {
				t.Errorf("%s, answered with %d: fetched %s", tt.path, status, asked)
			}
		}
	}
}

// Checking a limit stores nothing, and an action no longer counts after an hour.
func TestHourly(t *testing.T) {
	h, now := newHourly(2), time.Date(2026, 7, 4, 10, 0, 0, 0, time.UTC)
	for n := range 100 {
		if err := h.full(fmt.Sprint("a", n), now); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.of) > 0 {
		t.Errorf("%d names are stored", len(h.of))
	}
	for n, want := range []bool{false, false, true} {
		if full := h.countOne("a", now.Add(time.Duration(n)*time.Minute)) != nil; full != want {
			t.Errorf("take %d: refused %t", n+1, full)
		}
	}
	if h.full("a", now.Add(59*time.Minute)) == nil || h.full("a", now.Add(time.Hour)) != nil {
		t.Error("the limit does not last exactly an hour")
	}
}

// A request for a row that cannot be decoded is answered with an error that says so, and lists go on without it. Neither answer nor log has
// its key, which may contain an address; the log does not repeat what the store has told it once.
func TestUnreadableRow(t *testing.T) {
	r := newRig(t)
	r.league()
	put := func(pk, sk, entity string) {
		t.Helper()
		row := attr.Item{"pk": attr.S(pk), "sk": attr.S(sk), "entityType": attr.S(entity), "data": attr.S("{")}
		if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "3fc-test", Item: row})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("GAME#h", "METADATA", "game")
	put("SESSION#d", "GAME#2026-07-04T09:00:00.000Z#h", "sessionGame")
	r.want(500, `"error":"internal","code":"unreadable_row","message":"The stored game cannot be read`, "boss", "GET", "/v1/games/h", "")
	r.want(200, `"gameId":"g"`, "watcher", "GET", "/v1/sessions/d/games", "")
	r.want(200, `"gameId":"g"`, "watcher", "GET", "/v1/seasons/s/games", "")
	put("LEAGUE#l", "ACL#USER#boss@example.org", "acl")
	for range 2 {
		body := r.want(500, `"message":"The stored role in a league cannot be read`, "boss", "GET", "/v1/leagues/l", "")
		if strings.Contains(body, "@") {
			t.Errorf("body: %s", body)
		}
	}
	if text := r.log.String(); strings.Contains(text, "cannot be read") || strings.Contains(text, "@") || strings.Contains(text, "level=ERROR") {
		t.Errorf("log: %s", text)
	}
}

// An invalid id is not found, and never looked up in the cloud.
func TestNoID(t *testing.T) {
	asked := 0
	r := newRig(t, func(c *Config) {
		c.Ensure = func(_ context.Context, _ string, keys ...attr.Item) error {
			for _, k := range keys {
				if asked++; len(k["pk"].Str()) > 200 || strings.Count(k["pk"].Str(), "#") > 1 {
					t.Errorf("fetched %v", k)
				}
			}
			return nil
		}
	})
	r.league()
	for _, id := range []string{strings.Repeat("x", 3000), "a%23b", "a%0Ab"} {
		r.want(404, `"not_found"`, "boss", "GET", "/v1/games/"+id, "")
		r.want(404, `"not_found"`, "-", "GET", "/v1/public/games/"+id, "")
		r.want(404, `"not_found"`, "boss", "POST", "/v1/players/"+id+"/claim", "")
		r.want(404, `"not_found"`, "keeper", "PUT", "/v1/games/g/roster/"+id, `{"teamId":"red"}`)
		r.want(404, `"not_found"`, "keeper", "DELETE", "/v1/games/g/roster/"+id, "")
		r.want(404, `"not_found"`, "keeper", "DELETE", "/v1/games/g/goals/"+id, "")
		r.page("boss", "/games/"+id, 404)
		r.page("boss", "/leagues/"+id, 404)
		r.page("boss", "/"+id+"/"+id, 404)
		r.want(401, "unauthorized", "-", "GET", "/v1/leagues", "", "Cookie", cookieName+"="+id)
		r.want(404, `"not_found"`, "-", "POST", "/v1/join/"+id, `{"nickname":"n"}`)
		r.want(401, "", "-", "POST", "/v1/auth/magic/complete", fmt.Sprintf(`{"token":"%s.x"}`, strings.ReplaceAll(id[:min(len(id), 400)], "%0A", "")))
	}
	if asked == 0 {
		t.Error("nothing was fetched")
	}
}

// Lists of leagues come by pages, for clients that ask for them, and whole for those that do not, up to a limit.
func TestLeaguesByPages(t *testing.T) {
	r := newRig(t)
	r.in("boss")
	for _, id := range []string{"c", "a", "b"} {
		r.want(201, "", "boss", "POST", "/v1/leagues", `{"leagueId":"`+id+`","name":"League <`+id+`>"}`)
	}
	for _, path := range []string{"/v1/public/leagues", "/v1/leagues"} {
		if whole := r.ask("boss", "GET", path, ""); strings.Contains(whole.Body.String(), "cursor") {
			t.Errorf("%s: %s", path, whole.Body)
		}
		var names []string
		for cursor := "?limit=1"; cursor != ""; {
			var page struct {
				Leagues []struct{ LeagueID string }
				Cursor  string
			}
			w := r.ask("boss", "GET", path+cursor, "")
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || len(page.Leagues) != 1 {
				t.Fatalf("%s%s: %d %s", path, cursor, w.Code, w.Body)
			}
			names = append(names, page.Leagues[0].LeagueID)
			if cursor = ""; page.Cursor != "" {
				cursor = "?limit=1&cursor=" + page.Cursor
			}
		}
		if got := strings.Join(names, ""); got != "abc" {
			t.Errorf("%s: %s", path, got)
		}
		for _, bad := range []string{"?limit=0", "?limit=101", "?cursor=%21"} {
			if w := r.ask("boss", "GET", path+bad, ""); w.Code != 400 {
				t.Errorf("%s%s: %d %s", path, bad, w.Code, w.Body)
			}
		}
	}
}

// The operations of the OpenAPI document are the handlers.
func TestOperationsAreHandlers(t *testing.T) {
	contract.Read(t, document).CheckOperations(t, (&handlers{}).routes())
}

package web

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/contract"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

const (
	day   = "2026-02-02"
	guest = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
)

// rig is the application in a server, on a store whose clock stands still.
type rig struct {
	t       *testing.T
	app     httpapi.App
	server  *httpapi.Server
	service *scorekeeper.Service
	store   *store.Store
	log     *said
}

// said collects the log.
type said struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write implements io.Writer.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, store.Options{NoSync: true}, slog.LevelDebug)
}

// newRigOn returns a rig on a store with the given options.
func newRigOn(t *testing.T, o store.Options, level slog.Level) *rig {
	t.Helper()
	words, err := scorekeeper.NewDictionary("")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, log: &said{}, service: &scorekeeper.Service{Handle: scorekeeper.Rows("scorekeeper-test"), Words: words}}
	now := time.Date(2026, 2, 2, 10, 30, 0, 0, time.UTC)
	o.Now = func() time.Time { return now }
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, append(handover.Tables(), scorekeeper.Table(r.service.Table))...)
	r.store = s
	app, err := New(Config{Service: r.service, Mount: "/scorekeeper"})
	if err != nil {
		t.Fatal(err)
	}
	app.Name, app.Title, app.Mount = "scorekeeper", "Scorekeeper", "/scorekeeper"
	r.app = app
	r.server, err = httpapi.New(httpapi.Config{
		Apps: []httpapi.App{app}, Store: s, Clock: clock.Real(), Auth: web.ByName{}, Devices: true,
		Logger: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// as returns the request headers of a caller: "-" for nobody, "guest" for the guest's cookie, or a user.
func as(who string) []string {
	switch who {
	case "-":
		return nil
	case "key":
		return []string{"X-API-Key", "key"}
	case "guest":
		return []string{"Cookie", "wordle_session=" + guest, "Sec-Fetch-Site", "same-origin"}
	}
	return []string{"Authorization", "Bearer " + who}
}

func (r *rig) ask(who, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	return web.Ask(r.server.Handler(), method, "/scorekeeper"+path, body, append(as(who), headers...)...)
}

// want sends a request, and checks the status and that the answer contains a text.
func (r *rig) want(status int, has, who, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	w := r.ask(who, method, path, body, headers...)
	if w.Code != status || !strings.Contains(w.Body.String(), has) {
		r.t.Errorf("%s: %s %s %s: %d %s, want %d %s", who, method, path, body, w.Code, w.Body, status, has)
	}
	return w
}

func (r *rig) answer(date, word string) {
	r.t.Helper()
	r.want(http.StatusOK, word, "admin", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":%q}`, date, word))
}

func guessBody(word string) string {
	return fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":%q}`, day, word)
}

// Every route answers with the texts and codes of the original.
func TestRoutes(t *testing.T) {
	r := newRig(t)
	long := strings.Repeat("x", 5000)
	r.want(200, "OK", "-", "GET", "/health", "")
	r.answer(day, "manna")

	for _, c := range []struct {
		status         int
		has, who, body string
	}{
		{422, `"code":"VALIDATION_ERROR"`, "u1", `nonsense`},
		{422, `"field":"word_guessed"`, "u1", `{"puzzle_date_iso_day":"2026-02-02"}`},
		{422, `"field":"word_guessed"`, "u1", `{"puzzle_date_iso_day":"2026-02-02","word_guessed":5}`},
		{400, `{"error":{"code":"BAD_REQUEST","message":"Invalid date format. Expected YYYY-MM-DD"}}`, "u1", `{"puzzle_date_iso_day":"2.2.2026","word_guessed":"crane"}`},
		{400, `"message":"Guess must be exactly 5 letters"`, "u1", guessBody("cran")},
		{400, `"message":"Guess must be exactly 5 letters"`, "u1", guessBody("")},
		{400, "Expected YYYY-MM-DD", "u1", `{"puzzle_date_iso_day":"","word_guessed":"crane"}`},
		{400, `"message":"Guess must be exactly 5 letters"`, "u1", guessBody(long)},
		{400, "Expected YYYY-MM-DD", "u1", `{"puzzle_date_iso_day":"` + long + `","word_guessed":"crane"}`},
		{403, "cannot play", "u#1", guessBody("crane")},
		{400, `"message":"Word not in dictionary"`, "u1", guessBody("qqqqq")},
		{404, `{"error":{"code":"NOT_FOUND","message":"No puzzle found for this date"}}`, "u1", `{"puzzle_date_iso_day":"2026-02-01","word_guessed":"crane"}`},
		{200, `"moves_qty":1,"won":false,"moves":[[{"letter":"c","grade":"wrong"},`, "u1", guessBody("CRANE")},
		{400, `"message":"You already guessed that word"`, "u1", guessBody("crane")},
		{401, `"code":"UNAUTHORIZED"`, "-", guessBody("crane")},
		{200, `"user_id":"` + guest + `"`, "guest", guessBody("crane")},
		{200, `"won":true`, "u1", guessBody("manna")},
		{400, `"message":"Game is already complete"`, "u1", guessBody("slate")},
	} {
		r.want(c.status, c.has, c.who, "POST", "/guess", c.body)
	}

	r.want(200, `"moves_qty":2`, "u1", "GET", "/game/"+day, "")
	r.want(200, `"moves_qty":0,"won":false,"moves":[]`, "u2", "GET", "/game/"+day, "")
	r.want(400, "Expected YYYY-MM-DD", "u1", "GET", "/game/x", "")
	r.want(404, "No puzzle found for this date", "u1", "GET", "/game/2026-02-01", "")

	r.want(200, `"total_games":1,"games_won":1`, "u1", "GET", "/history", "")
	r.want(401, "UNAUTHORIZED", "guest", "GET", "/history", "")

	r.want(200, `{"puzzles":[{"date":"2026-02-02"}]}`, "u1", "GET", "/puzzles", "")
	r.want(200, `{"puzzles":[{"date":"2026-02-02","word":"manna"}]}`, "admin", "GET", "/puzzles?start_date=&end_date=", "")
	r.want(200, `{"puzzles":[{"date":"2026-02-02"}]}`, "admin", "GET", "/puzzles?omit_answers=true", "")
	r.want(200, `{"puzzles":[]}`, "admin", "GET", "/puzzles?start_date=2026-02-03&end_date=2026-02-04", "")
	r.want(400, "BAD_REQUEST", "u1", "GET", "/puzzles?start_date=2026-02-03", "")
	r.want(400, "BAD_REQUEST", "u1", "GET", "/puzzles?start_date=2026-02-03&end_date=2026-02-02", "")
	r.want(200, `{"date":"2026-02-02","word":"manna"}`, "admin", "GET", "/puzzles/"+day, "")
	r.want(200, `{"date":"2026-02-02"}`, "u1", "GET", "/puzzles/"+day, "")
	r.want(404, "No puzzle found for date 2026-02-01", "u1", "GET", "/puzzles/2026-02-01", "")
	r.want(403, `{"error":{"code":"FORBIDDEN","message":"Only game administrators can set puzzle answers"}}`, "u1", "PUT", "/puzzles", `{"date":"2026-02-03","word":"crane"}`)
	r.want(400, "Word must contain only letters (a-z)", "admin", "PUT", "/puzzles", `{"date":"2026-02-03","word":"cr4ne"}`)
	r.want(400, "Word must be exactly 5 letters", "admin", "PUT", "/puzzles", `{"date":"2026-02-03","word":"`+long+`"}`)
	r.want(400, "Expected YYYY-MM-DD", "u1", "GET", "/puzzles?start_date="+long+"&end_date="+long, "")
	r.want(200, `"teamId":"t1"`, "admin", "PUT", "/puzzles", `{"date":"2026-02-03","set_random_unused_word":true,"teamId":"t1"}`)
	r.want(200, `{"message":"Puzzle answer cache cleared"}`, "admin", "POST", "/puzzles/cache/clear", "")
	r.want(403, "FORBIDDEN", "u1", "POST", "/puzzles/cache/clear", "")

	r.want(200, `{"userId":"u1"}`, "u1", "GET", "/profile", "")
	r.want(200, `{"userId":"u1","displayName":"Ann"}`, "u1", "PUT", "/profile", `{"displayName":"Ann"}`)
	r.want(400, "avatarUrl must be an https URL", "u1", "PUT", "/profile", `{"avatarUrl":"http://x"}`)
	for _, body := range []string{`{"displayName":"` + strings.Repeat("x", 41) + `"}`, `{"displayName":"` + long + `"}`, `{"displayName":""}`, `{"displayName":" ","avatarUrl":"https://x/a.png"}`, `{}`} {
		r.want(400, "displayName must be 1 to 40 characters", "u1", "PUT", "/profile", body)
	}
	r.want(200, `"displayName":"Ann","avatarUrl":"https://x/a.png"`, "u1", "PUT", "/profile", `{"avatarUrl":"https://x/a.png"}`)

	r.want(400, "must be a valid UUID", "u1", "POST", "/convert-session", `{"session_id":"auth0|123"}`)
	r.want(400, "must be a valid UUID", "u1", "POST", "/convert-session", `{"session_id":""}`)
	r.want(400, "must be a valid UUID", "u1", "POST", "/convert-session", `{"session_id":"`+long+`"}`)
	r.want(200, `{"converted":1,"conflicts_resolved":0,"puzzle_dates_affected":["2026-02-02"]}`, "u3", "POST", "/convert-session", `{"session_id":"`+guest+`"}`)

	r.want(404, "NOT_FOUND", "u1", "GET", "/nothing", "")
	r.want(405, "METHOD_NOT_ALLOWED", "u1", "DELETE", "/guess", "")
}

func TestTeamRoutes(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	r.want(400, "team_name", "u1", "POST", "/team", `{}`)
	r.want(400, "team_name", "u1", "POST", "/team", `{"team_name":"  "}`)
	r.want(400, "team_name", "u1", "POST", "/team", `{"team_name":"`+strings.Repeat("x", 5000)+`"}`)
	var team struct {
		ID string `json:"team_id"`
	}
	if err := json.Unmarshal(r.want(201, `"role":"admin"`, "u1", "POST", "/team", `{"team_name":"Wizards"}`).Body.Bytes(), &team); err != nil {
		t.Fatal(err)
	}
	first := r.want(201, "Twice", "u9", "POST", "/team", `{"team_name":"Twice"}`, "Idempotency-Key", "k1").Body.String()
	if again := r.want(201, "", "u9", "POST", "/team", `{"team_name":"Twice"}`, "Idempotency-Key", "k1").Body.String(); again != first {
		t.Errorf("a repeated request created another team: %s, was %s", again, first)
	}
	if other := r.want(201, "", "u9", "POST", "/team", `{"team_name":"Twice"}`, "Idempotency-Key", "k2").Body.String(); other == first {
		t.Errorf("another key created no team: %s", other)
	}
	mate := func(user, role string) string {
		return fmt.Sprintf(`{"team_id":%q,"user_id":%q,"role":%q}`, team.ID, user, role)
	}
	r.want(200, `"role":"member"`, "u1", "PUT", "/team/teammate", mate("u2", "member"))
	r.want(422, `"field":"role"`, "u1", "PUT", "/team/teammate", mate("u2", "king"))
	for _, who := range []string{"u#2", "", guest} { // a guest's ID must stay secret: with it, anyone could take the games over
		r.want(422, `"field":"user_id"`, "u1", "PUT", "/team/teammate", mate(who, "member"))
	}
	r.want(403, "FORBIDDEN", "u2", "PUT", "/team/teammate", mate("u4", "member"))
	r.want(409, "must keep at least one admin", "u1", "DELETE", "/team/teammate", mate("u1", ""))
	r.want(200, `"team_name":"Wizards"`, "u2", "GET", "/team?team_id="+team.ID, "")
	r.want(403, "FORBIDDEN", "u4", "GET", "/team?team_id="+team.ID, "")
	r.want(404, "Team not found", "u4", "GET", "/team?team_id=none", "")
	r.want(422, "team_id", "u4", "GET", "/team", "")

	r.want(200, `"accepted":true`, "u2", "POST", "/team/accept", mate("u2", ""))
	r.want(200, `"won":true`, "u2", "POST", "/guess", guessBody("manna"))
	r.want(200, `"score":["🟩🟩🟩🟩🟩"]`, "u1", "GET", "/score?user_id=u2", "")
	r.want(200, `[]`, "u1", "GET", "/score?user_id=u2&puzzle_date_iso_day=2026-02-01", "")
	r.want(404, "User not found", "u4", "GET", "/score?user_id=u2", "")
	r.want(422, "start_dt_millis", "u2", "GET", "/score?start_dt_millis=x", "")
	r.want(200, `"participants_qty":1,"score":[{`, "u1", "GET", "/scoreboard?team_id="+team.ID+"&puzzle_date_iso_day="+day, "")
	if w := r.want(200, `"participants_qty":1`, "u1", "GET", "/scoreboard?preview=true&team_id="+team.ID+"&puzzle_date_iso_day="+day, ""); strings.Contains(w.Body.String(), "score\":") {
		t.Errorf("a preview has scores: %s", w.Body)
	}
	r.answer("2026-02-01", "crane")
	w := r.want(200, `"puzzle_date_iso_day":"2026-02-01"`, "u1", "GET", "/scoreboard?team_id="+team.ID+"&end_dt_millis=1800000000000", "", "page_size", "1")
	if h := w.Header(); h.Get("page_qty") != "2" || !strings.Contains(h.Get("pg_query_forward"), "page=2") || h.Get("pg_query_backward") != "" {
		t.Errorf("headers of the first page: %v", h)
	}
	w = r.want(200, `"puzzle_date_iso_day":"2026-02-02"`, "u1", "GET", "/scoreboard?"+w.Header().Get("pg_query_forward"), "", "page_size", "1")
	if h := w.Header(); h.Get("pg_query_forward") != "" || !strings.Contains(h.Get("pg_query_backward"), "page=1") {
		t.Errorf("headers of the last page: %v", h)
	}
	w = r.want(200, `[]`, "u1", "GET", "/scoreboard?team_id="+team.ID+"&page=9", "", "page_size", "1")
	if h := w.Header(); h.Get("page_qty") != "2" || h.Get("pg_query_forward") != "" || !strings.Contains(h.Get("pg_query_backward"), "page=2") {
		t.Errorf("headers after the last page: %v", h)
	}
	r.want(403, "FORBIDDEN", "u2", "DELETE", "/team", `{"team_id":"`+team.ID+`"}`)
	r.want(200, "Wizards", "u1", "DELETE", "/team", `{"team_id":"`+team.ID+`"}`)
}

// A guest's cookie is a lower-case UUID, and never names a registered user.
func TestGuests(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	w := r.want(204, "", "-", "POST", "/session", "", "Sec-Fetch-Site", "same-origin")
	set := w.Result().Cookies()
	if len(set) != 1 || set[0].Name != "wordle_session" || !scorekeeper.IsSession(set[0].Value) || !set[0].HttpOnly || set[0].SameSite != http.SameSiteLaxMode {
		t.Fatalf("%+v", set)
	}
	if again := r.want(204, "", "guest", "POST", "/session", ""); len(again.Result().Cookies()) != 0 {
		t.Errorf("a guest gets another id: %v", again.Result().Cookies())
	}
	for _, cookie := range []string{"auth0|123", "u1", strings.ToUpper(guest), "", "urn:uuid:" + guest} {
		r.want(401, "UNAUTHORIZED", "-", "POST", "/guess", guessBody("crane"), "Cookie", "wordle_session="+cookie, "Sec-Fetch-Site", "same-origin")
	}
	// a bearer wins over a cookie
	r.want(200, `"user_id":"u1"`, "u1", "POST", "/guess", guessBody("crane"), "Cookie", "wordle_session="+guest, "Sec-Fetch-Site", "same-origin")
}

// A guess repeated with its key gets the answer of the first one.
func TestGuessOnce(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	first := r.want(200, `"moves_qty":1`, "u1", "POST", "/guess", guessBody("crane"), "Idempotency-Key", "k1").Body.String()
	r.want(200, `"moves_qty":2`, "u1", "POST", "/guess", guessBody("slate"), "Idempotency-Key", "k2", "Touchline-Occurred-Ago", "90")
	if again := r.want(200, "", "u1", "POST", "/guess", guessBody("crane"), "Idempotency-Key", "k1").Body.String(); again != first {
		t.Errorf("again: %s, was %s", again, first)
	}
	r.want(200, `"moves_qty":3`, "u1", "POST", "/guess", guessBody("moist"), "Touchline-Occurred-Ago", "50000") // it counts as it arrives
}

// Once the change of an answer has been acknowledged, the guesses are re-graded.
func TestChangedAnswerCountsAtOnce(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	r.want(200, `{"letter":"c","grade":"wrong"}`, "u1", "POST", "/guess", guessBody("crane"))
	r.answer(day, "crane")
	r.want(200, `{"letter":"c","grade":"correct"}`, "u1", "GET", "/game/"+day, "")
}

// Words that did not count are reported once. A HEAD does not count as reporting them.
func TestDroppedIsToldOnce(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	r.want(200, "", "u1", "POST", "/guess", guessBody("crane"))
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		row, err := tx.Get(r.service.Table, scorekeeper.GameKey("u1", day))
		if err == nil {
			row["dropped"] = attr.L(attr.S("brick"))
			_, err = tx.Put(store.PutItem{Table: r.service.Table, Item: row})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.want(200, "", "u1", "HEAD", "/game/"+day, "")
	r.want(200, `"dropped":["brick"]`, "u1", "GET", "/game/"+day, "")
	if w := r.want(200, "", "u1", "GET", "/game/"+day, ""); strings.Contains(w.Body.String(), "dropped") {
		t.Errorf("reported again: %s", w.Body)
	}
}

// An event names the day of the row's key, whatever another program has written into the row.
func TestEventOfAStrangeRow(t *testing.T) {
	r := newRig(t)
	key := scorekeeper.GameKey("u1", day)
	record := store.Record{Table: r.service.Table, Key: key, New: attr.Item{"puzzle_date": attr.S("\"}\n\ndata: x")}}
	if ch, ok, err := r.app.Topics(&record); !ok || err != nil || string(ch.Frame.Data) != `{"puzzle_date_iso_day":"2026-02-02"}` {
		t.Errorf("%s, %t, %v", ch.Frame.Data, ok, err)
	}
	record.Key = scorekeeper.GameKey("u1", "\"")
	if _, ok, err := r.app.Topics(&record); ok || err != nil {
		t.Errorf("an event without a day: %v", err)
	}
}

// A player may send 30 guesses a minute, valid or not. The limit does not affect other players.
func TestGuessesPerMinute(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	n := 0
	for ; n < 10*guessesPerMinute; n++ { // on a slow machine, the player earns another guess every two seconds
		w := r.ask("u1", "POST", "/guess", guessBody("qqqqq"))
		if w.Code == http.StatusTooManyRequests {
			if !strings.Contains(w.Body.String(), `"code":"RATE_LIMITED"`) || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s, Retry-After %q", w.Body, w.Header().Get("Retry-After"))
			}
			break
		}
	}
	if n < guessesPerMinute || n == 10*guessesPerMinute {
		t.Errorf("refused after %d guesses", n)
	}
	r.want(200, "", "u1", "GET", "/game/"+day, "")
	r.want(200, "", "u2", "POST", "/guess", guessBody("crane"))
}

// The operations of the OpenAPI document are the handlers.
func TestOperationsAreHandlers(t *testing.T) {
	contract.Read(t, document).CheckOperations(t, (&handlers{}).routes())
}

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/contract"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

const tableName = "hacktracker-test"

// rig runs the application in a server over a store, with a clock that the test moves. It checks each answer against the OpenAPI document.
type rig struct {
	t      *testing.T
	store  *store.Store
	server *httpapi.Server
	app    httpapi.App
	now    time.Time
	doc    *contract.Document
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigWith(t, httpapi.Config{Auth: web.ByName{}})
}

// newRigWith returns a rig whose server has the given settings, besides its application, store and clock.
func newRigWith(t *testing.T, cfg httpapi.Config) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC), doc: contract.Read(t, document)}
	r.store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return r.now }}, append(handover.Tables(), hacktracker.Table(tableName))...)
	app, err := New(Config{Service: &hacktracker.Service{Handle: hacktracker.Rows(tableName)}, Mount: "/hacktracker", Node: r.store.Node(), Scorers: presence.NewBoard(clock.Real())})
	if err != nil {
		t.Fatal(err)
	}
	app.Name, app.Title, app.Mount = "hacktracker", "HackTracker", "/hacktracker"
	cfg.Apps, cfg.Store, cfg.Devices, r.app = []httpapi.App{app}, r.store, true, app
	if cfg.Clock == nil {
		cfg.Clock = clock.Real()
	}
	if r.server, err = httpapi.New(cfg); err != nil {
		t.Fatal(err)
	}
	return r
}

// empty does what the node's consumer does once a game is deleted.
func (r *rig) empty() {
	r.t.Helper()
	service := &hacktracker.Service{Handle: hacktracker.Rows(tableName)}
	if err := r.store.Update(r.t.Context(), service.EmptyAll); err != nil {
		r.t.Fatal(err)
	}
}

// ask sends a request as a user, or without sign-in if who is "-".
func (r *rig) ask(who, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	if who != "-" {
		headers = append(headers, "Authorization", "Bearer "+who)
	}
	w := web.Ask(r.server.Handler(), method, "/hacktracker"+path, body, headers...)
	if r.doc.Check(r.t, method, "/hacktracker"+path, body, w) == "" {
		r.t.Errorf("%s %s is not in the document", method, path)
	}
	return w
}

// want sends a request, checks the answer's status and that its body contains has, and returns the body.
func (r *rig) want(status int, has, who, method, path, body string, headers ...string) map[string]any {
	r.t.Helper()
	w := r.ask(who, method, path, body, headers...)
	if w.Code != status || !strings.Contains(w.Body.String(), has) {
		r.t.Errorf("%s: %s %s %s: %d %s, want %d %s", who, method, path, body, w.Code, w.Body, status, has)
	}
	var out map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &out)
	return out
}

// id returns a member of an answer.
func id(of map[string]any, name string) string { return fmt.Sprint(of[name]) }

// put writes a row as another program does.
func (r *rig) put(row string) {
	r.t.Helper()
	it, err := attr.ParseJSON([]byte(row))
	if err == nil {
		err = r.store.Update(r.t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: tableName, Item: it})
			return err
		})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// remove deletes a row as another program does.
func (r *rig) remove(pk, sk string) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: tableName, Key: attr.Item{"PK": attr.S(pk), "SK": attr.S(sk)}})
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}

// rows returns the rows of a partition by sort key.
func (r *rig) rows(pk string) map[string]attr.Item {
	r.t.Helper()
	out := map[string]attr.Item{}
	if err := r.store.View(r.t.Context(), func(tx *store.Tx) error {
		q := store.Query{Table: tableName, KeyCondition: "PK = :pk"}
		q.Values = attr.Item{":pk": attr.S(pk)}
		for it, err := range tx.QueryAll(q) {
			if err != nil {
				return err
			}
			out[it["SK"].Str()] = it
		}
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// team creates a managed team of owner, with one player for each role, linked to the user of that name.
func (r *rig) team(owner string, roles ...string) (team string, players []string) {
	r.t.Helper()
	team = id(r.want(201, `"role":"owner"`, owner, "POST", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`), "teamId")
	for i, role := range roles {
		r.want(200, "", role, "GET", "/users/context", "")
		p := id(r.want(201, `"isGhost":true`, owner, "POST", "/teams/"+team+"/players", fmt.Sprintf(`{"firstName":"Player","playerNumber":%d}`, i)), "playerId")
		as := ""
		if role == "manager" || role == "scorekeeper" {
			as = `,"role":"` + role + `"`
		}
		r.want(200, `"isGhost":false`, owner, "POST", "/teams/"+team+"/players/"+p+"/link", `{"userId":"`+role+`"`+as+`}`)
		players = append(players, p)
	}
	return team, players
}

// game creates a game in progress with a lineup.
func (r *rig) game(owner, team string, players ...string) string {
	r.t.Helper()
	var slots []string
	for i, p := range players {
		slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, p, i+1))
	}
	body := fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[%s]}`, team, strings.Join(slots, ","))
	return id(r.want(http.StatusCreated, `"IN_PROGRESS"`, owner, "POST", "/games", body), "gameId")
}

func atBat(player, result string, inning, outs, order int) string {
	return fmt.Sprintf(`{"playerId":%q,"result":%q,"inning":%d,"outs":%d,"battingOrder":%d}`, player, result, inning, outs, order)
}

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// deed is a request with its expected answer and its effects on the store: lines of rows that were added (+) or removed (-).
type deed struct {
	as      string // user; "": u1; "key": the API key; "nobody"
	ask     string // "POST /user/follow/7"
	body    string
	status  int
	want    []string
	effects []string
}

// appRig is a server on a store with a live match (7), a finished one (8) and a future one (9).
type appRig struct {
	t      testing.TB
	store  *store.Store
	server *httpapi.Server
	now    time.Time
}

var rigNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func newAppRig(t testing.TB, change ...func(*setup)) *appRig {
	t.Helper()
	r := &appRig{t: t, now: rigNow}
	r.store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"),
		store.Options{NoSync: true, Now: func() time.Time { return r.now }}, tables.All()...)
	teams := []matches.FixtureTeam{{ID: 10, Name: "England", Code: "ENG", Score: "52/1 (6.0)"}, {ID: 42, Name: "India", Code: "IND"}}
	fixture := matches.Fixture{LeagueID: 3, LeagueCode: "WT", LeagueName: "World Trophy", StartTime: rigNow, Type: "T20I", Teams: teams}
	for id, phase := range map[string]cricket.Phase{"7": cricket.PhaseLive, "8": cricket.PhaseCompleted, "9": cricket.PhasePrematch} {
		fixture.MatchID, fixture.Phase, fixture.Status = id, phase, map[string]string{"7": "1st Innings", "8": "Finished", "9": "NS"}[id]
		fixture.ArchivedAt = time.Time{}
		if id == "8" {
			fixture.ArchivedAt = rigNow
		}
		r.put(tables.Fixtures, fixture)
	}
	r.put(tables.ActiveMatches, cricket.State{MatchID: "7", Status: cricket.ActiveLive, MatchPhase: cricket.PhaseLive, InstanceID: "n1", LastTickAt: rigNow.Add(-2 * time.Second)})
	display := scene(t, "t20").Display
	display.MatchID, display.Teams = "7", []cricket.TeamScore{{ID: 10, Code: "ENG", Name: "England", Overs: "6.0"}, {ID: 42, Code: "IND", Name: "India", Overs: "0.0"}}
	state, err := json.Marshal(display)
	if err != nil {
		t.Fatal(err)
	}
	r.put(tables.Display, attr.Item{"cacheKey": attr.S(tables.DisplayKey("7")), "state": attr.S(string(state))})
	cfg := &setup{
		Config: httpapi.Config{Store: r.store, Clock: clock.Real(), Version: "test", Auth: web.ByName{}},
		App:    Config{Service: matches.NewService(r.store, cricket.Options{})},
	}
	for _, f := range change {
		f(cfg)
	}
	r.server = newServer(t, cfg)
	return r
}

// put writes a row: an item, or a struct to marshal.
func (r *appRig) put(table string, v any) {
	r.t.Helper()
	item, ok := v.(attr.Item)
	if !ok {
		var err error
		if item, err = attr.Marshal(v); err != nil {
			r.t.Fatal(err)
		}
	}
	err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: table, Item: item})
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// send sends a request and checks the answer against the document.
func (r *appRig) send(as, ask, body string) *httptest.ResponseRecorder {
	r.t.Helper()
	method, path, _ := strings.Cut(ask, " ")
	req := httptest.NewRequest(method, "/cricket"+path, strings.NewReader(body))
	switch as {
	case "nobody":
	case "key":
		req.Header.Set("X-Api-Key", "key")
	case "":
		req.Header.Set("Authorization", "Bearer u1")
	default:
		req.Header.Set("Authorization", "Bearer "+as)
	}
	w := httptest.NewRecorder()
	checked(r.t, r.server.Handler()).ServeHTTP(w, req)
	return w
}

// rows returns a line for each row that routes may change.
func (r *appRig) rows() (all []string) {
	r.t.Helper()
	short := func(v attr.Value) string { return v.Str()[:min(len(v.Str()), 2)] }
	lines := map[string]func(it attr.Item) string{
		tables.Follows: func(it attr.Item) string {
			team, _ := it["teamId"].Int()
			return fmt.Sprintf("follow %s %s team %d", it["matchId"].Str(), it["userId"].Str(), team)
		},
		tables.Devices: func(it attr.Item) string {
			return fmt.Sprintf("device %s %s id %s start %s", it["userId"].Str(), short(it["deviceToken"]), it["deviceId"].Str(), short(it["pushToStartToken"]))
		},
		tables.LiveActivities: func(it attr.Item) string {
			return strings.TrimSpace(fmt.Sprintf("activity %s %s %s %s %s", it["matchId"].Str(), it["userId#deviceId"].Str(), it["status"].Str(), short(it["updateToken"]), it["endReason"].Str()))
		},
		tables.Leagues: func(it attr.Item) string {
			return fmt.Sprintf("league %s %s active %v marquee %v", it["leagueId"].Str(), it["name"].Str(), it["active"].Bool(), it["marquee"].Bool())
		},
		tables.Teams: func(it attr.Item) string {
			return fmt.Sprintf("team %s %s", it["teamId"].Str(), it["name"].Str())
		},
		tables.FixtureCache: func(it attr.Item) string { return "cached " + it["matchId"].Str() },
	}
	err := r.store.View(r.t.Context(), func(tx *store.Tx) error {
		for table, line := range lines {
			for item, err := range tx.ScanAll(store.Scan{Table: table}) {
				if err != nil {
					return err
				}
				all = append(all, line(item))
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// do runs the deeds in order, and checks their answers and effects.
func (r *appRig) do(deeds []deed) {
	r.t.Helper()
	before := r.rows()
	for _, d := range deeds {
		r.now = r.now.Add(time.Second)
		w := r.send(d.as, d.ask, d.body)
		at := fmt.Sprintf("%s %s %s", d.as, d.ask, d.body)
		if w.Code != d.status {
			r.t.Errorf("%s: %d, want %d: %s", at, w.Code, d.status, w.Body)
		}
		for _, want := range d.want {
			if !strings.Contains(w.Body.String(), want) {
				r.t.Errorf("%s: no %s in %.500s", at, want, w.Body)
			}
		}
		if w.Code == http.StatusNoContent && w.Body.Len() > 0 {
			r.t.Errorf("%s: 204 with a body", at)
		}
		after := r.rows()
		var effects []string
		for _, line := range before {
			if !slices.Contains(after, line) {
				effects = append(effects, "- "+line)
			}
		}
		for _, line := range after {
			if !slices.Contains(before, line) {
				effects = append(effects, "+ "+line)
			}
		}
		if diff := gocmp.Diff(d.effects, effects); diff != "" {
			r.t.Errorf("%s: effects\n%s", at, diff)
		}
		before = after
	}
}

func tokenOf(letter string) string { return strings.Repeat(letter, 64) }

func device(letter, id string) string {
	return fmt.Sprintf(`{"deviceToken":"%s","platform":"ios","deviceId":"%s"}`, tokenOf(letter), id)
}

package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// fakeReplays keeps at most one replay, without playing it.
type fakeReplays struct{ playing []replay.Playing }

func (d *fakeReplays) Recordings() []replay.Info {
	return []replay.Info{{ID: "1144530", Title: "England v New Zealand", Date: "2019-07-14", Type: "ODI", Event: "World Cup", Balls: 612}}
}

func (d *fakeReplays) Start(r replay.StartReplay) (replay.Playing, error) {
	if r.RecordingID != "1144530" {
		return replay.Playing{}, fault.New(fault.NotFound, "tape_not_found", "There is no tape %q.", r.RecordingID)
	}
	if len(d.playing) > 0 {
		return replay.Playing{}, fault.New(fault.Conflict, "replay_exists", "It is being played already.")
	}
	d.playing = []replay.Playing{{ID: "1144530", RecordingID: "1144530", MatchID: "1144530", Title: "England v New Zealand", Status: "playing",
		Balls: 612, MsPerBall: 30_000, Speed: r.Speed, Faults: r.Faults, StartedAt: rigNow}}
	return d.playing[0], nil
}

func (d *fakeReplays) List() []replay.Playing { return d.playing }

func (d *fakeReplays) Control(id string, c replay.Control) (replay.Playing, error) {
	if len(d.playing) == 0 || d.playing[0].ID != id {
		return replay.Playing{}, fault.New(fault.NotFound, "replay_not_found", "There is no replay %q.", id)
	}
	p := &d.playing[0]
	switch c.Action {
	case "pause":
		p.Status = "paused"
	case "play":
		p.Status = "playing"
	case "seek":
		p.Cursor = c.Position
	case "speed":
		p.Speed = c.Speed
	case "faults":
		p.Faults = c.Faults
	}
	return *p, nil
}

func (d *fakeReplays) Remove(id string) error {
	if len(d.playing) == 0 || d.playing[0].ID != id {
		return fault.New(fault.NotFound, "replay_not_found", "There is no replay %q.", id)
	}
	d.playing = nil
	return nil
}

func TestReplayControl(t *testing.T) {
	r := newAppRig(t, func(c *setup) { c.App.Replay = &fakeReplays{} })
	r.do([]deed{
		{as: "key", ask: "GET /admin/replay/tapes", status: 200, want: []string{`"title":"England v New Zealand"`}},
		{as: "u1", ask: "GET /admin/replay/tapes", status: 403, want: []string{"forbidden"}},
		{as: "admin", ask: "GET /admin/replay/matches", status: 200, want: []string{`"items":[]`}},
		{as: "admin", ask: "POST /admin/replay/matches", body: `{"tapeId":"1144530","speed":30,"faults":7}`, status: 201, want: []string{`"speed":30`, `"faults":7`}},
		{as: "admin", ask: "POST /admin/replay/matches", body: `{"tapeId":1144530}`, status: 409},
		{as: "admin", ask: "POST /admin/replay/matches", body: `{"tapeId":"7"}`, status: 404},
		{as: "admin", ask: "POST /admin/replay/matches", body: `{"speed":0,"faults":-1}`, status: 400, want: []string{`"field":"tapeId"`, `"field":"speed"`, `"field":"faults"`}},
		{as: "admin", ask: "GET /admin/replay/matches", status: 200, want: []string{`"status":"playing"`}},
		{as: "admin", ask: "POST /admin/replay/matches/1144530/control", body: `{"action":"pause"}`, status: 200, want: []string{`"paused"`}},
		{as: "admin", ask: "POST /admin/replay/matches/1144530/control", body: `{"action":"seek","position":300}`, status: 200, want: []string{`"cursor":300`}},
		{as: "admin", ask: "POST /admin/replay/matches/1144530/control", body: `{"action":"seek"}`, status: 400, want: []string{`"field":"position"`}},
		{as: "admin", ask: "POST /admin/replay/matches/1144530/control", body: `{"action":"rewind"}`, status: 400, want: []string{`"field":"action"`}},
		{as: "admin", ask: "POST /admin/replay/matches/9/control", body: `{"action":"play"}`, status: 404},
		{as: "admin", ask: "DELETE /admin/replay/matches/1144530", status: 204},
		{as: "admin", ask: "DELETE /admin/replay/matches/1144530", status: 404},
	})
	newAppRig(t).do([]deed{
		{as: "admin", ask: "GET /admin/replay/tapes", status: 404, want: []string{"replay_off"}},
		{as: "admin", ask: "POST /admin/replay/matches", status: 404},
		{as: "admin", ask: "POST /admin/replay/matches/1/control", status: 404},
		{as: "admin", ask: "DELETE /admin/replay/matches/1", status: 404},
	})
}

func TestReferenceData(t *testing.T) {
	r := newAppRig(t)
	r.put(tables.Leagues, reference.LeagueRecord{LeagueID: "3", Name: "World Trophy", Code: "WT", Active: true, Marquee: true})
	r.put(tables.Leagues, reference.LeagueRecord{LeagueID: "5", Name: "Shield", Code: "SS"})
	r.put(tables.Teams, reference.TeamRecord{TeamID: "10", Name: "England", Code: "ENG", NationalTeam: true})
	r.put(tables.TeamSeasons, reference.TeamSeasonRecord{SeasonID: "1600", TeamID: "10", Name: "England", Played: 3, Won: 2, Lost: 1,
		Squad: []reference.SquadPlayer{{ID: "1", Name: "A Batter", Position: "Batsman"}}})
	r.do([]deed{
		{ask: "GET /leagues", status: 200, want: []string{`"id":"3"`, `"id":"5"`, `"cursor":null`}},
		{ask: "GET /leagues/3", status: 200, want: []string{`"marquee":true`}},
		{ask: "GET /leagues/4", status: 404, want: []string{"league_not_found"}},
		{ask: "PATCH /leagues/5", body: `{"active":true}`, status: 403},
		{as: "key", ask: "PATCH /leagues/5", body: `{"active":true,"marquee":true,"name":"The Shield"}`, status: 200, want: []string{`"adminFields":[`},
			effects: []string{"- league 3 World Trophy active true marquee true", "- league 5 Shield active false marquee false",
				"+ league 3 World Trophy active true marquee false", "+ league 5 The Shield active true marquee true"}},
		{as: "key", ask: "PATCH /leagues/5", body: `{}`, status: 400, want: []string{"nothing to change"}},
		{as: "key", ask: "PATCH /leagues/5", body: `{"name":"","active":"yes"}`, status: 400, want: []string{`"field":"name"`, `"field":"active"`}},
		{as: "key", ask: "PATCH /leagues/4", body: `{"active":true}`, status: 404},
		{as: "u1", ask: "DELETE /leagues/5", status: 403},
		{as: "admin", ask: "DELETE /leagues/5", status: 204, effects: []string{"- league 5 The Shield active true marquee true"}},
		{as: "admin", ask: "DELETE /leagues/5", status: 404},
		{ask: "GET /teams", status: 200, want: []string{`"nationalTeam":true`}},
		{ask: "GET /teams/10", status: 200, want: []string{`"code":"ENG"`}},
		{ask: "GET /teams/11", status: 404, want: []string{"team_not_found"}},
		{as: "admin", ask: "PATCH /teams/10", body: `{"name":"England Men"}`, status: 200, effects: []string{"- team 10 England", "+ team 10 England Men"}},
		{as: "admin", ask: "PATCH /teams/11", body: `{"name":"X"}`, status: 404},
		{as: "u1", ask: "PATCH /teams/10", body: `{"name":"X"}`, status: 403},
		{ask: "GET /seasons/1600/teams", status: 200, want: []string{`"won":2`, `"name":"A Batter"`}},
		{ask: "GET /seasons/1/teams", status: 200, want: []string{`"items":[]`}},
		{ask: "GET /matches?league=3", status: 200, want: []string{`"id":"7"`, `"id":"9"`}}, // by id
		{ask: "GET /matches?league=WT&status=live", status: 200, want: []string{`"id":"7"`}},
		{ask: "GET /matches?league=77", status: 200, want: []string{`"items":[]`}},
	})
}

func TestLiveMatchesAndHealth(t *testing.T) {
	newAppRig(t).do([]deed{
		{ask: "GET /matches/live", status: 200, want: []string{`{"matches":[{"id":"7","status":"1st Innings","league":"World Trophy","score":"ENG 52/1 (6.0) v IND"}]}`}},
		{ask: "GET /matches/7/display?teamId=42", status: 200, want: []string{`"teams":[{"id":42`}},
		{ask: "GET /matches/7/display", status: 200, want: []string{`"teams":[{"id":10`}},
		{ask: "GET /matches/7/display?teamId=43", status: 400, want: []string{`"field":"teamId"`}},
		{ask: "GET /matches/7/display?teamId=x", status: 400, want: []string{`"field":"teamId"`}},
		{ask: "GET /matches/9/display", status: 404},
		{ask: "HEAD /matches/7/display", status: 200},
		{as: "nobody", ask: "GET /matches/live", status: 401},
		{as: "nobody", ask: "GET /app/config", status: 200, want: []string{`{"minAppVersion":"","storeUrl":"","maintenanceMode":false}`}},
		{as: "nobody", ask: "GET /health", status: 200, want: []string{`{"status":"ok"}`}},
		{as: "nobody", ask: "GET /health/ready", status: 200, want: []string{`{"status":"ready"}`}},
		{as: "nobody", ask: "GET /", status: 200, want: []string{"sightscreen"}},
	})
	newAppRig(t, func(c *setup) {
		c.Ready = func(context.Context) []operator.Check {
			return []operator.Check{{Name: "store", Err: errors.New("read-only")}}
		}
		c.App.Info = AppInfo{MinVersion: "2.1", StoreURL: "https://apps.example/1", Maintenance: true}
	}).do([]deed{
		{as: "nobody", ask: "GET /health/ready", status: 503, want: []string{`"code":"not_ready"`}},
		{as: "nobody", ask: "GET /app/config", status: 200, want: []string{`"minAppVersion":"2.1"`, `"maintenanceMode":true`}},
	})
}

// notices is a Notifier that records notices.
type notices struct {
	sent []Notice
	fail error
}

func (n *notices) Notify(_ context.Context, one Notice) (int, error) {
	n.sent = append(n.sent, one)
	return 2, n.fail
}

func TestNotifications(t *testing.T) {
	n := &notices{}
	r := newAppRig(t, func(c *setup) { c.App.Notifier, c.App.MultiDevice = n, true })
	const push = "POST /admin/notifications/push"
	r.do([]deed{
		{as: "admin", ask: push, body: `{"matchId":"7","title":"Rain","body":"Covers are on."}`, status: 202, want: []string{`{"matchId":"7","phones":2,"alert":true}`}},
		{as: "key", ask: push, body: `{"matchId":7}`, status: 400, want: []string{`"field":"body"`}},
		{as: "key", ask: push, body: `{"matchId":7,"title":"Rain","body":"Covers are on.","userIds":["u1"]}`, status: 202, want: []string{`"alert":true`}},
		{as: "key", ask: push, body: `{"matchId":7,"body":"Covers are on."}`, status: 400, want: []string{`"field":"body"`}},
		{as: "key", ask: push, body: `{"matchId":"7","title":"Rain"}`, status: 400, want: []string{`"field":"body"`}},
		{as: "key", ask: push, body: `{"userIds":[],"title":7}`, status: 400, want: []string{`"field":"matchId"`, `"field":"userIds"`, `"field":"title"`}},
		{as: "key", ask: push, body: `{"matchId":"777","title":"Rain","body":"Covers are on."}`, status: 404},
		{as: "u1", ask: push, body: `{"matchId":"7"}`, status: 403},
		{ask: "POST /devices", body: device("a", "d1"), status: 201, effects: []string{"+ device u1 aa id d1 start "}},
		{as: "u2", ask: "POST /devices", body: `{"platform":"ios","deviceToken":"` + tokenOf("b") + `","osVersion":"18.1"}`, status: 201,
			effects: []string{"+ device u2 bb id " + tokenOf("b") + " start "}},
		{as: "key", ask: "GET /admin/notifications/users", status: 200, want: []string{`"userId":"u1","deviceId":"d1"`, `"userId":"u2","deviceId":""`, `"osVersion":"18.1"`}},
		{as: "key", ask: "GET /admin/notifications/users?cursor=!", status: 400, want: []string{"bad_cursor"}},
		{as: "key", ask: "GET /admin/notifications/users?cursor=e30", status: 400, want: []string{"bad_cursor"}},
		{as: "key", ask: "GET /admin/notifications/users?cursor=eyJhIjp7IlMiOiJ4In19", status: 400, want: []string{"bad_cursor"}},
		{as: "key", ask: "GET /admin/notifications/users?limit=0", status: 400, want: []string{`"field":"limit"`}},
		{as: "u1", ask: "GET /admin/notifications/users", status: 403},
	})
	if len(n.sent) != 2 || n.sent[0].Title != "Rain" || !slices.Equal(n.sent[1].UserIDs, []string{"u1"}) {
		t.Errorf("sent %+v", n.sent)
	}
	for _, path := range []string{"users", "subscriptions"} {
		if body := r.send("key", "GET /admin/notifications/"+path, "").Body.String(); strings.Contains(body, tokenOf("a")) || strings.Contains(body, tokenOf("b")) {
			t.Errorf("%s shows tokens: %s", path, body)
		}
	}
	newAppRig(t).do([]deed{{as: "key", ask: push, body: `{"matchId":"7","title":"Rain","body":"Covers are on."}`, status: 503, want: []string{"push_not_configured"}}})
}

// Reading a list page by page with its cursor gives every item once.
func TestCursorWalk(t *testing.T) {
	r := newAppRig(t)
	want := map[string]bool{}
	for _, user := range []string{"a", "b", "c", "d", "e"} {
		if w := r.send(user, "POST /devices", device(user, "d-"+user)); w.Code != http.StatusCreated {
			t.Fatal(w.Body)
		}
		want[user] = true
	}
	next, pages := "", 0
	for {
		w := r.send("key", "GET /admin/notifications/users?limit=2&cursor="+next, "")
		var page httpapi.List[reachable]
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		pages++
		for _, d := range page.Items {
			if !want[d.UserID] {
				t.Errorf("%s is listed twice, or unknown", d.UserID)
			}
			delete(want, d.UserID)
		}
		if page.Cursor == nil {
			break
		}
		next = *page.Cursor
	}
	if len(want) > 0 || pages < 3 {
		t.Errorf("after %d pages %v are missing", pages, want)
	}
}

func TestFeedCache(t *testing.T) {
	r := newAppRig(t)
	err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		for _, id := range []string{"7", "9"} {
			f := matches.CachedFixture{MatchID: id, LeagueID: map[string]string{"7": "3", "9": "5"}[id], StartingAt: rigNow, Status: "1st Innings",
				CachedAt: rigNow, TTL: rigNow.Unix() + 3600, Raw: []byte(`{"id":` + id + `}`)}
			if err := (matches.FixtureCache{}).Put(tx, &f, matches.Owner{Node: "n1", Fence: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.do([]deed{
		{as: "key", ask: "GET /admin/sportmonks/fixtures", status: 200, want: []string{`"id":"7"`, `"id":"9"`}},
		{as: "key", ask: "GET /admin/sportmonks/fixtures?leagueId=5", status: 200, want: []string{`"items":[{"id":"9"`}},
		{as: "key", ask: "GET /admin/sportmonks/fixtures?matchId=7", status: 200, want: []string{`"reply":{"id":7}`}},
		{as: "key", ask: "GET /admin/sportmonks/fixtures?matchId=77", status: 200, want: []string{`"items":[]`}},
		{as: "key", ask: "GET /admin/sportmonks/fixtures?matchId=7&leagueId=3", status: 400},
		{as: "u1", ask: "GET /admin/sportmonks/fixtures", status: 403},
		{as: "key", ask: "GET /admin/cache/stats", status: 200, want: []string{`"fixtures":{"entries":2,"fresh":2`, `"displays":{"entries":1,`}},
		{as: "key", ask: "POST /admin/cache/clear", body: `{"matchId":7}`, status: 200, want: []string{`{"cleared":1}`}, effects: []string{"- cached 7"}},
		{as: "key", ask: "POST /admin/cache/clear", body: `{"matchId":"7"}`, status: 200, want: []string{`{"cleared":0}`}},
		{as: "key", ask: "POST /admin/cache/clear", status: 200, want: []string{`{"cleared":1}`}, effects: []string{"- cached 9"}},
		{as: "u1", ask: "POST /admin/cache/clear", status: 403},
		{ask: "GET /matches/7/display", status: 200}, // the display is not a cached reply of the feed
	})
}

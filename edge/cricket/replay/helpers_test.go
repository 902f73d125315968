package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	longest     = "1086066" // the match with the most balls
	allIncludes = "localteam,visitorteam,league,season,stage,venue,runs,batting,bowling,scoreboards,lineup,balls," +
		"tosswon,winnerteam"
)

// hand is a clock set by hand.
type hand struct{ now time.Time }

func (h *hand) Now() time.Time                                       { return h.now }
func (h *hand) Wall() time.Time                                      { return h.now }
func (h *hand) Wait(context.Context, time.Time, *clock.Signal) error { return nil }
func (h *hand) Join() (leave func())                                 { return func() {} }
func (h *hand) Suspend(f func())                                     { f() }

func mustLoad(t testing.TB, id string) *Match {
	t.Helper()
	m, err := Load(id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// desk calls a feed at chosen instants.
type desk struct {
	t testing.TB
	m *Match
	h *hand
	f http.Handler
}

// looped returns the recordings for slow tests: all of them, or with -short the shortest of each format.
func looped() []Info {
	all := slices.Clone(List())
	if !testing.Short() {
		return all
	}
	slices.SortStableFunc(all, func(a, b Info) int { return cmp.Compare(a.Balls, b.Balls) })
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(in Info) bool {
		another := seen[in.Type]
		seen[in.Type] = true
		return another
	})
}

func newDesk(t testing.TB, id string) *desk {
	m := mustLoad(t, id)
	h := &hand{now: m.Start()}
	return &desk{t: t, m: m, h: h, f: NewFeed(m, h, "secret", 0)}
}

// get sends a request at an instant; header has pairs of names and values.
func (d *desk) get(at time.Time, target string, header ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	d.h.now = at
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodGet, "/api/v2.0"+target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.f.ServeHTTP(w, r)
	return w
}

// fixture requests the match with all includes.
func (d *desk) fixture(at time.Time) *seenFixture {
	d.t.Helper()
	w := d.get(at, "/fixtures/"+d.m.rec.ID+"?api_token=secret&include="+allIncludes)
	var env struct{ Data *seenFixture }
	d.decode(w.Body.Bytes(), &env)
	return env.Data
}

func (d *desk) decode(body []byte, into any) {
	d.t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		d.t.Fatalf("%v in %.200s", err, body)
	}
}

// seenFixture is a reply as a client decodes it.
type seenFixture struct {
	Status, Note string
	Winner       int64         `json:"winner_team_id"`
	Draw         *string       `json:"draw_noresult"`
	TossWon      int64         `json:"toss_won_team_id"`
	BestPlayer   int64         `json:"man_of_match_id"`
	SuperOver    bool          `json:"super_over"`
	FollowOn     bool          `json:"follow_on"`
	Local        seenTeam      `json:"localteam"`
	Visitor      seenTeam      `json:"visitorteam"`
	WinnerTeam   *seenTeam     `json:"winnerteam"`
	Lineup       []seenPlayer  `json:"lineup"`
	Runs         []seenRuns    `json:"runs"`
	Batting      []seenBatting `json:"batting"`
	Bowling      []seenBowling `json:"bowling"`
	Scoreboards  []seenExtras  `json:"scoreboards"`
	Balls        []seenBall    `json:"balls"`
}

type seenTeam struct {
	ID         int64
	Name, Code string
}

type seenPlayer struct {
	ID       int64
	Fullname string
	Lineup   struct {
		Team  int64 `json:"team_id"`
		Subst bool  `json:"substitution"`
	}
}

type seenRuns struct {
	ID             int64
	Team           int64 `json:"team_id"`
	Inning         int
	Score, Wickets int
	Overs          json.Number
	PP1            *string
	UpdatedAt      time.Time `json:"updated_at"`
}

type seenBatting struct {
	ID         int64
	Scoreboard string
	Player     int64 `json:"player_id"`
	Wicket     int   `json:"wicket_id"`
	Ball       int
	Score      int
	Four       int         `json:"four_x"`
	Six        int         `json:"six_x"`
	Catch      int64       `json:"catch_stump_player_id"`
	RunOut     int64       `json:"runout_by_id"`
	Bowler     int64       `json:"bowling_player_id"`
	FowScore   int         `json:"fow_score"`
	FowBalls   json.Number `json:"fow_balls"`
}

type seenBowling struct {
	ID         int64
	Scoreboard string
	Player     int64 `json:"player_id"`
	Overs      json.Number
	Medians    int
	Runs       int
	Wickets    int
	Wide       int
	Noball     int
}

type seenExtras struct {
	Type, Scoreboard string
	Wide             int
	NoballRuns       int `json:"noball_runs"`
	Bye              int
	LegBye           int `json:"leg_bye"`
	Penalty          int
	Total            int
	Overs            json.Number
	Wickets          int
}

type seenBall struct {
	ID         int64
	Ball       json.Number
	Scoreboard string
	Team       seenTeam
	One        int64 `json:"batsman_one_on_creeze_id"`
	Two        int64 `json:"batsman_two_on_creeze_id"`
	Batsman    int64 `json:"batsman_id"`
	Bowler     int64 `json:"bowler_id"`
	Out        int64 `json:"batsmanout_id"`
	Catch      int64 `json:"catchstump_id"`
	RunOut     int64 `json:"runout_by_id"`
	ScoreID    int64 `json:"score_id"`
	Score      seenScore
	UpdatedAt  time.Time `json:"updated_at"`
}

type seenScore struct {
	ID         int64
	Name       string
	Runs       int
	Four, Six  bool
	Bye        int
	LegBye     int `json:"leg_bye"`
	Noball     int
	NoballRuns int  `json:"noball_runs"`
	IsWicket   bool `json:"is_wicket"`
	Ball, Out  bool
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := "testdata/" + file
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if the new text is right, run go test -update\n%s", path, got)
	}
}

package sportmonks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/fault"
)

func TestLeagues(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":[
		{"resource":"leagues","id":3,"season_id":1715,"country_id":99474,"name":"Twenty20  International","code":"T20I",
		 "image_path":"https://cdn.example/3.png","type":"phase","updated_at":"2026-01-03T08:07:05.000000Z","more":[1]},
		{"resource":"leagues","id":"5","season_id":null,"name":null},
		{"id":{}},{"name":"nobody"}]}`))
	got, err := f.client.Leagues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []reference.LeagueRecord{
		{LeagueID: "3", Name: "Twenty20 International", Code: "T20I", Type: "phase", ImagePath: "https://cdn.example/3.png",
			CountryID: "99474", SeasonID: "1715", UpdatedAt: time.Date(2026, 1, 3, 8, 7, 5, 0, time.UTC)},
		{LeagueID: "5"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if path := f.request(0).URL.Path; path != "/leagues" {
		t.Errorf("requested %s", path)
	}
	if n := f.client.Oddities()[sportmonks.OddSkippedRecord]; n != 2 {
		t.Errorf("%d records were counted as skipped, want 2", n)
	}
}

func TestSeasons(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":[{"resource":"seasons","id":1715,"league_id":3,"name":2026,"code":"2026"}],
		"meta":{"current_page":1,"last_page":2}}`),
		answer(200, `{"data":[{"id":1716,"league_id":5,"name":"2025/26"}],"meta":{"current_page":2,"last_page":2}}`))
	got, err := f.client.Seasons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []reference.SeasonRecord{{SeasonID: "1715", LeagueID: "3", Name: "2026", Code: "2026"},
		{SeasonID: "1716", LeagueID: "5", Name: "2025/26"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first, second := f.request(0).URL, f.request(1).URL; first.Path != "/seasons" || second.Query().Get("page") != "2" {
		t.Errorf("requested %s, %s", first.Path, second.Query().Get("page"))
	}
}

func TestTeams(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":[{"resource":"teams","id":39,"name":"Sri Lanka","code":"SL",
		"image_path":"https://cdn.example/39.png","country_id":190324,"national_team":true,
		"updated_at":"2024-10-23T13:45:53.000000Z"},{"id":40,"name":"Forty","national_team":false}],"links":{"next":null}}`))
	got, err := f.client.Teams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []reference.TeamRecord{
		{TeamID: "39", Name: "Sri Lanka", Code: "SL", ImagePath: "https://cdn.example/39.png", CountryID: "190324",
			NationalTeam: true, UpdatedAt: time.Date(2024, 10, 23, 13, 45, 53, 0, time.UTC)},
		{TeamID: "40", Name: "Forty"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSquad(t *testing.T) {
	const player = `{"resource":"players","id":270,"firstname":"Sahibzada","lastname":"Farhan","fullname":"Sahibzada Farhan",
		"battingstyle":"right-hand-bat","bowlingstyle":null,"position":{"resource":"positions","id":3,"name":"Wicketkeeper"},
		"squad":{"season_id":1715}}`
	farhan := reference.SquadPlayer{ID: "270", Name: "Sahibzada Farhan", Position: "Wicketkeeper", BattingStyle: "right-hand-bat"}
	tests := []struct {
		name, body string
		want       []reference.SquadPlayer
		skipped    int64
	}{
		{"within the team", `{"data":{"resource":"teams","id":1,"name":"Pakistan","squad":[` + player + `]}}`,
			[]reference.SquadPlayer{farhan}, 0},
		{"wrapped", `{"data":{"resource":"teams","id":1,"squad":{"data":[` + player + `]}}}`, []reference.SquadPlayer{farhan}, 0},
		{"a bare list", `{"data":[` + player + `,{"id":271,"firstname":"A","lastname":"B"}]}`,
			[]reference.SquadPlayer{farhan, {ID: "271", Name: "A B"}}, 0},
		{"twice", `{"data":{"resource":"teams","id":1,"squad":[` + player + `,` + player + `]}}`, []reference.SquadPlayer{farhan}, 0},
		{"some cannot be decoded", `{"data":{"resource":"teams","id":1,"squad":[{"id":[]},{"id":"x"},{"fullname":"Nobody"},` + player + `]}}`,
			[]reference.SquadPlayer{farhan}, 3},
		{"no players", `{"data":{"resource":"teams","id":1,"squad":[]}}`, nil, 0},
		{"null squad", `{"data":{"resource":"teams","id":1,"squad":null}}`, nil, 0},
		{"a team without the field", `{"data":{"resource":"teams","id":1}}`, nil, 0},
		{"an empty list", `{"data":[]}`, nil, 0},
		{"null", `{"data":null}`, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(t, answer(200, tt.body))
			got, err := f.client.Squad(t.Context(), "1", "1715")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if path := f.request(0).URL.Path; path != "/teams/1/squad/1715" {
				t.Errorf("requested %s", path)
			}
			if n := f.client.Oddities()[sportmonks.OddSkippedRecord]; n != tt.skipped {
				t.Errorf("%d counted as skipped, want %d", n, tt.skipped)
			}
		})
	}
}

func TestSquadErrors(t *testing.T) {
	f := newFeed(t, answer(404, ""))
	_, err := f.client.Squad(t.Context(), "1", "9")
	wantError(t, err, fault.NotFound, sportmonks.CodeNotFound)
	for _, ids := range [][2]string{{"", "9"}, {"1", ""}, {"../1", "9"}, {"1", "9?x=y"}, {"+1", "9"}, {"0", "9"}, {"1", "-9"}} {
		_, err := f.client.Squad(t.Context(), ids[0], ids[1])
		wantError(t, err, fault.Invalid, sportmonks.CodeBadRequest)
	}
	if f.asked() != 1 {
		t.Errorf("called %d times", f.asked())
	}
}

// The client stops reading an endless list after a hundred pages, and counts that.
func TestEndlessPages(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":[{"id":3,"name":"x"}],"links":{"next":"again"}}`))
	got, err := f.client.Teams(t.Context())
	if err != nil || len(got) != 100 || f.asked() != 100 {
		t.Errorf("%d teams in %d requests, %v", len(got), f.asked(), err)
	}
	if n := f.client.Oddities()[sportmonks.OddEndlessPages]; n != 1 {
		t.Errorf("counted %d times", n)
	}
}

// A page on which no match can be decoded is not taken for the last one.
func TestUnreadablePageIsNotTheLast(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":[{"id":"x"}],"meta":{"current_page":1,"last_page":2}}`),
		answer(200, `{"data":[{"id":5,"starting_at":"2026-10-09T13:00:00.000000Z"}],"meta":{"current_page":2,"last_page":2}}`))
	got, err := f.client.Fixtures(t.Context(), start(), start())
	if err != nil || len(got) != 1 || got[0].MatchID != "5" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Broken answers for lists are errors, as they are for matches.
func TestBrokenLists(t *testing.T) {
	tests := []struct {
		name   string
		script http.HandlerFunc
		kind   fault.Kind
		code   string
		odd    string
	}{
		{"HTML", answer(200, "<html>"), fault.Unavailable, sportmonks.CodeNotJSON, sportmonks.OddHTML},
		{"an empty body", answer(200, ""), fault.Unavailable, sportmonks.CodeNotJSON, sportmonks.OddEmpty},
		{"an array", answer(200, "[]"), fault.Unavailable, sportmonks.CodeNotJSON, sportmonks.OddNotJSON},
		{"truncated", answer(200, `{"data":[{"id":3`), fault.Unavailable, sportmonks.CodeBadJSON, sportmonks.OddTruncated},
		{"a message", answer(200, `{"message":"x"}`), fault.Unavailable, sportmonks.CodeBadJSON, sportmonks.OddBadJSON},
		{"a syntax error", answer(200, `{"data":[}`), fault.Unavailable, sportmonks.CodeBadJSON, sportmonks.OddBadJSON},
		{"redirect", answer(301, ""), fault.Unavailable, sportmonks.CodeNotJSON, sportmonks.OddRedirect},
		{"429", answer(429, "", "Retry-After", "60"), fault.Throttled, sportmonks.CodeThrottled, sportmonks.OddThrottled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(t, tt.script)
			_, err := f.client.Leagues(t.Context())
			wantError(t, err, tt.kind, tt.code)
			if n := f.client.Oddities()[tt.odd]; n != 1 {
				t.Errorf("oddities %v", f.client.Oddities())
			}
		})
	}
}

package sportmonks_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
)

// A recorded match is read through the client every 40 seconds. In every snapshot the balls of an innings, as decoded here,
// add up to the feed's own score line. The match was tied, and so was its super over; with -short it is a T20 instead.
func TestBallsReconcileWithTheScoreLines(t *testing.T) {
	id := "1144530"
	if testing.Short() {
		id = "1192877"
	}
	playMatch(t, id)
}

func playMatch(t *testing.T, id string) {
	t.Helper()
	m, err := replay.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.NewStepped(m.Start())
	defer c.Join()()
	server := httptest.NewServer(replay.NewFeed(m, c, token, 0))
	defer server.Close()
	client := newClient(t, sportmonks.Config{BaseURL: server.URL + "/api/v2.0", Clock: c})
	readings := 0
	for c.Now().Before(m.End()) {
		r, err := client.Fixture(t.Context(), id, true)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Unchanged {
			readings++
			reconcile(t, &r.Snapshots[0])
		}
		if err := clock.Sleep(t.Context(), c, 40*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if readings < 10 {
		t.Errorf("only %d readings", readings)
	}
	if odd := client.Oddities(); len(odd) != 0 {
		t.Errorf("oddities of a feed without any: %v", odd)
	}
}

// The replay's lists can be read, and their ids and names are those in the matches.
func TestReferenceOfAReplay(t *testing.T) {
	m, err := replay.Load("1144530")
	if err != nil {
		t.Fatal(err)
	}
	c := clock.NewStepped(m.End())
	server := httptest.NewServer(replay.NewFeed(m, c, token, 0))
	defer server.Close()
	client := newClient(t, sportmonks.Config{BaseURL: server.URL + "/api/v2.0", Clock: c})
	r, err := client.Fixture(t.Context(), "1144530", false)
	if err != nil {
		t.Fatal(err)
	}
	s := &r.Snapshots[0]
	fixtures, err := client.Fixtures(t.Context(), s.StartsAt.Add(-time.Hour), s.StartsAt.Add(time.Hour))
	if err != nil || len(fixtures) != 1 || fixtures[0].MatchID != s.MatchID {
		t.Errorf("fixtures %+v, %v", fixtures, err)
	}
	leagues, err := client.Leagues(t.Context())
	if err != nil || len(leagues) != 1 || leagues[0].LeagueID != fmt.Sprint(s.League.ID) || leagues[0].Name != s.League.Name {
		t.Errorf("leagues %+v, %v; the match's is %+v", leagues, err, s.League)
	}
	season := fmt.Sprint(s.SeasonID)
	seasons, err := client.Seasons(t.Context())
	if err != nil || len(seasons) != 1 || seasons[0].SeasonID != season || seasons[0].LeagueID != leagues[0].LeagueID {
		t.Errorf("seasons %+v, %v; the match's is %s", seasons, err, season)
	}
	teams, err := client.Teams(t.Context())
	if err != nil || len(teams) < 2 {
		t.Fatalf("teams %+v, %v", teams, err)
	}
	players := 0
	for _, team := range s.Teams {
		i := slices.IndexFunc(teams, func(r reference.TeamRecord) bool { return r.TeamID == fmt.Sprint(team.ID) })
		if i < 0 || teams[i].Name != team.Name || teams[i].Code != team.Code {
			t.Errorf("teams %+v lack %+v", teams, team)
		}
		squad, err := client.Squad(t.Context(), fmt.Sprint(team.ID), season)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range squad {
			id, _ := strconv.ParseInt(p.ID, 10, 64)
			if p.Name == "" || s.Players[id].Full != p.Name {
				t.Errorf("%+v is called %+v in the match", p, s.Players[id])
			}
		}
		players += len(squad)
	}
	if players != s.LineUp || players < 22 {
		t.Errorf("%d players in the squads, %d in the line-ups", players, s.LineUp)
	}
	if odd := client.Oddities(); len(odd) != 0 {
		t.Errorf("oddities of a feed without any: %v", odd)
	}
}

func reconcile(t *testing.T, s *cricket.Snapshot) {
	t.Helper()
	runs, wickets, legal := map[int]int{}, map[int]int{}, map[int]int{}
	for i := range s.Balls {
		b := &s.Balls[i]
		runs[b.Innings] += b.Total()
		if b.Wicket {
			wickets[b.Innings]++
		}
		if b.Legal() {
			legal[b.Innings]++
		}
		if s.Players[b.BatterID].Last == "" || s.Players[b.BowlerID].Last == "" {
			t.Fatalf("ball %d: batter %d or bowler %d has no name", b.ID, b.BatterID, b.BowlerID)
		}
	}
	for _, in := range s.Innings {
		if runs[in.No]+in.Penalty != in.Runs || wickets[in.No] > in.Wickets || wickets[in.No] < in.Wickets-1 {
			t.Fatalf("innings %d at %v: balls give %d and %d penalty for %d, the score line %d for %d", in.No, s.ReadAt,
				runs[in.No], in.Penalty, wickets[in.No], in.Runs, in.Wickets)
		}
		bpo := s.BallsPerOver()
		if overs := fmt.Sprintf("%d.%d", legal[in.No]/bpo, legal[in.No]%bpo); overs != in.Overs {
			t.Fatalf("innings %d at %v: %s overs by the balls, %s by the line", in.No, s.ReadAt, overs, in.Overs)
		}
	}
}

package page

import (
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/sync/lease"
)

// Changes that turn one recorded moment into another state.

func phase(p cricket.Phase, status, note string) func(*Input) {
	return func(in *Input) {
		in.Display.Phase, in.Display.Status, in.Display.Note = p, status, note
		in.Fixture.Phase, in.Fixture.Status = p, status
	}
}

func preMatch(in *Input) {
	start := in.Fixture.StartTime
	teams := slices.Clone(in.Display.Teams)
	for i := range teams {
		teams[i] = cricket.TeamScore{ID: teams[i].ID, Name: teams[i].Name, Code: teams[i].Code, Overs: "0.0"}
	}
	in.Display = cricket.Display{
		MatchID: in.Display.MatchID, League: in.Display.League, Phase: cricket.PhasePrematch, Status: "NS",
		Teams: teams, UpdatedAt: start.Add(-42 * time.Minute),
	}
	in.Fixture.Phase, in.Fixture.Status = cricket.PhasePrematch, "NS"
	in.Fixture.Teams = slices.Clone(in.Fixture.Teams)
	for i := range in.Fixture.Teams {
		in.Fixture.Teams[i].Score = ""
	}
	in.Card.Innings, in.Events, in.Phones = nil, nil, nil
	in.Node.Clock.Now = start.Add(-42 * time.Minute)
}

// firstInnings returns to the end of the first innings.
func firstInnings(in *Input) {
	d := &in.Display
	first := d.Innings[0]
	d.Innings = d.Innings[:1]
	d.Teams = slices.Clone(d.Teams)
	d.Teams[0], d.Teams[1] = d.Teams[1], d.Teams[0]
	d.Teams[0].Batting, d.Teams[0].Batted = true, true
	d.Teams[0].Runs, d.Teams[0].Wickets, d.Teams[0].Overs = first.Runs, first.Wickets, first.Overs
	d.Teams[1] = cricket.TeamScore{ID: d.Teams[1].ID, Name: d.Teams[1].Name, Code: d.Teams[1].Code, Overs: "0.0"}
	d.Target, d.Required, d.RequiredRate, d.BallsLeft, d.Equation = 0, 0, "", 0, ""
	d.RunRate, d.Batters, d.Bowler, d.Partnership = "4.82", nil, nil, nil
	in.Card.Innings = in.Card.Innings[:1]
	in.Events = slices.DeleteFunc(in.Events, func(e cricket.Event) bool { return e.Innings > 1 })
	last := in.Events[len(in.Events)-1]
	d.KeyEvent = &cricket.KeyEvent{Key: last.Key, Type: string(last.Type), Text: last.Text, At: last.At}
	in.Node.Clock.Now = last.At.Add(20 * time.Second)
	in.Phones = scenePhones(in)
}

func inningsBreak(in *Input) {
	phase(cricket.PhaseInningsBreak, "Innings Break", "")(in)
	in.Display.Equation = "ENG need 242"
}

// afterSix stops the first innings in its 34th over.
func afterSix(in *Input) {
	d, card := &in.Display, &in.Card.Innings[0]
	overs := slices.Clone(card.Overs[:33])
	runs, down := 0, 0
	for _, o := range overs {
		runs, down = runs+o.Runs, down+o.Wickets
	}
	in.Card.Innings = []cricket.CardInnings{*card}
	in.Card.Innings[0].Overs = append(overs, cricket.CardOver{No: 34, Runs: 6, Bowler: "Plunkett", Balls: "6"})
	d.Innings = slices.Clone(d.Innings)
	d.Innings[0].Runs, d.Innings[0].Wickets, d.Innings[0].Overs = runs+6, down, "33.1"
	d.Teams[0].Runs, d.Teams[0].Wickets, d.Teams[0].Overs = runs+6, down, "33.1"
	d.BallsLeft, d.RunRate = 101, "4.28"
	d.Batters = []cricket.Batter{
		{Name: "Neesham", Runs: 16, Balls: 14, Fours: 1, Sixes: 1, StrikeRate: "114.29", OnStrike: true},
		{Name: "Latham", Runs: 9, Balls: 18, StrikeRate: "50.00"},
	}
	d.Bowler = &cricket.Bowler{Name: "Plunkett", Overs: "7.1", Runs: 34, Wickets: 2}
	d.Partnership = &cricket.Stand{Runs: 16, Balls: 20}
	in.Events = slices.DeleteFunc(in.Events, func(e cricket.Event) bool { return e.Type == cricket.EventInningsEnd })
	d.KeyEvent = &cricket.KeyEvent{Key: "6:1:1:1", Type: "six", Text: "SIX! Neesham · NZ 142/3 (33.1)", At: d.UpdatedAt}
}

func endActivities(in *Input) {
	for i := range in.Phones {
		shown := &in.Phones[i].Activities[0]
		shown.Ended, shown.Stale = true, false
	}
}

func silent(in *Input) {
	in.Node.Feed.AgeSeconds, in.Node.Feed.LastAnswer = 107, "timeout"
	in.Node.Clock.Now = in.Node.Clock.Now.Add(105 * time.Second)
}

func offline(in *Input) {
	in.Node.Role, in.Node.Lease = "observer", lease.Status{}
	in.Node.Cloud = operator.CloudStatus{State: "offline", Since: in.Node.Clock.Now.Add(-26 * time.Minute), Waiting: 12, Conflicts: 2, LastError: "connection refused"}
	in.Node.Clock.Speed = "real"
}

// noBalls is a feed without balls, with teams without known colours.
func noBalls(in *Input) {
	in.Card.Innings = slices.Clone(in.Card.Innings)
	for i := range in.Card.Innings {
		in.Card.Innings[i].Overs = nil
	}
	in.Display.Teams = slices.Clone(in.Display.Teams)
	in.Fixture.Teams = slices.Clone(in.Fixture.Teams)
	names := [2][2]string{{"Little Snoring Cricket Club", "LSN"}, {"Great Walsingham and District", "GWD"}}
	for i := range names {
		in.Fixture.Teams[i].Name, in.Fixture.Teams[i].Code = names[i][0], names[i][1]
		in.Display.Teams[i].Name, in.Display.Teams[i].Code = names[i][0], names[i][1]
	}
	in.Display.KeyEvent, in.Events, in.Phones = nil, nil, nil
}

// superOverBreak is the break in a super over: the second side is about to bat.
func superOverBreak(in *Input) {
	d := &in.Display
	d.Innings = slices.Clone(d.Innings[:3])
	d.Innings[2].TeamID, d.Innings[2].Runs, d.Innings[2].Overs = d.Teams[0].ID, 13, "1.0"
	d.Target, d.Required, d.RequiredRate, d.BallsLeft, d.Equation = 0, 0, "", 0, ""
	d.Batters, d.Partnership = nil, nil
	in.Card.Innings = in.Card.Innings[:2]
	phase(cricket.PhaseInningsBreak, "Innings Break", "")(in)
	d.Equation = "ENG need 14 to win the super over"
}

// sceneReplays returns a running replay, a paused one, and a finished one.
func sceneReplays() *ReplayInput {
	recordings := []replay.Info{
		{ID: "1144530", Title: "England v New Zealand", Date: "2019-07-14", Type: "ODI", Event: "ICC Cricket World Cup", Why: "tied, a tied super over, decided by boundaries", Balls: 612},
		{ID: "1152849", Title: "England v Australia", Date: "2019-08-22", Type: "Test", Event: "The Ashes", Why: "one wicket left, 73 to get", Balls: 1812},
		{ID: "1343760", Title: "Malawi v Cameroon", Date: "2022-11-17", Type: "T20I", Balls: 180},
	}
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	return &ReplayInput{Recordings: recordings, Playing: []replay.Playing{
		{ID: "1", RecordingID: recordings[0].ID, MatchID: recordings[0].ID, Title: recordings[0].Title, Status: "playing", Cursor: 214, Balls: 612, Speed: 30, Faults: 7, StartedAt: at},
		{ID: "2", RecordingID: recordings[1].ID, MatchID: recordings[1].ID, Title: recordings[1].Title, Status: "paused", Cursor: 1700, Balls: 1812, Speed: 0.5, StartedAt: at},
		{ID: "3", RecordingID: recordings[2].ID, MatchID: recordings[2].ID, Title: recordings[2].Title, Status: "finished", Cursor: 180, Balls: 180, Speed: 1000, StartedAt: at},
		{ID: "4", RecordingID: recordings[2].ID, MatchID: recordings[2].ID, Title: recordings[2].Title, Status: "stopped", Cursor: 60, Balls: 180, Speed: 5, Faults: 3, StartedAt: at},
	}}
}

func sceneOperator() *page.OperatorInput {
	return &page.OperatorInput{At: "12:00:07", Problems: []string{
		"The feed fails at fixtures; it is not called until 12:01:30 (the feed did not answer in time).",
		"Apple answered BadDeviceToken 40 times, last at 11:58:02: host and build do not go together.",
	}, Tables: []page.Table{
		{ID: "matches", Title: "Matches", Heads: []string{"Match", "Status", "Last tick", "Followers", "Live Activities"}, Rows: [][]string{
			{"England v New Zealand 1144530", "live", "2 s ago", "10214", "9871 active, 12 pending, 3 suspended"}, {"Malawi v Cameroon 1343760", "idle", "41 s ago", "7", ""},
		}},
		{ID: "feed", Title: "Feed", Heads: []string{"Endpoint", "State", "Calls this hour", "Last failure"}, Rows: [][]string{
			{"livescores", "closed", "612 of 2000", ""}, {"fixtures", "open", "1420 of 2000", "the feed did not answer in time"},
		}},
		{ID: "node", Title: "Node", None: "Nothing to tell."},
	}}
}

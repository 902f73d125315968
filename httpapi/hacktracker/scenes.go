package hacktracker

import (
	"fmt"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi/page"
)

// scenes renders a game in each state, from fixed data.
func (a *api) scenes() (out []page.Scene, err error) {
	for _, s := range []struct {
		name, what, kind, status string
		results                  []string
	}{
		{"no-lineup", "No lineup", "score", hacktracker.Scheduled, nil},
		{"not-started", "Not started", "score", hacktracker.Scheduled, nil},
		{"start-refused", "A start that was undone", "score", hacktracker.Scheduled, nil},
		{"both-on", "Two games in progress", "score", hacktracker.InProgress, []string{"1B", "K"}},
		{"live", "The scorer's page", "score", hacktracker.InProgress, []string{"1B", "K", "BB"}},
		{"spectators", "The game's page", "game", hacktracker.InProgress, []string{"1B", "K", "HR"}},
		{"bases-unknown", "Bases unknown", "game", hacktracker.InProgress, []string{"1B", "1B"}},
		{"final", "Final", "game", hacktracker.Final, []string{"HR", "GO", "K", "2B", "K"}},
		{"mismatch", "A play that does not fit the plays before", "score", hacktracker.InProgress, []string{"1B", "K", "BB"}},
		{"double", "A play that may have been entered twice", "score", hacktracker.InProgress, []string{"K", "1B", "K", "K"}},
		{"queue", "Five unsent plays", "score", hacktracker.InProgress, []string{"1B"}},
		{"personal", "A personal team", "score", hacktracker.InProgress, []string{"1B", "HR"}},
		{"lineup", "The lineup", "lineup", hacktracker.Scheduled, nil},
		{"overlay", "The video overlay", "overlay", hacktracker.InProgress, []string{"1B", "BB"}},
	} {
		g := hacktracker.Game{ID: "g1", TeamID: "t1", Status: s.status, Opponent: "Rivals with quite a long name", OpponentScore: 2}
		t := hacktracker.Team{ID: "t1", Name: "Bad News", Type: hacktracker.Managed, Role: hacktracker.Scorekeeper}
		var roster []hacktracker.Player
		for i, name := range []string{"Ann", "Bo", "Cy", "Di"} {
			roster = append(roster, hacktracker.Player{ID: name, FirstName: name, Number: new(10 + i), Status: "active"})
		}
		g.Lineup = []hacktracker.Slot{{PlayerID: "Ann", BattingOrder: 1}, {PlayerID: "Bo", BattingOrder: 2}, {PlayerID: "Cy", BattingOrder: 3}}
		all := atBatsOf(&g, s.results)
		g.TeamScore = hacktracker.Count(all).RBI
		switch s.name {
		case "no-lineup":
			g.Lineup = nil
		case "start-refused", "both-on":
			g.StartRefused = "g0"
		case "mismatch":
			all[2].Outs, all[2].RBIs = 2, 1
		case "personal":
			g.Lineup, t.Type = nil, hacktracker.Personal
		}
		p := newGame(t, hacktracker.NewBox(&g, roster, all, map[string]hacktracker.Line{}), roster)
		p.Address = "node.example" + a.look.At("/games/"+g.ID)
		if s.name == "queue" {
			p.Waits = []string{"12 Cy: K, not sent yet", "11 Bo: 1B, 1 RBI, not sent yet", "10 Ann: BB, not sent yet", "12 Cy: 2B, not sent yet", "11 Bo: GO, not sent yet"}
		}
		out = append(out, page.Scene{Name: s.name, What: s.what, Kind: s.kind, Data: p})
	}
	return a.look.Scenes(out...)
}

// atBatsOf returns at-bats with the given results, ten seconds apart.
func atBatsOf(g *hacktracker.Game, results []string) (all []hacktracker.AtBat) {
	for i, result := range results {
		st := hacktracker.Replay(g.Lineup, all)
		at := hacktracker.AtBat{
			ID: fmt.Sprintf("p%d", i+1), GameID: g.ID, PlayerID: st.Batter.PlayerID, BattingOrder: st.Batter.BattingOrder, Result: result,
			Inning: st.Inning, Outs: st.Outs, CreatedAt: fmt.Sprintf("2026-05-01T18:00:%02dZ", 10*i),
		}
		if result != hacktracker.Strikeout && result != hacktracker.Walk {
			at.HitLocation = &hacktracker.Point{X: 0.3 + 0.1*float64(i), Y: 0.4}
		}
		if result == hacktracker.HomeRun {
			at.RBIs = 1
		}
		all = append(all, at)
	}
	return all
}

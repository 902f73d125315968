package hacktracker

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/internal/fraction"
)

// Box is the box score of a game. Runs of single players are not scored.
type Box struct {
	Game      Game      `json:"game"`
	Batters   []BoxLine `json:"batters"`
	LineScore []int     `json:"lineScore"` // runs batted in, by inning
	Totals    Batting   `json:"totals"`
	Differ    bool      `json:"runsDiffer"` // the runs batted in are not the team's score
	State     State     `json:"state"`
	AtBats    []AtBat   `json:"-"` // in order
}

// BoxLine is a batter of a box score.
type BoxLine struct {
	Slot
	Name       string `json:"name"`
	Number     *int   `json:"playerNumber,omitempty"`
	Substitute bool   `json:"substitute"` // bats in the place of the slot above
	R          *int   `json:"R"`
	Line
	AVG    fraction.Fraction `json:"AVG"`
	Season fraction.Fraction `json:"seasonAVG"`
}

// NewBox makes a box score of a game's at-bats. season counts those of all games of the season, by player.
func NewBox(g *Game, roster []Player, all []AtBat, season map[string]Line) Box {
	st := Replay(g.Lineup, all)
	box := Box{Game: *g, Batters: []BoxLine{}, LineScore: []int{}, State: st, AtBats: all}
	at := map[string]int{}
	add := func(s Slot, substitute bool) {
		at[s.PlayerID] = len(box.Batters)
		box.Batters = append(box.Batters, BoxLine{Slot: s, Substitute: substitute})
	}
	for _, s := range g.Lineup {
		add(s, false)
	}
	for i := range all {
		a := &all[i]
		if _, ok := at[a.PlayerID]; !ok {
			add(Slot{a.PlayerID, a.BattingOrder}, len(g.Lineup) > 0)
		}
		box.Batters[at[a.PlayerID]].add(a)
		for len(box.LineScore) < st.Innings[i] {
			box.LineScore = append(box.LineScore, 0)
		}
		box.LineScore[st.Innings[i]-1] += a.RBIs
	}
	for i := range box.Batters {
		b := &box.Batters[i]
		b.AVG, b.Season = b.Line.AVG(), season[b.PlayerID].AVG()
		if at := slices.IndexFunc(roster, func(p Player) bool { return p.ID == b.PlayerID }); at >= 0 { // else gone from it
			b.Name, b.Number = roster[at].Name(), roster[at].Number
		}
	}
	slices.SortStableFunc(box.Batters, func(a, b BoxLine) int { return cmp.Compare(place(a.BattingOrder), place(b.BattingOrder)) })
	box.Totals = Count(all).Batting()
	box.Differ = box.Totals.RBI != g.TeamScore
	return box
}

// place is where a slot stands: one without a number (0, which wraps around) behind all others.
func place(order int) uint { return uint(order - 1) }

// Record is what has come of a team's games.
type Record struct {
	Wins        int      `json:"wins"`
	Losses      int      `json:"losses"`
	Ties        int      `json:"ties"`
	RunsFor     int      `json:"runsFor"`
	RunsAgainst int      `json:"runsAgainst"`
	LastFive    []string `json:"lastFive"` // W, L or T, the newest first
}

// NewRecord counts games that are final and have scores; games are given newest first.
func NewRecord(games []Game) Record {
	r := Record{LastFive: []string{}}
	for i := range games {
		g := &games[i]
		if g.Status != Final || !g.scored {
			continue
		}
		r.RunsFor += g.TeamScore
		r.RunsAgainst += g.OpponentScore
		outcome, count := "T", &r.Ties
		switch {
		case g.TeamScore > g.OpponentScore:
			outcome, count = "W", &r.Wins
		case g.TeamScore < g.OpponentScore:
			outcome, count = "L", &r.Losses
		}
		*count++
		if len(r.LastFive) < 5 {
			r.LastFive = append(r.LastFive, outcome)
		}
	}
	return r
}

package threefc

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// shownGame is the view of a game on its pages.
type shownGame struct {
	Game, Season string
	Title        string
	Pill         page.Pill
	Clock        *gameClock // nil if no third is running
	Sides        []side
	Line         string // state or outcome in words
	Goals        []threefc.Line
	Tabs         page.Tabs // links to the game's other pages
	board        *threefc.Board
}

// gameClock runs on the phone from Start. Text is shown until the script starts it.
type gameClock struct {
	Third, Length int
	Start         int64 // ms by the node's clock
	Text          string
}

// side is a team with its tallies; Outcome is set once the game is finished.
type side struct {
	threefc.GameTeam
	Outcome string
}

// shown reads a game.
func (a *api) shown(tx *store.Tx, id string) (*shownGame, error) {
	b, err := a.Service.Board(tx, id)
	if err != nil {
		return nil, err
	}
	g := &shownGame{Game: b.GameID, Season: b.SeasonID, Title: "Game", board: b}
	if s, err := a.Service.Season(tx, b.SeasonID); err == nil {
		g.Title = s.Name
	}
	g.Goals, err = a.Service.Timeline(tx, b)
	now := a.Service.Now(tx)
	g.stand(now, now.Sub(tx.Now()).Round(time.Second))
	return g, err
}

// stand fills in the state of the game at an instant of the cloud's clock, which is ahead of the node's by skew.
func (g *shownGame) stand(now time.Time, skew time.Duration) {
	b := g.board
	for _, t := range b.Teams {
		g.Sides = append(g.Sides, side{GameTeam: t})
	}
	timer := b.Timer()
	done := 0
	for _, t := range timer.Thirds {
		if t.FinishedAt != nil {
			done++
		}
	}
	switch {
	case b.FinishedAt != nil:
		g.Pill, g.Line = page.Pill{Class: "over", Icon: "clock", Text: "Finished"}, g.ended()
	case timer.ActiveThird != nil:
		g.run(*timer.ActiveThird, now, skew)
	case done == 0:
		g.Pill = page.Pill{Class: "soon", Icon: "clock", Text: "Not started"}
	case done == len(timer.Thirds):
		g.Pill = page.Pill{Class: "pause", Icon: "clock", Text: "All thirds played"}
	default:
		g.Pill = page.Pill{Class: "pause", Icon: "clock", Text: fmt.Sprintf("After third %d", done)}
	}
}

// run fills in the clock of a running third.
func (g *shownGame) run(third int, now time.Time, skew time.Duration) {
	start, err := time.Parse(time.RFC3339, *g.board.Timer().Thirds[third-1].StartedAt)
	if err != nil {
		return
	}
	m := threefc.MomentAt(g.board.ThirdLengthMinutes, third, int(now.Sub(start)/time.Second))
	g.Pill = page.Pill{Class: "live", Icon: "dot", Text: "Live"}
	g.Clock = &gameClock{Third: third, Length: g.board.ThirdLengthMinutes, Start: start.Add(-skew).UnixMilli(), Text: fmt.Sprintf("%d'", m.ThirdMinute)}
	if m.StoppageMinute != nil {
		g.Pill.Text, g.Clock.Text = "Stoppage", m.DisplayTime
	}
}

// ended returns the outcome in words and marks it on the sides.
func (g *shownGame) ended() string {
	var best []string
	for _, t := range g.board.Result.Teams {
		for i := range g.Sides {
			if g.Sides[i].TeamID == t.TeamID {
				g.Sides[i].Outcome = t.Outcome
			}
		}
		if t.Rank == 1 {
			best = append(best, t.Name)
		}
	}
	if len(best) > 1 {
		return "Draw: " + strings.Join(best, ", ")
	}
	return best[0] + " wins"
}

// line summarizes the game in one line: the goals each team has conceded.
func (g *shownGame) line() string {
	var all []string
	for _, s := range g.Sides {
		all = append(all, s.Name+" "+strconv.Itoa(s.Conceded))
	}
	return "Conceded: " + strings.Join(all, ", ")
}

// team returns the name of a team.
func (g *shownGame) team(id string) string {
	for _, s := range g.Sides {
		if s.TeamID == id {
			return s.Name
		}
	}
	return id
}

// said describes a goal in words.
func (g *shownGame) said(l *threefc.Line) string {
	if l.OwnGoal || l.ScoringTeamID == nil {
		return fmt.Sprintf("Own goal: %s (%s)", l.Scorer, g.team(l.ConcedingTeamID))
	}
	return fmt.Sprintf("%s (%s) against %s", l.Scorer, g.team(*l.ScoringTeamID), g.team(l.ConcedingTeamID))
}

// lastGoals is the maximum number of goals on a page.
const lastGoals = 12

func (g *shownGame) timeline() page.Timeline {
	t := page.Timeline{ID: "goals", Title: "Last goals", None: "No goals yet."}
	for i := len(g.Goals) - 1; i >= 0; i-- {
		if len(t.Items) == lastGoals {
			t.Rest = fmt.Sprintf("and %d earlier", i+1)
			break
		}
		l := &g.Goals[i]
		h := page.Happening{Key: l.EventID, Kind: "edge", Mark: "GOAL", Where: fmt.Sprintf("third %d, %s", l.Third, l.DisplayTime), Text: g.said(l), Loud: true}
		if l.OwnGoal {
			h.Kind, h.Mark = "bad", "OWN"
		}
		if len(l.Assists) > 0 {
			h.Note = "assists: " + strings.Join(l.Assists, ", ")
		}
		t.Items = append(t.Items, h)
	}
	return t
}

func (a *api) gameView(last page.View, g *shownGame) (page.View, error) {
	g.Tabs = a.tabs(g.Game, "")
	v, err := a.look.Parts(last, g.line()+" · "+g.Title, []page.Block{{ID: "score", Data: *g}, {ID: "goals", Data: g.timeline()}, {ID: "tabs", Data: *g}})
	v.Kind, v.Styles, v.Module = "game", styles(), "app.js"
	return v, err
}

func styles() []string { return []string{"extra.css", "app.css"} }

package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// shownGame is a game on its pages.
type shownGame struct {
	*threefc.Board
	Title string         // the season's name
	Lines []threefc.Line // the goals in their public form
	Clock *gameClock     // nil if no third is running
}

// gameClock is the reading of the game clock, to the minute. The phone runs it on from Start.
type gameClock struct {
	Third    int
	Text     string // 12' or, in stoppage time, 20+01
	Stoppage bool
	Start    int64 // ms by the node's clock
}

// readShown reads a game.
func (h *handlers) readShown(tx *store.Tx, id string) (*shownGame, error) {
	b, err := h.Service.Board(tx, id)
	if err != nil {
		return nil, err
	}
	now := h.Service.Now(tx)
	g := &shownGame{Board: b, Title: "Game", Clock: clockOf(&b.Game, now, now.Sub(tx.Now()).Round(time.Second))}
	if s, err := h.Service.Season(tx, b.SeasonID); err == nil {
		g.Title = s.Name
	}
	g.Lines, err = h.Service.Timeline(tx, b)
	return g, err
}

// clockOf reads the clock of a game at an instant of the cloud's clock, which is ahead of the node's by skew.
func clockOf(g *threefc.Game, now time.Time, skew time.Duration) *gameClock {
	timer := g.Timer()
	if g.FinishedAt != nil || timer.ActiveThird == nil {
		return nil
	}
	third := *timer.ActiveThird
	start, err := time.Parse(time.RFC3339, *timer.Thirds[third-1].StartedAt)
	if err != nil {
		return nil
	}
	m := threefc.MomentAt(g.ThirdLengthMinutes, third, int(now.Sub(start)/time.Second))
	c := &gameClock{Third: third, Text: fmt.Sprintf("%d'", m.ThirdMinute), Start: start.Add(-skew).UnixMilli()}
	if m.StoppageMinute != nil {
		c.Text, c.Stoppage = m.DisplayTime, true
	}
	return c
}

// Line summarizes the game in one line: the goals each team has conceded.
func (g *shownGame) Line() string {
	var all []string
	for i := range g.Teams {
		all = append(all, g.Teams[i].Name+" "+strconv.Itoa(g.Teams[i].Conceded))
	}
	return "Conceded: " + strings.Join(all, ", ")
}

// team returns the name of a team.
func (g *shownGame) team(id string) string {
	for i := range g.Teams {
		if g.Teams[i].TeamID == id {
			return g.Teams[i].Name
		}
	}
	return id
}

// Said describes a goal in words.
func (g *shownGame) Said(l *threefc.Line) string {
	if l.OwnGoal || l.ScoringTeamID == nil {
		return fmt.Sprintf("Own goal: %s (%s)", l.Scorer, g.team(l.ConcedingTeamID))
	}
	return fmt.Sprintf("%s (%s) against %s", l.Scorer, g.team(*l.ScoringTeamID), g.team(l.ConcedingTeamID))
}

// Next returns the number of the next timer action: the start and the finish of each third, and the end of the game.
func (g *shownGame) Next() (n int) {
	for i, t := range g.Timer().Thirds {
		if t.StartedAt != nil {
			n = 2*i + 1
		}
		if t.FinishedAt != nil {
			n = 2*i + 2
		}
	}
	return n
}

func (h *handlers) gameView(last page.View, g *shownGame) (page.View, error) {
	v, err := h.look.Parts(last, g.Line()+" · "+g.Title, []page.Block{{ID: "score", Data: g}, {ID: "goals", Data: g}, {ID: "tabs", Data: g}})
	v.Kind, v.Styles, v.Module = "game", styles(), "app.js"
	return v, err
}

func styles() []string { return []string{"extra.css", "app.css"} }

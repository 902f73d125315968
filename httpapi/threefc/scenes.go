package threefc

import (
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/page"
)

// scenes shows the pages in their states, from fixed data.
func (a *api) scenes() (out []page.Scene, err error) {
	own := threefc.Line{EventID: "e", Moment: threefc.MomentAt(20, 1, 65), ConcedingTeamID: "yellow", OwnGoal: true, Scorer: "Yan"}
	red, blue := "red", "blue"
	byRed := threefc.Line{EventID: "r", Moment: threefc.MomentAt(20, 1, 130), ScoringTeamID: &red, ConcedingTeamID: blue, Scorer: "Rosa with quite a long name", Assists: []string{"Bo"}}
	byBlue := threefc.Line{EventID: "b", Moment: threefc.MomentAt(20, 1, 190), ScoringTeamID: &blue, ConcedingTeamID: red, Scorer: "Bo"}
	queued := page.Waiting{What: "Rosa (Red) against Blue", State: "queued", Say: "not sent, 4 min ago"}
	refused := page.Waiting{What: "Rosa (Red) against Blue", State: "refused", Say: "refused, 2 min ago", Words: "The game is finished."}
	for _, s := range []struct {
		name, what string
		thirds     int // started or finished: two a third
		minutes    int // since the last one began
		goals      []threefc.Line
		over       bool
		waiting    *page.WaitingLine
	}{
		{name: "not-started", what: "Not started"},
		{name: "running", what: "A third runs", thirds: 1, minutes: 7, goals: []threefc.Line{byRed}},
		{name: "stoppage", what: "Stoppage time", thirds: 3, minutes: 23, goals: []threefc.Line{byRed, byBlue}},
		{name: "between-thirds", what: "Between two thirds", thirds: 2, goals: []threefc.Line{byRed}},
		{name: "draw", what: "A draw of two", thirds: 6, goals: []threefc.Line{own, byRed, byBlue, own}, over: true},
		{name: "own-goals", what: "Own goals only", thirds: 6, goals: []threefc.Line{own, own}, over: true},
		{name: "offline-queue", what: "The scorer's page with goals that wait", thirds: 1, minutes: 7, goals: []threefc.Line{byRed}, waiting: &page.WaitingLine{
			Say: "No connection to the node. What you see is 5 min old. 3 not sent, the oldest 4 min ago.", Bad: true, Rows: []page.Waiting{queued, queued, queued},
		}},
		{name: "refused-goal", what: "The scorer's page with a goal that was refused", thirds: 1, minutes: 7, waiting: &page.WaitingLine{Say: "1 refused.", Bad: true, Rows: []page.Waiting{refused}}},
	} {
		g := sceneGame(s.thirds, s.minutes, s.goals, s.over)
		var scene page.Scene
		if s.waiting == nil {
			scene.Name, scene.What = s.name, s.what
			if scene.View, err = a.gameView(page.View{}, g); err == nil {
				scene.View.Module, scene.View.Styles = "", append(styles(), "kit.css")
				scene.Page, err = a.look.Page(scene.View, page.Frame{})
			}
		} else {
			p := a.ofGame(g, sceneRoster(), "/score")
			p.Waiting = s.waiting
			scene, err = a.look.Scene(s.name, s.what, "scorer", p)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, scene)
	}
	return out, nil
}

// sceneGame is a game of which so many thirds, counted twice, have begun or ended.
func sceneGame(thirds, minutes int, goals []threefc.Line, over bool) *shownGame {
	began := time.Date(2100, 3, 4, 10, 0, 0, 0, time.UTC)
	b := &threefc.Board{Game: threefc.Game{GameID: "g", SeasonID: "s", ThirdLengthMinutes: 20}}
	for i := range thirds {
		at := began.Format(time.RFC3339)
		if i%2 == 0 {
			b.Thirds = append(b.Thirds, threefc.Third{Third: i/2 + 1, StartedAt: &at})
		} else {
			b.Thirds[i/2].FinishedAt = &at
		}
	}
	tallies := map[string]*threefc.GameTeam{}
	for i, id := range threefc.TeamIDs() {
		color := []string{"#d83b36", "#2364d2", "#e0a612"}[i]
		tallies[id] = &threefc.GameTeam{TeamID: id, Name: []string{"Red", "Blue", "Yellow"}[i], Color: &color}
	}
	for i := range goals {
		tallies[goals[i].ConcedingTeamID].Conceded++
		if goals[i].ScoringTeamID != nil {
			tallies[*goals[i].ScoringTeamID].Scored++
		}
	}
	for _, id := range threefc.TeamIDs() {
		b.Teams = append(b.Teams, *tallies[id])
	}
	if over {
		at := began.Format(time.RFC3339)
		b.FinishedAt, b.Result = &at, threefc.ResultOf(b.Teams, at)
	}
	g := &shownGame{Game: "g", Season: "s", Title: "Spring", Goals: goals, board: b}
	g.stand(began.Add(time.Duration(minutes)*time.Minute), 0)
	return g
}

func sceneRoster() *threefc.Roster {
	r := &threefc.Roster{Players: map[string]threefc.Player{}}
	for _, one := range [][2]string{{"red", "Rosa with quite a long name"}, {"red", "Ruth"}, {"blue", "Bo"}, {"yellow", "Yan"}} {
		r.Roster = append(r.Roster, threefc.Rostered{TeamID: one[0], PlayerID: one[1]})
		r.Players[one[1]] = threefc.Player{PlayerID: one[1], Nickname: one[1]}
	}
	return r
}

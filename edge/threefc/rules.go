package threefc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	maxAssists = 3
	thirds     = 3

	// comparator names the rule that decides a game.
	comparator = "fewest_conceded_then_most_scored"
)

// Tally counts a team's goals. Conceded includes own goals, Scored does not.
type Tally struct{ Scored, Conceded int }

// Tallies counts goals by team.
func Tallies(goals []Goal) map[string]Tally {
	all := map[string]Tally{}
	for i := range goals {
		g := &goals[i]
		t := all[g.ConcedingTeamID]
		t.Conceded++
		all[g.ConcedingTeamID] = t
		if !g.OwnGoal && g.ScoringTeamID != nil {
			t := all[*g.ScoringTeamID]
			t.Scored++
			all[*g.ScoringTeamID] = t
		}
	}
	return all
}

// better orders two tallies: fewer conceded first, then more scored.
func better(a, b Tally) int {
	return cmp.Or(cmp.Compare(a.Conceded, b.Conceded), cmp.Compare(b.Scored, a.Scored))
}

// A team's possible outcomes of a game.
const (
	win  = "win"
	draw = "draw"
	loss = "loss"
)

// ResultTeam is a team's part of a result.
type ResultTeam struct {
	TeamID   string  `json:"teamId"`
	Name     string  `json:"name"`
	Color    *string `json:"color"`
	Scored   int     `json:"scored"`
	Conceded int     `json:"conceded"`
	Rank     int     `json:"rank"` // equal teams share one
	Outcome  string  `json:"outcome"`
}

// Tally returns the team's goals scored and conceded.
func (t *ResultTeam) Tally() Tally { return Tally{t.Scored, t.Conceded} }

// Result is the outcome of a game, best team first.
type Result struct {
	Comparator   string       `json:"comparator"`
	Teams        []ResultTeam `json:"teams"`
	WinnerTeamID *string      `json:"winnerTeamId"` // nil: a draw
	ComputedAt   string       `json:"computedAt"`
}

// ResultOf ranks teams. Fewest conceded wins, most scored breaks a tie; teams still tied at the top draw, and all others lose.
func ResultOf(teams []GameTeam, at string) *Result {
	r := &Result{Comparator: comparator, ComputedAt: at}
	for i := range teams {
		t := &teams[i]
		r.Teams = append(r.Teams, ResultTeam{TeamID: t.TeamID, Name: t.Name, Color: t.Color, Scored: t.Scored, Conceded: t.Conceded})
	}
	slices.SortStableFunc(r.Teams, func(a, b ResultTeam) int { return better(a.Tally(), b.Tally()) })
	best := 0
	for i := range r.Teams {
		t := &r.Teams[i]
		t.Rank = i + 1
		if i > 0 && better(t.Tally(), r.Teams[i-1].Tally()) == 0 {
			t.Rank = r.Teams[i-1].Rank
		}
		if t.Rank == 1 {
			best++
		}
	}
	for i := range r.Teams {
		t := &r.Teams[i]
		switch {
		case t.Rank > 1:
			t.Outcome = loss
		case best > 1:
			t.Outcome = draw
		default:
			t.Outcome = win
			r.WinnerTeamID = &t.TeamID
		}
	}
	return r
}

// points returns a team's points under the rules of the London league, where fewest points are best: 0, 1 and 2 for first, second and
// third; 1 each if all are equal; 1, 1 and 2 if two share first place; 0, 2 and 2 if two share second.
func points(r *Result, team int) int {
	rank, share := r.Teams[team].Rank, 0
	for i := range r.Teams {
		if r.Teams[i].Rank == rank {
			share++
		}
	}
	return min(2, rank-1+min(1, share-1))
}

// MomentAt returns the reading of the game clock elapsed seconds after the start of a third. length is in minutes.
func MomentAt(length, third, elapsed int) Moment {
	elapsed = max(0, elapsed)
	m := Moment{Third: third, ElapsedSeconds: elapsed, ThirdMinute: min(length, elapsed/60+1)}
	m.GameMinute = (third-1)*length + m.ThirdMinute
	if over := elapsed - length*60; over >= 0 {
		minute := over/60 + 1
		m.StoppageMinute, m.DisplayTime = &minute, fmt.Sprintf("%d+%02d", length, minute)
	} else {
		m.DisplayTime = fmt.Sprintf("%02d:%02d", elapsed/60, elapsed%60)
	}
	return m
}

// byMoment orders goals by game clock, then by event id.
func byMoment(a, b Goal) int {
	return cmp.Or(
		cmp.Compare(a.Third, b.Third), cmp.Compare(a.GameMinute, b.GameMinute), cmp.Compare(a.ElapsedSeconds, b.ElapsedSeconds),
		cmp.Compare(a.EventID, b.EventID),
	)
}

// TimerThird is a third with its status in the timer.
type TimerThird struct {
	Third
	Status string `json:"status"`
}

// Timer shows the progress of a game.
type Timer struct {
	ThirdLengthMinutes int          `json:"thirdLengthMinutes"`
	ActiveThird        *int         `json:"activeThird"`
	Status             string       `json:"status"` // not_started, running, between_thirds or complete
	Thirds             []TimerThird `json:"thirds"`
}

// The states of a timer and of its thirds.
const (
	timerNotStarted = "not_started"
	timerRunning    = "running"
	timerBetween    = "between_thirds"
	timerComplete   = "complete"
	thirdFinished   = "finished"
)

// Timer derives the progress of a game from the times of its thirds.
func (g *Game) Timer() Timer {
	t := Timer{ThirdLengthMinutes: g.ThirdLengthMinutes, Status: timerNotStarted, Thirds: []TimerThird{}}
	done := 0
	for n := 1; n <= thirds; n++ {
		one := TimerThird{Third: Third{Third: n}, Status: timerNotStarted}
		if th := g.third(n); th != nil {
			one.Third = *th
		}
		switch {
		case one.FinishedAt != nil:
			one.Status, t.Status = thirdFinished, timerBetween
			done++
		case one.StartedAt != nil:
			one.Status = timerRunning
			t.ActiveThird = &n
		}
		t.Thirds = append(t.Thirds, one)
	}
	switch {
	case t.ActiveThird != nil:
		t.Status = timerRunning
	case done == thirds:
		t.Status = timerComplete
	}
	return t
}

func (g *Game) isStarted() bool {
	return slices.ContainsFunc(g.Thirds, func(t Third) bool { return t.StartedAt != nil })
}

// start records the start of a third.
func (g *Game) start(n int, at string) error {
	for _, t := range g.Timer().Thirds {
		switch {
		case g.FinishedAt != nil:
			return gameFinished()
		case t.Third.Third == n && t.StartedAt != nil:
			return conflict("third_already_started", "Third %d has already started.", n)
		case t.Status == timerRunning:
			return conflict("third_already_running", "Third %d is still running.", t.Third.Third)
		case t.Third.Third < n && t.Status != thirdFinished:
			return conflict("previous_third_unfinished", "Third %d must be finished first.", t.Third.Third)
		}
	}
	g.setThird(Third{Third: n, StartedAt: &at})
	g.Status = Live
	return nil
}

// finish records the end of a third.
func (g *Game) finish(n int, at string) error {
	t := g.third(n)
	switch {
	case g.FinishedAt != nil:
		return gameFinished()
	case t == nil || t.StartedAt == nil:
		return conflict("third_not_started", "Third %d has not started.", n)
	case t.FinishedAt != nil:
		return conflict("third_already_finished", "Third %d has already finished.", n)
	}
	done := *t
	done.FinishedAt = &at
	g.setThird(done)
	return nil
}

// setThird replaces a third in a new slice, so that the record this game was copied from keeps its own.
func (g *Game) setThird(t Third) {
	all := slices.DeleteFunc(slices.Clone(g.Thirds), func(o Third) bool { return o.Third == t.Third })
	all = append(all, t)
	slices.SortFunc(all, func(a, b Third) int { return cmp.Compare(a.Third, b.Third) })
	g.Thirds = all
}

func gameFinished() error { return conflict("game_finished", "The game is finished.") }

// Standing is a team's place in a season.
type Standing struct {
	Rank     int     `json:"rank"`
	TeamID   string  `json:"teamId"`
	Name     string  `json:"name"`
	Color    *string `json:"color"`
	Played   int     `json:"played"`
	Wins     int     `json:"wins"`
	Draws    int     `json:"draws"`
	Losses   int     `json:"losses"`
	Conceded int     `json:"conceded"`
	Scored   int     `json:"scored"`
	Points   *int    `json:"points,omitempty"` // only in the London league's table
}

// StandingsOf computes a season's table from the results of its finished games, ordered by wins, draws, fewest conceded, most scored
// and name. With blissett, the London league's table, fewest points come first.
func StandingsOf(teams []SeasonTeam, results []*Result, blissett bool) []Standing {
	all := []Standing{}
	for i := range teams {
		st := Standing{TeamID: teams[i].TeamID, Name: teams[i].Name, Color: teams[i].Color}
		sum := 0
		for _, r := range results {
			for n := range r.Teams {
				if t := &r.Teams[n]; t.TeamID == st.TeamID {
					st.add(t)
					sum += points(r, n)
				}
			}
		}
		if blissett {
			st.Points = &sum
		}
		all = append(all, st)
	}
	slices.SortStableFunc(all, func(a, b Standing) int { return a.compare(&b) })
	for i := range all {
		all[i].Rank = i + 1
	}
	return all
}

func (st *Standing) add(t *ResultTeam) {
	st.Played++
	st.Conceded += t.Conceded
	st.Scored += t.Scored
	switch t.Outcome {
	case win:
		st.Wins++
	case draw:
		st.Draws++
	default:
		st.Losses++
	}
}

func (st *Standing) compare(o *Standing) int {
	rest := cmp.Or(
		cmp.Compare(st.Conceded, o.Conceded), cmp.Compare(o.Scored, st.Scored), strings.Compare(st.Name, o.Name), strings.Compare(st.TeamID, o.TeamID),
	)
	if st.Points != nil && o.Points != nil {
		return cmp.Or(cmp.Compare(*st.Points, *o.Points), rest)
	}
	return cmp.Or(cmp.Compare(o.Wins, st.Wins), cmp.Compare(o.Draws, st.Draws), rest)
}

// Leader is a player's place in a season.
type Leader struct {
	Rank     int     `json:"rank"`
	PlayerID string  `json:"-"`
	Nickname string  `json:"nickname"`
	Goals    int     `json:"goals"`
	OwnGoals int     `json:"ownGoals"`
	Assists  int     `json:"assists"`
	Games    int     `json:"games"`
	PerGame  float64 `json:"goalsPerGame"` // to two decimals, half up
}

// rate returns n/by to two decimals, rounded half up.
func rate(n, by int) float64 {
	if by == 0 {
		return 0
	}
	return float64((200*n+by)/(2*by)) / 100
}

// LeadersOf ranks players by goals, or with perGame by goals per game.
func LeadersOf(players []Leader, perGame bool) []Leader {
	for i := range players {
		players[i].PerGame = rate(players[i].Goals, players[i].Games)
	}
	slices.SortFunc(players, func(a, b Leader) int {
		rate := 0
		if perGame { // compare exact fractions, not the rounded rates
			rate = cmp.Compare(b.Goals*max(1, a.Games), a.Goals*max(1, b.Games))
		}
		return cmp.Or(rate, cmp.Compare(b.Goals, a.Goals), cmp.Compare(b.Assists, a.Assists),
			strings.Compare(a.Nickname, b.Nickname), strings.Compare(a.PlayerID, b.PlayerID))
	})
	for i := range players {
		players[i].Rank = i + 1
	}
	return players
}

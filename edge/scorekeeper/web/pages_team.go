package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

type teamsView struct {
	User, Name string
	Teams      []scorekeeper.Team
}

func (h *handlers) teamsPage(r *httpapi.Request) (httpapi.Response, error) {
	if err := h.fetchTeam(r, ""); err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("teams", "Teams", func(tx *store.Tx) (any, error) {
		view := teamsView{User: r.User}
		profile, err := h.puzzle.Profile(tx, r.User)
		if err != nil {
			return nil, err
		}
		view.Name = profile.Name
		view.Teams, err = h.readTeams(tx, r.User)
		return view, err
	})
}

// readTeams returns a player's teams, without those that were deleted by a node that knew half of them.
func (h *handlers) readTeams(tx *store.Tx, user string) (teams []scorekeeper.Team, err error) {
	ids, err := h.puzzle.TeamsOf(tx, user)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		team, err := h.puzzle.Team(tx, id, user)
		switch {
		case err == nil:
			teams = append(teams, team)
		case !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden):
			return nil, err
		}
	}
	return teams, nil
}

type teamView struct {
	User  string
	Day   string // the reader's date
	When  string // what is shown: "" is the day, or week, last-week
	Team  scorekeeper.Team
	Board *scorekeeper.Board // today's
	Days  []string           // of the week
	Week  []weekLine
}

// OnlyAdmin reports whether a member is the team's only admin, and so cannot leave.
func (p *teamView) OnlyAdmin(user string) bool {
	var admins []string
	for i := range p.Team.Members {
		if m := &p.Team.Members[i]; m.Role == scorekeeper.RoleAdmin {
			admins = append(admins, m.UserID)
		}
	}
	return len(admins) == 1 && admins[0] == user
}

// Full reports whether nobody can be added to the team.
func (p *teamView) Full() bool { return len(p.Team.Members) >= scorekeeper.MaxMembers }

// weekLine is a player's line in the table of a week.
type weekLine struct {
	Name            string
	Solved, Guesses int
}

// teamPage shows a team's board for today, this week or last week.
func (h *handlers) teamPage(r *httpapi.Request) (httpapi.Response, error) {
	day, err := readerDay(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	team, when := r.Param("id"), r.Param("when")
	days, err := shownDays(when, day)
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := h.fetchTeam(r, team, days...); err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("team", "Team", func(tx *store.Tx) (any, error) {
		view := &teamView{User: r.User, Day: day.Format(scorekeeper.Day), When: when, Days: days}
		view.Team, err = h.puzzle.Team(tx, team, r.User)
		if err != nil {
			return nil, err
		}
		if when == "" {
			board, err := h.puzzle.Board(tx, r.User, team, days[0])
			view.Board = &board
			return view, err
		}
		view.Week, err = h.readWeek(tx, &view.Team, r.User, days)
		return view, err
	})
}

// shownDays returns the days that a team's page shows.
func shownDays(when string, today time.Time) ([]string, error) {
	switch when {
	case "":
		return []string{today.Format(scorekeeper.Day)}, nil
	case "week":
		return weekOf(today), nil
	case "last-week":
		return weekOf(today.AddDate(0, 0, -7)), nil
	}
	return nil, fault.New(fault.NotFound, "not_found", "There is no such page.")
}

// weekOf returns the seven days of a day's week, from Monday on.
func weekOf(day time.Time) []string { return calendar(day, day.AddDate(0, 0, 6))[:7] }

// readWeek returns a team's table for some days: most puzzles solved first, then fewest guesses.
func (h *handlers) readWeek(tx *store.Tx, team *scorekeeper.Team, user string, days []string) ([]weekLine, error) {
	joined, byUser := team.Joined(), map[string]*weekLine{}
	all := make([]weekLine, len(joined))
	for i, m := range joined {
		all[i].Name = m.Name
		byUser[m.UserID] = &all[i]
	}
	for _, day := range days {
		board, err := h.puzzle.Board(tx, user, team.ID, day)
		if err != nil {
			return nil, err
		}
		for _, score := range board.Scores {
			if score.Won {
				byUser[score.UserID].Solved++
				byUser[score.UserID].Guesses += score.Moves
			}
		}
	}
	slices.SortFunc(all, func(x, y weekLine) int {
		return cmp.Or(cmp.Compare(y.Solved, x.Solved), cmp.Compare(x.Guesses, y.Guesses), strings.Compare(x.Name, y.Name))
	})
	return all, nil
}

// ahead is for how many days, from today on, the admin page warns of missing puzzles.
const ahead = 14

type adminView struct {
	Today string
	Days  []string
	Set   map[string]bool // days with a puzzle
	Gaps  int             // days without one, from today on
}

func (h *handlers) adminPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.Page("admin", "Puzzles", func(tx *store.Tx) (any, error) {
		today := tx.Now().UTC()
		view := adminView{Today: today.Format(scorekeeper.Day), Days: calendar(today.AddDate(0, 0, -2*ahead), today.AddDate(0, 0, ahead-1)), Set: map[string]bool{}}
		puzzles, err := h.puzzle.Puzzles(tx, "", "")
		for i := range puzzles {
			view.Set[puzzles[i].Date] = true
		}
		for _, date := range view.Days {
			if date >= view.Today && !view.Set[date] {
				view.Gaps++
			}
		}
		return view, err
	})
}

type dayView struct {
	Puzzle scorekeeper.Puzzle
	Games  int // games that a change of the word re-grades
}

// dayPage shows a day's puzzle, or that there is none yet.
func (h *handlers) dayPage(r *httpapi.Request) (httpapi.Response, error) {
	var puzzle scorekeeper.Puzzle
	err := r.View(func(tx *store.Tx) (err error) {
		puzzle, err = h.puzzle.Puzzle(tx, r.Param("date"))
		return err
	})
	if fault.Is(err, fault.NotFound) && !ask.IsUnknown(err) {
		puzzle, err = scorekeeper.Puzzle{Date: r.Param("date")}, nil
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("day", "Puzzle", func(tx *store.Tx) (any, error) {
		view := dayView{Puzzle: puzzle}
		if puzzle.Word == "" {
			return view, nil
		}
		var err error
		view.Games, err = h.puzzle.Players(tx, puzzle.Date)
		return view, err
	})
}

package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

type teamsPage struct {
	User, Name string
	Teams      []scorekeeper.Team
}

func (a *api) teamsPage(r *call) (work, error) {
	r.Kind, r.Title = "teams", "Teams"
	a.team(r, "")
	return func(tx *store.Tx) (any, error) {
		p := teamsPage{User: r.User}
		profile, err := a.Service.Profile(tx, r.User)
		p.Name = profile.Name
		ids, teamsErr := a.Service.TeamsOf(tx, r.User)
		for _, id := range ids {
			t, err := a.Service.Team(tx, id, r.User)
			if err == nil {
				p.Teams = append(p.Teams, t)
			} else if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden) { // deleted by a node that knew half of it
				teamsErr = err
			}
		}
		return p, cmp.Or(err, teamsErr)
	}, nil
}

type teamPage struct {
	User  string
	Day   string // the reader's date
	When  string // what is shown: "" is the day, or week, last-week
	Team  scorekeeper.Team
	Board *scorekeeper.Board // today's
	Days  []string           // of the week
	Week  []weekLine
}

// OnlyAdmin reports whether a member is the team's only admin, and so cannot leave.
func (p *teamPage) OnlyAdmin(user string) bool {
	var admins []string
	for i := range p.Team.Members {
		if m := &p.Team.Members[i]; m.Role == scorekeeper.RoleAdmin {
			admins = append(admins, m.UserID)
		}
	}
	return len(admins) == 1 && admins[0] == user
}

// Full reports whether nobody can be added to the team.
func (p *teamPage) Full() bool { return len(p.Team.Members) >= scorekeeper.MaxMembers }

// weekLine is a player's line in the table of a week.
type weekLine struct {
	Name            string
	Solved, Guesses int
}

// teamPage shows a team's board for today, this week or last week.
func (a *api) teamPage(r *call) (work, error) {
	r.Kind, r.Title = "team", "Team"
	when := r.Param("when")
	day, err := today(r)
	days := []string{day.Format(scorekeeper.Day)}
	switch when {
	case "":
	case "week":
		days = weekOf(day)
	case "last-week":
		days = weekOf(day.AddDate(0, 0, -7))
	default:
		return nil, fault.New(fault.NotFound, "not_found", "There is no such page.")
	}
	team := a.team(r, r.Param("id"), days...)
	return func(tx *store.Tx) (any, error) {
		t, err := a.Service.Team(tx, team, r.User)
		p := &teamPage{User: r.User, Day: day.Format(scorekeeper.Day), When: when, Team: t, Days: days}
		if err != nil {
			return p, err
		}
		if when == "" {
			board, err := a.Service.Board(tx, r.User, team, days[0])
			p.Board = &board
			return p, err
		}
		p.Week, err = a.week(tx, &t, r.User, days)
		return p, err
	}, err
}

// weekOf returns the seven days of a day's week, from Monday on.
func weekOf(day time.Time) []string { return calendar(day, day.AddDate(0, 0, 6))[:7] }

// week returns a team's table for some days: most puzzles solved first, then fewest guesses.
func (a *api) week(tx *store.Tx, team *scorekeeper.Team, user string, days []string) ([]weekLine, error) {
	joined, byUser := team.Joined(), map[string]*weekLine{}
	all := make([]weekLine, len(joined))
	for i, m := range joined {
		all[i].Name = m.Name
		byUser[m.UserID] = &all[i]
	}
	for _, day := range days {
		board, err := a.Service.Board(tx, user, team.ID, day)
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

type adminPage struct {
	Today string
	Days  []string
	Set   map[string]bool // days with a puzzle
	Gaps  int             // days without one, from today on
}

func (a *api) getAdminPage(c *gin.Context) error {
	return httpapi.OwnView(c, "admin", "Puzzles", func(tx *store.Tx) (adminPage, error) {
		today := tx.Now().UTC()
		p := adminPage{Today: today.Format(scorekeeper.Day), Days: calendar(today.AddDate(0, 0, -2*ahead), today.AddDate(0, 0, ahead-1)), Set: map[string]bool{}}
		all, err := a.Service.Puzzles(tx, "", "")
		for i := range all {
			p.Set[all[i].Date] = true
		}
		for _, date := range p.Days {
			if date >= p.Today && !p.Set[date] {
				p.Gaps++
			}
		}
		return p, err
	})
}

type dayPage struct {
	Puzzle scorekeeper.Puzzle
	Games  int // games that a change of the word re-grades
}

func (a *api) getDayPage(c *gin.Context) error {
	puzzle, err := httpapi.Read(c, func(tx *store.Tx) (scorekeeper.Puzzle, error) { return a.Service.Puzzle(tx, c.Param("date")) })
	if fault.Is(err, fault.NotFound) && !ask.IsUnknown(err) {
		puzzle.Date, err = c.Param("date"), nil
	}
	if err != nil {
		return err
	}
	return httpapi.OwnView(c, "day", "Puzzle", func(tx *store.Tx) (p dayPage, err error) {
		if p.Puzzle = puzzle; p.Puzzle.Word != "" {
			p.Games, err = a.Service.Players(tx, p.Puzzle.Date)
		}
		return p, err
	})
}

package scorekeeper

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

type teamsPage struct {
	Mount, User string
	Name        string
	Teams       []scorekeeper.Team
}

func (a *api) teamsPage(r *request) work {
	r.kind, r.title = "teams", "Teams"
	a.team(r, "")
	return func(tx *store.Tx) (any, error) {
		p := teamsPage{Mount: a.mount, User: r.user}
		profile, err := a.Service.Profile(tx, r.user)
		p.Name = profile.Name
		ids, teamsErr := a.Service.TeamsOf(tx, r.user)
		for _, id := range ids {
			t, err := a.Service.Team(tx, id, r.user)
			if err == nil {
				p.Teams = append(p.Teams, t)
			} else if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden) { // deleted by a node that knew half of it
				teamsErr = err
			}
		}
		return p, cmp.Or(err, teamsErr)
	}
}

type teamPage struct {
	Mount, User string
	Day         string // the reader's date
	Team        scorekeeper.Team
	Admin       bool
	Tabs        page.Tabs
	Board       *scorekeeper.Board // today's
	Week        *page.Table
}

// teamPage shows a team's board for today, this week or last week.
func (a *api) teamPage(r *request) work {
	r.kind, r.title = "team", "Team"
	when, day := r.Param("when"), r.today()
	days := []string{day.Format(scorekeeper.Day)}
	switch when {
	case "":
	case "week":
		days = weekOf(day)
	case "last-week":
		days = weekOf(day.AddDate(0, 0, -7))
	default:
		r.wrong = fault.New(fault.NotFound, "not_found", "There is no such page.")
	}
	team := a.team(r, r.Param("id"), days...)
	return func(tx *store.Tx) (any, error) {
		t, err := a.Service.Team(tx, team, r.user)
		p := teamPage{Mount: a.mount, User: r.user, Day: day.Format(scorekeeper.Day), Team: t}
		if err != nil {
			return p, err
		}
		p.Admin = slices.ContainsFunc(t.Members, func(m scorekeeper.Member) bool { return m.UserID == r.user && m.Role == scorekeeper.RoleAdmin })
		p.Tabs = page.NewTabs("Board", a.look.At("/teams/"+team), strings.TrimSuffix("/"+when, "/"),
			"", "Today", "/week", "This week", "/last-week", "Last week")
		if when == "" {
			board, err := a.Service.Board(tx, r.user, team, days[0])
			p.Board = &board
			return p, err
		}
		p.Week, err = a.week(tx, &t, r.user, days)
		return p, err
	}
}

// weekOf returns the seven days of a day's week, from Monday on.
func weekOf(day time.Time) (days []string) {
	for _, d := range calendar(day, day.AddDate(0, 0, 6), func(string) cell { return cell{} })[:7] {
		days = append(days, d.Date)
	}
	return days
}

// week returns a team's table for some days: most puzzles solved first, then fewest guesses.
func (a *api) week(tx *store.Tx, team *scorekeeper.Team, user string, days []string) (*page.Table, error) {
	type sum struct {
		name            string
		solved, guesses int
	}
	all, byUser := make([]sum, len(team.Members)), map[string]*sum{}
	for i, m := range team.Members {
		all[i].name = m.Name
		byUser[m.UserID] = &all[i]
	}
	for _, day := range days {
		board, err := a.Service.Board(tx, user, team.ID, day)
		if err != nil {
			return nil, err
		}
		for _, score := range board.Scores {
			if score.Won {
				byUser[score.UserID].solved++
				byUser[score.UserID].guesses += score.Moves
			}
		}
	}
	slices.SortFunc(all, func(x, y sum) int {
		return cmp.Or(cmp.Compare(y.solved, x.solved), cmp.Compare(x.guesses, y.guesses), strings.Compare(x.name, y.name))
	})
	t := &page.Table{ID: "week", Title: "Week of " + days[0], Heads: []string{"Player", "Solved", "Guesses"}}
	for _, player := range all {
		t.Rows = append(t.Rows, []string{player.name, strconv.Itoa(player.solved), strconv.Itoa(player.guesses)})
	}
	return t, nil
}

// ahead is for how many days, from today on, the admin page warns of missing puzzles.
const ahead = 14

type adminPage struct {
	Days []cell
	Gaps int
}

func (a *api) getAdminPage(c *gin.Context) error {
	return httpapi.OwnView(c, "admin", "Puzzles", func(tx *store.Tx) (p adminPage, err error) {
		today := tx.Now().UTC()
		from, to := today.AddDate(0, 0, -2*ahead), today.AddDate(0, 0, ahead-1)
		all, err := a.Service.Puzzles(tx, "", "")
		p.Days = calendar(from, to, func(date string) cell {
			at := a.look.At("/admin/days/" + date)
			switch {
			case slices.ContainsFunc(all, func(p scorekeeper.Puzzle) bool { return p.Date == date }):
				return cell{Class: "won", Text: "set", Href: at}
			case date < today.Format(scorekeeper.Day):
				return cell{Class: "missed", Text: "–", Href: at}
			}
			p.Gaps++
			return cell{Class: "lost", Text: "gap", Href: at}
		})
		return p, err
	})
}

type dayPage struct {
	Mount  string
	Puzzle scorekeeper.Puzzle
	Games  int // games that a change of the word re-grades
}

func (a *api) getDayPage(c *gin.Context) error {
	return httpapi.OwnView(c, "day", "Puzzle", func(tx *store.Tx) (p dayPage, err error) {
		p.Mount = a.mount
		p.Puzzle, err = a.Service.Puzzle(tx, c.Param("date"))
		if fault.Is(err, fault.NotFound) {
			p.Puzzle.Date, err = c.Param("date"), nil
		}
		if err == nil && p.Puzzle.Word != "" {
			p.Games, err = a.Service.Players(tx, p.Puzzle.Date)
		}
		return p, err
	})
}

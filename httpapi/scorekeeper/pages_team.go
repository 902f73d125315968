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
	"github.com/touchline/touchline/store/attr"
)

type teamsPage struct {
	Mount, User string
	Name        string
	Teams       []scorekeeper.Team
}

func (a *api) getTeamsPage(c *gin.Context, user string) error {
	if err := a.ensure(c, func(tx *store.Tx) ([]attr.Item, error) { return a.Service.TeamNeeds(tx, user, "") }); err != nil {
		return err
	}
	return httpapi.OwnView(c, "teams", "Teams", func(tx *store.Tx) (teamsPage, error) {
		p := teamsPage{Mount: a.mount, User: user}
		profile, err := a.Service.Profile(tx, user)
		p.Name = profile.Name
		ids, bad := a.Service.TeamsOf(tx, user)
		for _, id := range ids {
			t, err := a.Service.Team(tx, id, user)
			if err == nil {
				p.Teams = append(p.Teams, t)
			} else if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden) { // another node, which knew half of it, has deleted it
				bad = err
			}
		}
		return p, cmp.Or(err, bad)
	})
}

type teamPage struct {
	Mount, User string
	Day         string // that it is for the reader
	Team        scorekeeper.Team
	Admin       bool
	Tabs        page.Tabs
	Board       *scorekeeper.Board // of today
	Week        *page.Table
}

// getTeamPage shows a team's board of today, of this week or of the last one.
func (a *api) getTeamPage(c *gin.Context, user string) error {
	team, when := c.Param("id"), c.Param("when")
	back, known := map[string]int{"": 0, "week": 0, "last-week": 7}[when]
	if !known {
		return fault.New(fault.NotFound, "not_found", "There is no such page.")
	}
	day, err := today(c)
	if err != nil {
		return err
	}
	days := []string{day.Format(scorekeeper.Day)}
	if when != "" {
		days = weekOf(day.AddDate(0, 0, -back))
	}
	if err := a.ensure(c, func(tx *store.Tx) ([]attr.Item, error) { return a.Service.TeamNeeds(tx, user, team, days...) }); err != nil {
		return err
	}
	return httpapi.OwnView(c, "team", "Team", func(tx *store.Tx) (p teamPage, err error) {
		p = teamPage{Mount: a.mount, User: user, Day: day.Format(scorekeeper.Day)}
		if p.Team, err = a.Service.Team(tx, team, user); err != nil {
			return p, err
		}
		p.Admin = slices.ContainsFunc(p.Team.Members, func(m scorekeeper.Member) bool { return m.UserID == user && m.Role == scorekeeper.RoleAdmin })
		p.Tabs.Label = "Board"
		for _, tab := range [][2]string{{"", "Today"}, {"week", "This week"}, {"last-week", "Last week"}} {
			at := a.look.At(strings.TrimSuffix("/teams/"+team+"/"+tab[0], "/"))
			p.Tabs.Links = append(p.Tabs.Links, page.Tab{Link: page.Link{Href: at, Text: tab[1]}, Here: tab[0] == when})
		}
		if when == "" {
			board, err := a.Service.Board(tx, user, team, days[0])
			p.Board = &board
			return p, err
		}
		p.Week, err = a.week(tx, &p.Team, user, days)
		return p, err
	})
}

// weekOf are the days of the week of a day, from Monday on.
func weekOf(day time.Time) (days []string) {
	for _, d := range calendar(day, day.AddDate(0, 0, 6), func(string) cell { return cell{} })[:7] {
		days = append(days, d.Date)
	}
	return days
}

// week is how a team did in a week: who solved most, with the fewest guesses.
func (a *api) week(tx *store.Tx, team *scorekeeper.Team, user string, days []string) (*page.Table, error) {
	type sum struct {
		name            string
		solved, guesses int
	}
	all, of := make([]sum, len(team.Members)), map[string]*sum{}
	for i, m := range team.Members {
		all[i].name = m.Name
		of[m.UserID] = &all[i]
	}
	for _, day := range days {
		board, err := a.Service.Board(tx, user, team.ID, day)
		if err != nil {
			return nil, err
		}
		for _, one := range board.Scores {
			if one.Won {
				of[one.UserID].solved++
				of[one.UserID].guesses += one.Moves
			}
		}
	}
	slices.SortFunc(all, func(x, y sum) int {
		return cmp.Or(cmp.Compare(y.solved, x.solved), cmp.Compare(x.guesses, y.guesses), strings.Compare(x.name, y.name))
	})
	t := &page.Table{ID: "week", Title: "Week of " + days[0], Heads: []string{"Player", "Solved", "Guesses"}}
	for _, one := range all {
		t.Rows = append(t.Rows, []string{one.name, strconv.Itoa(one.solved), strconv.Itoa(one.guesses)})
	}
	return t, nil
}

// ahead is how many days, from today on, must have their puzzle.
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
	Games  int // that are graded anew when the word is changed
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

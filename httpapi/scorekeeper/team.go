package scorekeeper

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// putProfile: {displayName?, avatarUrl?}.
func (a *api) putProfile(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	name, avatar := b.Text("displayName", 4*maxText), b.Text("avatarUrl", 16*maxText)
	if err := b.Err(); err != nil {
		return err
	}
	if u, err := url.Parse(avatar); avatar != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		return fault.New(fault.Invalid, "bad_request", "avatarUrl must be an https URL")
	}
	if n := len([]rune(name)); n > 40 || name == "" && avatar == "" {
		return fault.New(fault.Invalid, "bad_request", "displayName must be 1 to 40 characters")
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (scorekeeper.Profile, error) { return a.Service.SetProfile(tx, user, name, avatar) })
}

func (a *api) getTeam(c *gin.Context, user string) error {
	team, err := needed(c, "team_id")
	if err == nil {
		err = a.ensureTeam(c, user, team)
	}
	if err != nil {
		return err
	}
	return httpapi.AnswerView(c, func(tx *store.Tx) (scorekeeper.Team, error) { return a.Service.Team(tx, team, user) })
}

// needed reads a parameter that has to be there.
func needed(c *gin.Context, name string) (string, error) {
	q := bind.Parameters(c.Request)
	v := q.Text(name, maxText)
	if v == "" {
		q.Bad(name, "is required")
	}
	return v, q.Err()
}

// postTeam: {team_name}.
func (a *api) postTeam(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	name := b.Text("team_name", 4*maxText)
	if err := b.Err(); err != nil {
		return err
	}
	var t scorekeeper.Team
	err := httpapi.Update(c, func(tx *store.Tx) (err error) {
		t, err = a.Service.CreateTeam(tx, user, name)
		return err
	})
	return httpapi.Answer(c, http.StatusCreated, t, err)
}

// deleteTeam: {team_id}.
func (a *api) deleteTeam(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	team := need(b, "team_id")
	if err := b.Err(); err != nil {
		return err
	}
	if err := a.ensureTeam(c, user, team); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (scorekeeper.Team, error) { return a.Service.DeleteTeam(tx, user, team) })
}

// membership reads {team_id, user_id, role}.
func (a *api) membership(c *gin.Context, by string, role bool) (team, user string, as scorekeeper.Role, err error) {
	b := httpapi.Body(c)
	team, user = need(b, "team_id"), need(b, "user_id")
	one := func(name string) string {
		return b.OneOf(name, string(scorekeeper.RoleAdmin), string(scorekeeper.RoleMember))
	}
	if role {
		as = scorekeeper.Role(bind.Need(b, "role", one))
	}
	if !scorekeeper.IsUser(user) && user != "" {
		b.Bad("user_id", "must not have a # in it")
	}
	if err = b.Err(); err == nil {
		err = a.ensureTeam(c, by, team)
	}
	return team, user, as, err
}

func (a *api) putTeammate(c *gin.Context, by string) error {
	team, user, role, err := a.membership(c, by, true)
	if err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (scorekeeper.Member, error) {
		return a.Service.SetTeammate(tx, by, team, user, role)
	})
}

func (a *api) deleteTeammate(c *gin.Context, by string) error {
	team, user, _, err := a.membership(c, by, false)
	if err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (scorekeeper.Member, error) {
		return a.Service.RemoveTeammate(tx, by, team, user)
	})
}

// span is a range of days that a request asks for, by one day or by two instants.
type span struct {
	from, to string
	day      bool // it is one day, asked for as such
}

func spanOf(q *bind.Query) span {
	day := q.Text("puzzle_date_iso_day", maxText)
	if day != "" {
		if _, err := time.Parse(scorekeeper.Day, day); err != nil {
			q.Bad("puzzle_date_iso_day", "must be a day (2026-02-02)")
		}
		return span{day, day, true}
	}
	instant := func(name, usual string) string {
		v := q.Text(name, maxText)
		if v == "" {
			return usual
		}
		ms, err := strconv.ParseInt(v, 10, 64)
		if err != nil || ms < 0 || ms > 1<<43 {
			q.Bad(name, "must be milliseconds since 1970")
		}
		return time.UnixMilli(ms).UTC().Format(scorekeeper.Day)
	}
	return span{from: instant("start_dt_millis", "0001-01-01"), to: instant("end_dt_millis", "9999-12-31")}
}

func (a *api) getScore(c *gin.Context, by string) error {
	q := bind.Parameters(c.Request)
	user, days := q.Text("user_id", maxText), spanOf(q)
	if err := q.Err(); err != nil {
		return err
	}
	if user == "" {
		user = by
	}
	for _, who := range []string{by, user} {
		if err := a.ensureTeam(c, who, ""); err != nil {
			return err
		}
	}
	return httpapi.AnswerView(c, func(tx *store.Tx) ([]scorekeeper.Score, error) {
		return a.Service.Scores(tx, by, user, days.from, days.to)
	})
}

// getScoreboard answers the board of a day, without scores as a preview; a range of days is a page of previews.
func (a *api) getScoreboard(c *gin.Context, by string) error {
	q := bind.Parameters(c.Request)
	team, days, preview, page := q.Text("team_id", maxText), spanOf(q), q.OneOf("preview", "true", "false"), q.Number("page", 1<<20)
	size, err := strconv.Atoi(c.GetHeader("page_size"))
	if c.GetHeader("page_size") == "" {
		size, err = 100, nil
	}
	if err != nil || size < 1 || size > 100 {
		q.Bad("page_size", "must be a whole number from 1 to 100")
	}
	if team == "" {
		q.Bad("team_id", "is required")
	}
	if err := q.Err(); err != nil {
		return err
	}
	var of []string
	if days.day {
		of = []string{days.from}
	}
	if err := a.ensureTeam(c, by, team, of...); err != nil {
		return err
	}
	if !days.day {
		return a.getPreviews(c, by, team, days, max(1, page), size)
	}
	return httpapi.AnswerView(c, func(tx *store.Tx) (scorekeeper.Board, error) {
		b, err := a.Service.Board(tx, by, team, days.from)
		if preview == "true" {
			b.Scores = nil
		}
		return b, err
	})
}

func (a *api) getPreviews(c *gin.Context, by, team string, days span, page, size int) error {
	return httpapi.AnswerView(c, func(tx *store.Tx) ([]scorekeeper.Board, error) {
		all, err := a.Service.Boards(tx, by, team, days.from, days.to)
		pages := max(1, (len(all)+size-1)/size)
		page = min(page, pages)
		link := func(header string, to int) {
			if to >= 1 && to <= pages {
				q := c.Request.URL.Query()
				q.Set("page", strconv.Itoa(to))
				c.Header(header, q.Encode())
			}
		}
		c.Header("page_qty", strconv.Itoa(pages))
		link("pg_query_forward", page+1)
		link("pg_query_backward", page-1)
		return all[(page-1)*size : min(page*size, len(all))], err
	})
}

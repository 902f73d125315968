package scorekeeper

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func (a *api) getProfile(r *request) work {
	return func(tx *store.Tx) (any, error) { return a.Service.Profile(tx, r.user) }
}

// putProfile takes {displayName?, avatarUrl?}.
func (a *api) putProfile(r *request) work {
	name, avatar := r.body.Change("displayName", longText), r.body.Change("avatarUrl", 16*maxText)
	switch {
	case avatar != nil && !isHTTPS(*avatar):
		r.wrong = fault.New(fault.Invalid, "bad_request", "avatarUrl must be an https URL")
	case name == nil && avatar == nil, name != nil && (strings.TrimSpace(*name) == "" || len([]rune(*name)) > 40):
		r.wrong = fault.New(fault.Invalid, "bad_request", "displayName must be 1 to 40 characters")
	}
	return func(tx *store.Tx) (any, error) { return a.Service.SetProfile(tx, r.user, name, avatar) }
}

func isHTTPS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

func (a *api) getTeam(r *request) work {
	team := a.team(r, r.needed("team_id"))
	return func(tx *store.Tx) (any, error) { return a.Service.Team(tx, team, r.user) }
}

// team sets what a request about a team needs: the team, its members, and their games on the given days. It returns the team's ID.
func (a *api) team(r *request, team string, days ...string) string {
	r.needs = func(tx *store.Tx) ([]attr.Item, error) { return a.Service.TeamNeeds(tx, r.user, team, days...) }
	return team
}

// needed reads a required query parameter.
func (r *request) needed(name string) string {
	v := r.query.Text(name, maxText)
	if v == "" {
		r.query.Bad(name, "is required")
	}
	return v
}

// postTeam takes {team_name}. A request with an Idempotency-Key may be repeated.
func (a *api) postTeam(r *request) work {
	name := r.body.Text("team_name", longText)
	once, err := httpapi.IdempotencyKey(r.Context)
	r.status, r.wrong = http.StatusCreated, err
	return func(tx *store.Tx) (any, error) { return a.Service.CreateTeam(tx, r.user, name, once) }
}

// deleteTeam takes {team_id}.
func (a *api) deleteTeam(r *request) work {
	team := a.team(r, need(r.body, "team_id"))
	return func(tx *store.Tx) (any, error) { return a.Service.DeleteTeam(tx, r.user, team) }
}

// mate reads {team_id, user_id}.
func (a *api) mate(r *request) (team, user string) {
	team, user = a.team(r, need(r.body, "team_id")), need(r.body, "user_id")
	if user != "" && (!scorekeeper.IsUser(user) || scorekeeper.IsSession(user)) {
		r.body.Bad("user_id", "must be the ID of a player who has signed in")
	}
	return team, user
}

// putTeammate takes {team_id, user_id, role}.
func (a *api) putTeammate(r *request) work {
	team, user := a.mate(r)
	role := scorekeeper.Role(bind.Need(r.body, "role", func(name string) string {
		return r.body.OneOf(name, string(scorekeeper.RoleAdmin), string(scorekeeper.RoleMember))
	}))
	return func(tx *store.Tx) (any, error) { return a.Service.SetTeammate(tx, r.user, team, user, role) }
}

func (a *api) deleteTeammate(r *request) work {
	team, user := a.mate(r)
	return func(tx *store.Tx) (any, error) { return a.Service.RemoveTeammate(tx, r.user, team, user) }
}

// span is the range of days of a request, given as one day or as two times.
type span struct {
	from, to string
	day      bool // the request gave one day
}

func spanOf(q *bind.Query) span {
	day := q.Text("puzzle_date_iso_day", maxText)
	if day != "" {
		if _, err := time.Parse(scorekeeper.Day, day); err != nil {
			q.Bad("puzzle_date_iso_day", "must be a date (2026-02-02)")
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
			q.Bad(name, "must be milliseconds since 1970-01-01 (UTC)")
		}
		return time.UnixMilli(ms).UTC().Format(scorekeeper.Day)
	}
	return span{from: instant("start_dt_millis", "0001-01-01"), to: instant("end_dt_millis", "9999-12-31")}
}

func (a *api) getScore(r *request) work {
	user, days := cmp.Or(r.query.Text("user_id", maxText), r.user), spanOf(r.query)
	r.needs = func(tx *store.Tx) ([]attr.Item, error) {
		teams, err := a.Service.TeamNeeds(tx, r.user, "")
		games, gamesErr := a.Service.RecentNeeds(tx, user)
		return append(teams, games...), cmp.Or(err, gamesErr)
	}
	return func(tx *store.Tx) (any, error) { return a.Service.Scores(tx, r.user, user, days.from, days.to) }
}

// getScoreboard returns the board of a day, or a page of the boards of a range of days. Those, and a preview of a day, have no scores.
func (a *api) getScoreboard(r *request) work {
	days, preview, page := spanOf(r.query), r.query.OneOf("preview", "true", "false"), max(1, r.query.Number("page", 1<<20))
	team := a.team(r, r.needed("team_id"))
	size, err := strconv.Atoi(cmp.Or(r.GetHeader("page_size"), "100"))
	if err != nil || size < 1 || size > 100 {
		r.query.Bad("page_size", "must be a whole number from 1 to 100")
	}
	if days.day {
		a.team(r, team, days.from)
	}
	return func(tx *store.Tx) (any, error) {
		if !days.day {
			all, total, err := a.Service.Boards(tx, r.user, team, days.from, days.to, (page-1)*size, size)
			if err == nil {
				r.pages(page, max(1, (total+size-1)/size))
			}
			return all, err
		}
		b, err := a.Service.Board(tx, r.user, team, days.from)
		if preview == "true" {
			b.Scores = nil
		}
		return b, err
	}
}

// pages sets the paging headers: the number of pages, and the queries of the next page and of the one before.
func (r *request) pages(page, total int) {
	r.Header("page_qty", strconv.Itoa(total))
	for header, to := range map[string]int{"pg_query_forward": page + 1, "pg_query_backward": min(page-1, total)} {
		if q := r.Request.URL.Query(); to >= 1 && to <= total {
			q.Set("page", strconv.Itoa(to))
			r.Header(header, q.Encode())
		}
	}
}

package web

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

func (a *api) getProfile(r *call) (work, error) {
	return func(tx *store.Tx) (any, error) { return a.Service.Profile(tx, r.User) }, nil
}

// putProfile takes {displayName?, avatarUrl?}.
func (a *api) putProfile(r *call) (work, error) {
	name, avatar := r.Body().Change("displayName", longText), r.Body().Change("avatarUrl", 16*maxText)
	switch {
	case r.Body().Err() != nil:
		return nil, r.Body().Err()
	case avatar != nil && !isHTTPS(*avatar):
		return nil, fault.New(fault.Invalid, "bad_request", "avatarUrl must be an https URL")
	case name == nil && avatar == nil, name != nil && (strings.TrimSpace(*name) == "" || len([]rune(*name)) > 40):
		return nil, fault.New(fault.Invalid, "bad_request", "displayName must be 1 to 40 characters")
	}
	return func(tx *store.Tx) (any, error) { return a.Service.SetProfile(tx, r.User, name, avatar) }, nil
}

func isHTTPS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

func (a *api) getTeam(r *call) (work, error) {
	team := a.team(r, requiredQuery(r, "team_id"))
	return func(tx *store.Tx) (any, error) { return a.Service.Team(tx, team, r.User) }, nil
}

// team sets what a request about a team needs: the team, its members, and their games on the given days. It returns the team's ID.
func (a *api) team(r *call, team string, days ...string) string {
	r.Needs = func(tx *store.Tx) ([]attr.Item, error) { return a.Service.TeamNeeds(tx, r.User, team, days...) }
	return team
}

// requiredQuery reads a required query parameter.
func requiredQuery(r *call, name string) string {
	v := r.Query.Text(name, maxText)
	if v == "" {
		r.Query.Bad(name, "is required")
	}
	return v
}

// postTeam takes {team_name}. A request with an Idempotency-Key may be repeated.
func (a *api) postTeam(r *call) (work, error) {
	name := r.Body().Text("team_name", longText)
	httpapi.CountsOnce(r.Context)
	key, err := httpapi.IdempotencyKey(r.Context)
	var once []scorekeeper.Once
	if key != "" {
		scope, former := httpapi.OnceScope(r.Context, r.User)
		for _, each := range append([]string{scope}, former...) {
			once = append(once, scorekeeper.Once{Scope: each, Key: key})
		}
	}
	r.Status = http.StatusCreated
	return func(tx *store.Tx) (any, error) { return a.Service.CreateTeam(tx, r.User, name, once...) }, cmp.Or(r.Body().Err(), err)
}

// deleteTeam takes {team_id}.
func (a *api) deleteTeam(r *call) (work, error) {
	team := a.team(r, need(r.Body(), "team_id"))
	return func(tx *store.Tx) (any, error) { return a.Service.DeleteTeam(tx, r.User, team) }, nil
}

// postAccept takes {team_id}.
func (a *api) postAccept(r *call) (work, error) {
	team := a.team(r, need(r.Body(), "team_id"))
	return func(tx *store.Tx) (any, error) { return a.Service.AcceptTeam(tx, r.User, team) }, nil
}

// mate reads {team_id, user_id}.
func (a *api) mate(r *call) (team, user string) {
	team, user = a.team(r, need(r.Body(), "team_id")), need(r.Body(), "user_id")
	if user != "" && (!scorekeeper.IsUser(user) || scorekeeper.IsSession(user)) {
		r.Body().Bad("user_id", "must be the ID of a player who has signed in")
	}
	return team, user
}

// putTeammate takes {team_id, user_id, role}.
func (a *api) putTeammate(r *call) (work, error) {
	team, user := a.mate(r)
	role := scorekeeper.Role(bind.Need(r.Body(), "role", func(name string) string {
		return r.Body().OneOf(name, string(scorekeeper.RoleAdmin), string(scorekeeper.RoleMember))
	}))
	return func(tx *store.Tx) (any, error) { return a.Service.SetTeammate(tx, r.User, team, user, role) }, nil
}

func (a *api) deleteTeammate(r *call) (work, error) {
	team, user := a.mate(r)
	return func(tx *store.Tx) (any, error) { return a.Service.RemoveTeammate(tx, r.User, team, user) }, nil
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

func (a *api) getScore(r *call) (work, error) {
	user, days := cmp.Or(r.Query.Text("user_id", maxText), r.User), spanOf(r.Query)
	r.Needs = func(tx *store.Tx) ([]attr.Item, error) {
		teams, err := a.Service.TeamNeeds(tx, r.User, "")
		games, gamesErr := a.Service.RecentNeeds(tx, user)
		return append(teams, games...), cmp.Or(err, gamesErr)
	}
	return func(tx *store.Tx) (any, error) { return a.Service.Scores(tx, r.User, user, days.from, days.to) }, nil
}

// getScoreboard returns the board of a day, or a page of the boards of a range of days. Those, and a preview of a day, have no scores.
func (a *api) getScoreboard(r *call) (work, error) {
	days, preview, page := spanOf(r.Query), r.Query.OneOf("preview", "true", "false"), max(1, r.Query.Number("page", 1<<20))
	team := a.team(r, requiredQuery(r, "team_id"))
	size, err := strconv.Atoi(cmp.Or(r.GetHeader("page_size"), "100"))
	if err != nil || size < 1 || size > 100 {
		r.Query.Bad("page_size", "must be a whole number from 1 to 100")
	}
	if days.day {
		a.team(r, team, days.from)
	}
	return func(tx *store.Tx) (any, error) {
		if !days.day {
			all, total, err := a.Service.Boards(tx, r.User, team, days.from, days.to, (page-1)*size, size)
			if err == nil {
				pages(r, page, max(1, (total+size-1)/size))
			}
			return all, err
		}
		b, err := a.Service.Board(tx, r.User, team, days.from)
		if preview == "true" {
			b.Scores = nil
		}
		return b, err
	}, nil
}

// pages sets the paging headers: the number of pages, and the queries of the next page and of the one before.
func pages(r *call, page, total int) {
	r.Header("page_qty", strconv.Itoa(total))
	for header, to := range map[string]int{"pg_query_forward": page + 1, "pg_query_backward": min(page-1, total)} {
		if q := r.Request.URL.Query(); to >= 1 && to <= total {
			q.Set("page", strconv.Itoa(to))
			r.Header(header, q.Encode())
		}
	}
}

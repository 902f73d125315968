package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func (h *handlers) getProfile(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.puzzle.Profile(tx, r.User) })
}

// putProfile takes {displayName?, avatarUrl?}.
func (h *handlers) putProfile(r *httpapi.Request) (httpapi.Response, error) {
	name, avatar := r.Body().Change("displayName", longText), r.Body().Change("avatarUrl", 16*maxText)
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := checkProfile(name, avatar); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.SetProfile(tx, r.User, name, avatar) })
}

// checkProfile checks the fields of a profile that a request gives, of which there must be one.
func checkProfile(name, avatar *string) error {
	if avatar != nil && !isHTTPS(*avatar) {
		return fault.New(fault.Invalid, "bad_request", "avatarUrl must be an https URL")
	}
	missing := name == nil && avatar == nil
	bad := name != nil && (strings.TrimSpace(*name) == "" || utf8.RuneCountInString(*name) > 40)
	if missing || bad {
		return fault.New(fault.Invalid, "bad_request", "displayName must be 1 to 40 characters")
	}
	return nil
}

func isHTTPS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

func (h *handlers) getTeam(r *httpapi.Request) (httpapi.Response, error) {
	team := requiredQuery(r, "team_id")
	if err := h.fetchTeam(r, team); err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) { return h.puzzle.Team(tx, team, r.User) })
}

// createTeam takes {team_name}.
func (h *handlers) createTeam(r *httpapi.Request) (httpapi.Response, error) {
	name := r.Body().Text("team_name", longText)
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	key, err := r.Key()
	if err != nil {
		return httpapi.Response{}, err
	}
	var once []scorekeeper.Once
	if key != "" {
		scope, former := r.OnceScope(r.User)
		for _, each := range append([]string{scope}, former...) {
			once = append(once, scorekeeper.Once{Scope: each, Key: key})
		}
	}
	return r.Write(http.StatusCreated, func(tx *store.Tx) (any, error) { return h.puzzle.CreateTeam(tx, r.User, name, once...) })
}

// deleteTeam takes {team_id}.
func (h *handlers) deleteTeam(r *httpapi.Request) (httpapi.Response, error) {
	team := requiredID(r.Body(), "team_id")
	if err := h.fetchTeam(r, team); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.DeleteTeam(tx, r.User, team) })
}

// acceptTeam takes {team_id}.
func (h *handlers) acceptTeam(r *httpapi.Request) (httpapi.Response, error) {
	team := requiredID(r.Body(), "team_id")
	if err := h.fetchTeam(r, team); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.AcceptTeam(tx, r.User, team) })
}

// putTeammate takes {team_id, user_id, role}.
func (h *handlers) putTeammate(r *httpapi.Request) (httpapi.Response, error) {
	team, user := readTeammate(r)
	role := scorekeeper.Role(bind.Need(r.Body(), "role", func(name string) string {
		return r.Body().OneOf(name, string(scorekeeper.RoleAdmin), string(scorekeeper.RoleMember))
	}))
	if err := h.fetchTeam(r, team); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.SetTeammate(tx, r.User, team, user, role) })
}

// deleteTeammate takes {team_id, user_id}.
func (h *handlers) deleteTeammate(r *httpapi.Request) (httpapi.Response, error) {
	team, user := readTeammate(r)
	if err := h.fetchTeam(r, team); err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.RemoveTeammate(tx, r.User, team, user) })
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

func (h *handlers) getScore(r *httpapi.Request) (httpapi.Response, error) {
	user, days := cmp.Or(r.Query.Text("user_id", maxText), r.User), spanOf(r.Query)
	err := r.FetchNeeds(func(tx *store.Tx) ([]attr.Item, error) {
		teams, err := h.puzzle.TeamNeeds(tx, r.User, "")
		if err != nil {
			return nil, err
		}
		games, err := h.puzzle.RecentNeeds(tx, user)
		return append(teams, games...), err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) { return h.puzzle.Scores(tx, r.User, user, days.from, days.to) })
}

// getScoreboard returns the board of a day, or a page of the boards of a range of days. Those, and a preview of a day, have no scores.
func (h *handlers) getScoreboard(r *httpapi.Request) (httpapi.Response, error) {
	days, team := spanOf(r.Query), requiredQuery(r, "team_id")
	preview := r.Query.OneOf("preview", "true", "false") == "true"
	page := max(1, r.Query.Number("page", 1<<20))
	size, err := strconv.Atoi(cmp.Or(r.Header.Get("page_size"), "100"))
	if err != nil || size < 1 || size > 100 {
		r.Query.Bad("page_size", "must be a whole number from 1 to 100")
	}
	if !days.day {
		return h.getBoards(r, team, days, page, size)
	}
	if err := h.fetchTeam(r, team, days.from); err != nil {
		return httpapi.Response{}, err
	}
	return r.Read(func(tx *store.Tx) (any, error) {
		board, err := h.puzzle.Board(tx, r.User, team, days.from)
		if preview {
			board.Scores = nil
		}
		return board, err
	})
}

// getBoards returns a page of the boards of a range of days.
func (h *handlers) getBoards(r *httpapi.Request, team string, days span, page, size int) (httpapi.Response, error) {
	if err := h.fetchTeam(r, team); err != nil {
		return httpapi.Response{}, err
	}
	total := 0
	response, err := r.Read(func(tx *store.Tx) (_ any, err error) {
		var boards []scorekeeper.Board
		boards, total, err = h.puzzle.Boards(tx, r.User, team, days.from, days.to, (page-1)*size, size)
		return boards, err
	})
	if err == nil {
		setPageHeaders(r, page, max(1, (total+size-1)/size))
	}
	return response, err
}

// setPageHeaders sets the paging headers: the number of pages, and the queries of the next page and of the one before.
func setPageHeaders(r *httpapi.Request, page, total int) {
	r.SetHeader("page_qty", strconv.Itoa(total))
	for header, to := range map[string]int{"pg_query_forward": page + 1, "pg_query_backward": min(page-1, total)} {
		if to < 1 || to > total {
			continue
		}
		query := r.URL.Query()
		query.Set("page", strconv.Itoa(to))
		r.SetHeader(header, query.Encode())
	}
}

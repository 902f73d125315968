package web

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const maxLeague = 64 // bytes of a league's code or id

// parseMatchFilter reads the query of a list of matches. Every parameter may occur once; all errors are reported together.
func parseMatchFilter(rawQuery string) (matches.MatchFilter, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return matches.MatchFilter{}, bind.Invalid("query", "is not properly encoded")
	}
	q := bind.NewQuery(values)
	f := matches.MatchFilter{
		League: q.Text("league", maxLeague),
		Status: q.OneOf("status", "upcoming", "live", "completed"),
		From:   q.Instant("from", 0),
		To:     q.Instant("to", 24*time.Hour-time.Millisecond),
		Limit:  q.Number("limit", bind.MaxLimit),
		Cursor: q.Text("cursor", bind.MaxCursor),
	}
	if !f.From.IsZero() && !f.To.IsZero() && f.To.Before(f.From) {
		q.Bad("to", "lies before from")
	}
	if err := q.Err(); err != nil {
		return matches.MatchFilter{}, err
	}
	return f, nil
}

func (a *api) getMatches(c *gin.Context) error {
	f, err := parseMatchFilter(c.Request.URL.RawQuery)
	if err != nil {
		return err
	}
	if f.League, err = a.leagueCode(c, f.League); err != nil {
		return err
	}
	items, next, err := a.Service.Matches(c.Request.Context(), f)
	return httpapi.JSON(c, httpapi.NewList(items, next), err)
}

// leagueCode returns the code of the league if a filter gives the feed's numeric id.
func (a *api) leagueCode(c *gin.Context, text string) (string, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return text, nil
	}
	code := text
	err := httpapi.View(c, func(tx *store.Tx) error {
		l, err := reference.Leagues{}.Get(tx, text)
		if err == nil && l.Code != "" {
			code = l.Code
		}
		if fault.Is(err, fault.NotFound) {
			return nil // no such league: no matches
		}
		return err
	})
	return code, err
}

func (a *api) getDisplay(c *gin.Context, id string) error {
	q := bind.Parameters(c.Request)
	team := q.Number("teamId", math.MaxInt)
	if err := q.Err(); err != nil {
		return err
	}
	if err := a.ensureEvents(c.Request.Context(), id); err != nil {
		return err
	}
	d, err := a.Service.Display(c.Request.Context(), id)
	if err != nil {
		return err
	}
	if team != 0 && !slices.ContainsFunc(d.Teams, func(t cricket.TeamScore) bool { return t.ID == int64(team) }) {
		return bind.Invalid("teamId", "is not a team of this match")
	}
	return httpapi.JSON(c, d.ForTeam(int64(team)), nil)
}

// liveMatches has a shape of its own, which the application's apps know.
type liveMatches struct {
	Matches []liveMatch `json:"matches"`
}

type liveMatch struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	League string `json:"league"`
	Score  string `json:"score"` // "ENG 233/6 (49.3) v NZ 241/8 (50.0)"
}

func (a *api) getLiveMatches(c *gin.Context) error {
	out := liveMatches{Matches: []liveMatch{}}
	live, err := a.Service.Live(c.Request.Context())
	if err != nil {
		return err
	}
	for i := range live {
		f := &live[i]
		out.Matches = append(out.Matches, liveMatch{ID: f.MatchID, Status: f.Status, League: f.LeagueName, Score: scoreLine(f)})
	}
	return httpapi.JSON(c, out, nil)
}

// scoreLine returns the score of a match by codes, or by names if both sides have one code.
func scoreLine(f *matches.Fixture) string {
	oneCode := len(f.Teams) == 2 && strings.EqualFold(f.Teams[0].Code, f.Teams[1].Code)
	sides := make([]string, 0, len(f.Teams))
	for _, t := range f.Teams {
		if oneCode && t.Name != "" {
			t.Code = t.Name
		}
		sides = append(sides, strings.TrimSpace(t.Code+" "+t.Score))
	}
	return strings.Join(sides, " v ")
}

func (a *api) getEvents(c *gin.Context, id string) error {
	if _, err := a.Service.Match(c.Request.Context(), id); err != nil {
		return err // an unknown match is not one without events
	}
	if err := a.ensureEvents(c.Request.Context(), id); err != nil {
		return err
	}
	events, err := a.Service.Events(c.Request.Context(), id)
	return httpapi.JSON(c, httpapi.NewList(events, ""), err)
}

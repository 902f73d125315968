package web

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

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

func (h *handlers) listMatches(r *httpapi.Request) (httpapi.Response, error) {
	f, err := parseMatchFilter(r.URL.RawQuery)
	if err != nil {
		return httpapi.Response{}, err
	}
	f.League, err = leagueCode(r, f.League)
	if err != nil {
		return httpapi.Response{}, err
	}
	items, next, err := h.Service.Matches(r.Context(), f)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplyTagged(httpapi.NewList(items, next))
}

// leagueCode returns the code of the league if a filter gives the feed's numeric id.
func leagueCode(r *httpapi.Request, text string) (string, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return text, nil
	}
	code := text
	err := r.View(func(tx *store.Tx) error {
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

func (h *handlers) getMatch(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	fixture, err := h.Service.Match(r.Context(), match)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplyTagged(fixture)
}

func (h *handlers) getCard(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	card, err := h.Service.Card(r.Context(), match)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplyTagged(card)
}

func (h *handlers) getDisplay(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	team := int64(r.Query.Number("teamId", math.MaxInt))
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := h.ensureEvents(r.Context(), match); err != nil {
		return httpapi.Response{}, err
	}
	d, err := h.Service.Display(r.Context(), match)
	if err != nil {
		return httpapi.Response{}, err
	}
	if team != 0 && !slices.ContainsFunc(d.Teams, func(t cricket.TeamScore) bool { return t.ID == team }) {
		return httpapi.Response{}, bind.Invalid("teamId", "is not a team of this match")
	}
	return httpapi.ReplyTagged(d.ForTeam(team))
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

func (h *handlers) listLiveMatches(r *httpapi.Request) (httpapi.Response, error) {
	out := liveMatches{Matches: []liveMatch{}}
	live, err := h.Service.Live(r.Context())
	if err != nil {
		return httpapi.Response{}, err
	}
	for i := range live {
		f := &live[i]
		out.Matches = append(out.Matches, liveMatch{ID: f.MatchID, Status: f.Status, League: f.LeagueName, Score: scoreLine(f)})
	}
	return httpapi.ReplyTagged(out)
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

func (h *handlers) listEvents(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	if _, err := h.Service.Match(r.Context(), match); err != nil {
		return httpapi.Response{}, err // an unknown match is not one without events
	}
	if err := h.ensureEvents(r.Context(), match); err != nil {
		return httpapi.Response{}, err
	}
	events, err := h.Service.Events(r.Context(), match)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplyTagged(httpapi.NewList(events, ""))
}

package httpapi

import (
	"math"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

// list is the shape of every list of the application; Cursor is null on the last page.
type list[T any] struct {
	Items  []T     `json:"items"`
	Cursor *string `json:"cursor"`
}

func newList[T any](items []T, next string) list[T] {
	l := list[T]{Items: items}
	if l.Items == nil {
		l.Items = []T{}
	}
	if next != "" {
		l.Cursor = &next
	}
	return l
}

// maxMatchID is the longest id a match can have: what is longer need not be looked up.
const maxMatchID = 64

func matchID(c *gin.Context) (string, error) {
	id := c.Param("id")
	if id == "" || len(id) > maxMatchID {
		return "", fault.New(fault.NotFound, "match_not_found", "There is no such match here.")
	}
	return id, nil
}

func (s *Server) getMatches(c *gin.Context) error {
	f, err := parseMatchFilter(c.Request.URL.RawQuery)
	if err != nil {
		return err
	}
	if f.League, err = s.leagueCode(c, f.League); err != nil {
		return err
	}
	items, next, err := s.cfg.Cricket.Matches(c.Request.Context(), f)
	if err != nil {
		return err
	}
	return writeJSON(c, newList(items, next))
}

func (s *Server) getMatch(c *gin.Context) error {
	id, err := matchID(c)
	if err != nil {
		return err
	}
	m, err := s.cfg.Cricket.Match(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(c, m)
}

func (s *Server) getDisplay(c *gin.Context) error {
	id, err := matchID(c)
	if err != nil {
		return err
	}
	p := queryParser{values: c.Request.URL.Query()}
	team := p.number("teamId", math.MaxInt)
	if len(p.details) > 0 {
		return &invalidError{p.details}
	}
	if err := s.ensureEvents(c.Request.Context(), id); err != nil {
		return err
	}
	d, err := s.cfg.Cricket.Display(c.Request.Context(), id)
	if err != nil {
		return err
	}
	if team != 0 && !slices.ContainsFunc(d.Teams, func(t cricket.TeamScore) bool { return t.ID == int64(team) }) {
		return &invalidError{[]detail{{"teamId", "is not a team of this match"}}}
	}
	return writeJSON(c, d.For(int64(team)))
}

// liveMatches is an answer of its own shape, as the application's apps know it.
type liveMatches struct {
	Matches []liveMatch `json:"matches"`
}

type liveMatch struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	League string `json:"league"`
	Score  string `json:"score"` // "ENG 233/6 (49.3) v NZ 241/8 (50.0)"
}

func (s *Server) getLiveMatches(c *gin.Context) error {
	out := liveMatches{Matches: []liveMatch{}}
	live, err := s.cfg.Cricket.Live(c.Request.Context())
	if err != nil {
		return err
	}
	for i := range live {
		out.Matches = append(out.Matches, newLiveMatch(&live[i]))
	}
	return writeJSON(c, out)
}

func newLiveMatch(f *cricket.Fixture) liveMatch {
	sides := make([]string, 0, len(f.Teams))
	for _, t := range f.Teams {
		sides = append(sides, strings.TrimSpace(t.Code+" "+t.Score))
	}
	return liveMatch{ID: f.MatchID, Status: f.Status, League: f.LeagueName, Score: strings.Join(sides, " v ")}
}

func (s *Server) getCard(c *gin.Context) error {
	id, err := matchID(c)
	if err != nil {
		return err
	}
	card, err := s.cfg.Cricket.Card(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(c, card)
}

func (s *Server) getEvents(c *gin.Context) error {
	id, err := matchID(c)
	if err != nil {
		return err
	}
	if _, err := s.cfg.Cricket.Match(c.Request.Context(), id); err != nil {
		return err // a match without events and no match are not the same
	}
	if err := s.ensureEvents(c.Request.Context(), id); err != nil {
		return err
	}
	events, err := s.cfg.Cricket.Events(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(c, newList(events, ""))
}

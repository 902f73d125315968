package httpapi

import (
	"github.com/gin-gonic/gin"

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
	d, err := s.cfg.Cricket.Display(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(c, d)
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
	events, err := s.cfg.Cricket.Events(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(c, newList(events, ""))
}

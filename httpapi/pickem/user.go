package pickem

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

const usualEvents = 20

type eventList struct {
	Events []pickem.Listed `json:"events"`
	Cursor *string         `json:"cursor"`
}

func (a *api) getEvents(c *gin.Context, user string) error {
	p, err := bind.ReadPage(c.Request)
	if err != nil {
		return err
	}
	if c.Query("limit") == "" {
		p.Limit = usualEvents
	}
	var out eventList
	err = httpapi.View(c, func(tx *store.Tx) error {
		all, next, err := a.Service.Events(tx, user, p.Limit, p.Start)
		out.Events = all
		if next != nil {
			cursor := bind.Cursor(next)
			out.Cursor = &cursor
		}
		return err
	})
	if p.Start != nil && fault.Is(err, fault.Invalid) {
		err = bind.BadCursor()
	}
	return httpapi.JSON(c, out, err)
}

func (a *api) getEvent(c *gin.Context, user string) error {
	return httpapi.AnswerView(c, func(tx *store.Tx) (pickem.Card, error) { return a.Service.Event(tx, c.Param("id"), user) })
}

// putPredictions: {predictions: {matchId: index | null}}.
func (a *api) putPredictions(c *gin.Context, user string) error {
	picks, err := indexes(c, "predictions")
	if err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (pickem.Card, error) { return a.Service.Predict(tx, user, c.Param("id"), picks) })
}

// indexes reads a member of a body that has an index or null by match.
func indexes(c *gin.Context, name string) (out map[string]*int, err error) {
	b := httpapi.Body(c)
	raw, ok := b.Get(name)
	if err := b.Err(); err != nil {
		return nil, err
	}
	if !ok || json.Unmarshal(raw, &out) != nil || len(out) > pickem.MaxMatches {
		return nil, bind.Invalid(name, "must have the index of a team, or null, by match")
	}
	return out, nil
}

type standingsAnswer struct {
	Year      string            `json:"year"`
	Standings []pickem.Standing `json:"standings"`
}

func (a *api) getStandings(c *gin.Context, _ string) error {
	return httpapi.AnswerView(c, func(tx *store.Tx) (standingsAnswer, error) {
		year, err := yearAsked(c, tx)
		if err != nil {
			return standingsAnswer{}, err
		}
		all, err := a.Service.Standings(tx, year)
		return standingsAnswer{year, all}, err
	})
}

// yearAsked is the year that a request names, else this one.
func yearAsked(c *gin.Context, tx *store.Tx) (string, error) {
	year := c.Query("year")
	if year == "" {
		return strconv.Itoa(tx.Now().UTC().Year()), nil
	}
	if _, err := time.Parse("2006", year); err != nil {
		return "", bind.Invalid("year", "must be a year such as 2024")
	}
	return year, nil
}

func (a *api) getMe(c *gin.Context, user string) error { return a.profile(c, user, user) }

func (a *api) getUser(c *gin.Context, user string) error { return a.profile(c, c.Param("id"), user) }

func (a *api) profile(c *gin.Context, user, reader string) error {
	return httpapi.AnswerView(c, func(tx *store.Tx) (pickem.Profile, error) { return a.Service.Profile(tx, user, reader) })
}

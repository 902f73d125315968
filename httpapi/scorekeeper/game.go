package scorekeeper

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxText is the longest word, date or id that is looked at.
const maxText = 128

// need reads a text that has to be there.
func need(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, maxText) })
}

// postGuess: {puzzle_date_iso_day, word_guessed}. With an Idempotency-Key it may be sent again.
func (a *api) postGuess(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	g := scorekeeper.Guess{User: user, Date: need(b, "puzzle_date_iso_day"), Word: strings.ToLower(need(b, "word_guessed"))}
	if err := b.Err(); err != nil {
		return err
	}
	if err := a.Service.CheckGuess(&g); err != nil {
		return err
	}
	if err := a.ensureGame(c, user, g.Date); err != nil {
		return err
	}
	var err error
	if g.Key, err = httpapi.IdempotencyKey(c); err != nil {
		return err
	}
	return a.offline(c, httpapi.AnswerUpdate(c, func(tx *store.Tx) (v scorekeeper.View, err error) {
		if g.At, err = httpapi.OccurredAt(c, tx.Now()); err != nil {
			return v, err
		}
		return a.Service.Guess(tx, g)
	}))
}

// getGame shows the player's game. Guesses that did not count are told once.
func (a *api) getGame(c *gin.Context, user string) error {
	date := c.Param("date")
	if err := a.ensureGame(c, user, date); err != nil {
		return err
	}
	var v scorekeeper.View
	err := httpapi.View(c, func(tx *store.Tx) (err error) {
		v, err = a.Service.Game(tx, user, date)
		return err
	})
	if err == nil && len(v.Dropped) > 0 {
		err = httpapi.Update(c, func(tx *store.Tx) error { return a.Service.Seen(tx, user, date) })
	}
	return a.offline(c, httpapi.JSON(c, v, err))
}

// ensureGame has the day's answer and the player's game here.
func (a *api) ensureGame(c *gin.Context, user, date string) error {
	if a.Ensure == nil {
		return nil
	}
	keys := []attr.Item{scorekeeper.GameKey(user, date)}
	if !a.Service.HasAnswer(date) {
		keys = append(keys, scorekeeper.AnswerKey(date))
	}
	return httpapi.EnsureWithin(c.Request.Context(), func(ctx context.Context) error { return a.Ensure(ctx, a.Service.Table, keys...) })
}

// ensureTeam has a team here with its members and their games of some days, or, without one, the player's teams.
func (a *api) ensureTeam(c *gin.Context, user, team string, days ...string) error {
	if a.Ensure == nil {
		return nil
	}
	return httpapi.EnsureWithin(c.Request.Context(), func(ctx context.Context) error {
		for range 2 { // who its members are is known when it is here
			var keys []attr.Item
			err := httpapi.View(c, func(tx *store.Tx) (err error) {
				keys, err = a.Service.Needs(tx, user, team, days...)
				return err
			})
			if err == nil {
				err = a.Ensure(ctx, a.Service.Table, keys...)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// offline says of a puzzle that is not here that the cloud, which may have it, could not be asked.
func (a *api) offline(c *gin.Context, err error) error {
	if fault.Is(err, fault.NotFound) && a.Ensure != nil && httpapi.Node(c).Cloud.State == "offline" {
		c.Header("Touchline-Offline", "1")
	}
	return err
}

// postConvert: {session_id}.
func (a *api) postConvert(c *gin.Context, user string) error {
	b := httpapi.Body(c)
	session := need(b, "session_id")
	if err := b.Err(); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (scorekeeper.Conversion, error) { return a.Service.Convert(tx, user, session) })
}

// puzzleList is the answer of GET /puzzles.
type puzzleList struct {
	Puzzles []scorekeeper.Puzzle `json:"puzzles"`
}

// getPuzzles lists puzzles; words are for admins who do not leave them out.
func (a *api) getPuzzles(c *gin.Context) error {
	q := bind.Parameters(c.Request)
	from, to, omit := q.Text("start_date", maxText), q.Text("end_date", maxText), q.OneOf("omit_answers", "true", "false")
	if err := q.Err(); err != nil {
		return err
	}
	return httpapi.AnswerView(c, func(tx *store.Tx) (puzzleList, error) {
		all, err := a.Service.Puzzles(tx, from, to)
		for i := range all {
			all[i] = shown(c, all[i], omit == "true")
		}
		return puzzleList{all}, err
	})
}

// shown is a puzzle as the caller may see it: the word is for admins.
func shown(c *gin.Context, p scorekeeper.Puzzle, omit bool) scorekeeper.Puzzle {
	if who, _ := httpapi.Identity(c); omit || !who.Admin {
		p.Word = ""
	}
	p.TeamID = ""
	return p
}

func (a *api) getPuzzle(c *gin.Context) error {
	return httpapi.AnswerView(c, func(tx *store.Tx) (scorekeeper.Puzzle, error) {
		p, err := a.Service.Puzzle(tx, c.Param("date"))
		return shown(c, p, false), err
	})
}

// putPuzzle: {date, word | set_random_unused_word, teamId?}.
func (a *api) putPuzzle(c *gin.Context) error {
	b := httpapi.Body(c)
	n := scorekeeper.NewAnswer{Date: need(b, "date"), Word: b.Text("word", maxText), TeamID: b.Text("teamId", maxText)}
	random := b.Bool("set_random_unused_word")
	n.Random = random != nil && *random
	if err := b.Err(); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (scorekeeper.Puzzle, error) { return a.Service.SetAnswer(tx, n) })
}

func (a *api) postCacheClear(c *gin.Context) error {
	var last uint64
	err := httpapi.View(c, func(tx *store.Tx) error {
		last = tx.Seq()
		return nil
	})
	if err == nil {
		a.Service.ClearCache(last)
	}
	return httpapi.Answer(c, 200, map[string]string{"message": "Puzzle answer cache cleared"}, err)
}

package web

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Limits of string fields, in bytes: of IDs, and of fields that the rules check themselves.
const (
	maxText  = 128
	longText = 1 << 16 // no body is longer
)

// postGuess takes {puzzle_date_iso_day, word_guessed}. A request with an Idempotency-Key may be repeated.
func (a *api) postGuess(r *call) (work, error) {
	g := scorekeeper.Guess{User: r.User, Date: requiredText(r.Body(), "puzzle_date_iso_day"), Word: strings.ToLower(requiredText(r.Body(), "word_guessed"))}
	httpapi.CountsOnce(r.Context)
	key, err := httpapi.IdempotencyKey(r.Context)
	g.Key, r.Needs = key, a.game(r.User, g.Date)
	return func(tx *store.Tx) (any, error) {
		v, err := a.Service.Guess(tx, g)
		return v, a.offline(r.Context, err)
	}, cmp.Or(r.Body().Err(), a.guesses(r.Context), a.Service.CheckGuess(&g), err)
}

// getGame returns the player's game. Words that did not count are reported once.
func (a *api) getGame(r *call) (work, error) {
	c, date := r.Context, r.Param("date")
	if err := a.Ensure.Needs(c, a.Service.Table, a.game(r.User, date)); err != nil {
		return nil, err
	}
	v, err := httpapi.Read(c, func(tx *store.Tx) (scorekeeper.View, error) { return a.Service.Game(tx, r.User, date) })
	if err == nil && len(v.Dropped) > 0 && c.Request.Method == http.MethodGet { // a HEAD has shown the player nothing
		err = httpapi.Update(c, func(tx *store.Tx) error { return a.Service.RecordSeenDrops(tx, r.User, date, v.Dropped) })
	}
	return nil, a.offline(c, httpapi.JSON(c, v, err))
}

// game names the rows behind a player's game for a day.
func (a *api) game(user, date string) func(tx *store.Tx) ([]attr.Item, error) {
	return func(*store.Tx) ([]attr.Item, error) { return a.Service.GameNeeds(user, date), nil }
}

// offline sets a header if a puzzle was not found while the cloud, which may have it, could not be reached.
func (a *api) offline(c *gin.Context, err error) error {
	if fault.Is(err, fault.NotFound) && a.Ensure != nil && httpapi.Node(c).Cloud.State == "offline" {
		c.Header("Touchline-Offline", "1")
	}
	return err
}

// recent names a player's recent games.
func (a *api) recent(user string) func(tx *store.Tx) ([]attr.Item, error) {
	return func(tx *store.Tx) ([]attr.Item, error) { return a.Service.RecentNeeds(tx, user) }
}

func (a *api) getHistory(r *call) (work, error) {
	r.Needs = a.recent(r.User)
	return func(tx *store.Tx) (any, error) { return a.Service.History(tx, r.User) }, nil
}

// postConvert takes {session_id}.
func (a *api) postConvert(r *call) (work, error) {
	session := requiredText(r.Body(), "session_id")
	r.Needs = a.recent(session)
	return func(tx *store.Tx) (any, error) { return a.Service.Convert(tx, r.User, session) }, nil
}

// getPuzzles lists puzzles. Admins see the words, unless they set omit_answers.
func (a *api) getPuzzles(r *call) (work, error) {
	from, to, omit := r.Query.Text("start_date", longText), r.Query.Text("end_date", longText), r.Query.OneOf("omit_answers", "true", "false")
	return func(tx *store.Tx) (any, error) {
		all, err := a.Service.Puzzles(tx, from, to)
		for i := range all {
			all[i] = visiblePuzzle(r, all[i], omit == "true")
		}
		return map[string]any{"puzzles": all}, err
	}, nil
}

// visiblePuzzle returns a puzzle as the caller may see it: with its word for an admin only.
func visiblePuzzle(r *call, p scorekeeper.Puzzle, omit bool) scorekeeper.Puzzle {
	if who, _ := httpapi.Identity(r.Context); omit || !who.Admin {
		p.Word = ""
	}
	p.TeamID = ""
	return p
}

func (a *api) getPuzzle(r *call) (work, error) {
	return func(tx *store.Tx) (any, error) {
		p, err := a.Service.Puzzle(tx, r.Param("date"))
		return visiblePuzzle(r, p, false), err
	}, nil
}

// putPuzzle takes {date, word | set_random_unused_word, teamId?}.
func (a *api) putPuzzle(r *call) (work, error) {
	n := scorekeeper.NewAnswer{Date: requiredText(r.Body(), "date"), Word: r.Body().Text("word", longText), TeamID: r.Body().Text("teamId", maxText)}
	random := r.Body().Bool("set_random_unused_word")
	n.Random = random != nil && *random
	return func(tx *store.Tx) (any, error) { return a.Service.SetAnswer(tx, n) }, nil
}

func (a *api) postCacheClear(r *call) (work, error) {
	r.Body() // must be valid, if there is one
	return func(tx *store.Tx) (any, error) {
		a.Service.ClearCache(tx.Seq())
		return map[string]string{"message": "Puzzle answer cache cleared"}, nil
	}, nil
}

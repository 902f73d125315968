package scorekeeper

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
func (a *api) postGuess(r *request) work {
	g := scorekeeper.Guess{User: r.user, Date: given(r.body, "puzzle_date_iso_day"), Word: strings.ToLower(given(r.body, "word_guessed"))}
	key, err := httpapi.IdempotencyKey(r.Context)
	g.Key, r.wrong, r.needs = key, cmp.Or(a.guesses(r.Context), a.Service.CheckGuess(&g), err), a.game(r.user, g.Date)
	return func(tx *store.Tx) (any, error) {
		g.At, g.Late = httpapi.OccurredAt(r.Context, tx.Now())
		v, err := a.Service.Guess(tx, g)
		return v, a.offline(r.Context, err)
	}
}

// getGame returns the player's game. Words that did not count are reported once.
func (a *api) getGame(c *gin.Context) error {
	user, err := player(c)
	if err == nil {
		err = a.Ensure.Needs(c, a.Service.Table, a.game(user, c.Param("date")))
	}
	if err != nil {
		return err
	}
	v, err := httpapi.Read(c, func(tx *store.Tx) (scorekeeper.View, error) { return a.Service.Game(tx, user, c.Param("date")) })
	if err == nil && len(v.Dropped) > 0 && c.Request.Method == http.MethodGet { // a HEAD has shown the player nothing
		err = httpapi.Update(c, func(tx *store.Tx) error { return a.Service.Seen(tx, user, c.Param("date"), v.Dropped) })
	}
	return a.offline(c, httpapi.JSON(c, v, err))
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

func (a *api) getHistory(r *request) work {
	r.needs = a.recent(r.user)
	return func(tx *store.Tx) (any, error) { return a.Service.History(tx, r.user) }
}

// postConvert takes {session_id}.
func (a *api) postConvert(r *request) work {
	session := given(r.body, "session_id")
	r.needs = a.recent(session)
	return func(tx *store.Tx) (any, error) { return a.Service.Convert(tx, r.user, session) }
}

// getPuzzles lists puzzles. Admins see the words, unless they set omit_answers.
func (a *api) getPuzzles(r *request) work {
	from, to, omit := r.query.Text("start_date", longText), r.query.Text("end_date", longText), r.query.OneOf("omit_answers", "true", "false")
	return func(tx *store.Tx) (any, error) {
		all, err := a.Service.Puzzles(tx, from, to)
		for i := range all {
			all[i] = r.shown(all[i], omit == "true")
		}
		return map[string]any{"puzzles": all}, err
	}
}

// shown returns a puzzle as the caller may see it: with its word for an admin only.
func (r *request) shown(p scorekeeper.Puzzle, omit bool) scorekeeper.Puzzle {
	if who, _ := httpapi.Identity(r.Context); omit || !who.Admin {
		p.Word = ""
	}
	p.TeamID = ""
	return p
}

func (a *api) getPuzzle(r *request) work {
	return func(tx *store.Tx) (any, error) {
		p, err := a.Service.Puzzle(tx, r.Param("date"))
		return r.shown(p, false), err
	}
}

// putPuzzle takes {date, word | set_random_unused_word, teamId?}.
func (a *api) putPuzzle(r *request) work {
	n := scorekeeper.NewAnswer{Date: given(r.body, "date"), Word: r.body.Text("word", longText), TeamID: r.body.Text("teamId", maxText)}
	random := r.body.Bool("set_random_unused_word")
	n.Random = random != nil && *random
	return func(tx *store.Tx) (any, error) { return a.Service.SetAnswer(tx, n) }
}

func (a *api) postCacheClear(*request) work {
	return func(tx *store.Tx) (any, error) {
		a.Service.ClearCache(tx.Seq())
		return map[string]string{"message": "Puzzle answer cache cleared"}, nil
	}
}

package web

import (
	"net/http"
	"strings"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func (h *handlers) getHealth(*httpapi.Request) (httpapi.Response, error) {
	return httpapi.ReplyText("OK")
}

// beginSession sets a guest's cookie in a browser that has none.
func (h *handlers) beginSession(r *httpapi.Request) (httpapi.Response, error) {
	_, err := r.GuestID()
	return httpapi.Response{}, err
}

// postGuess takes {puzzle_date_iso_day, word_guessed}.
func (h *handlers) postGuess(r *httpapi.Request) (httpapi.Response, error) {
	date, word := requiredText(r.Body(), "puzzle_date_iso_day"), requiredText(r.Body(), "word_guessed")
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	if err := r.CheckLimit(h.guesses); err != nil {
		return httpapi.Response{}, err
	}
	key, err := r.Key()
	if err != nil {
		return httpapi.Response{}, err
	}
	guess := scorekeeper.Guess{User: r.User, Date: date, Word: strings.ToLower(word), Key: key}
	if err := h.puzzle.CheckGuess(&guess); err != nil {
		return httpapi.Response{}, err
	}
	if err := r.Fetch(h.puzzle.GameNeeds(r.User, date)...); err != nil {
		return httpapi.Response{}, err
	}
	response, err := r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.Guess(tx, guess) })
	h.noteOffline(r, err)
	return response, err
}

// getGame returns the player's game. Words that did not count are reported once.
func (h *handlers) getGame(r *httpapi.Request) (httpapi.Response, error) {
	date := r.Param("date")
	var game scorekeeper.View
	response, err := r.Read(func(tx *store.Tx) (_ any, err error) {
		game, err = h.puzzle.Game(tx, r.User, date)
		return game, err
	})
	h.noteOffline(r, err)
	if err != nil || len(game.Dropped) == 0 || r.Method == http.MethodHead { // a HEAD shows the player nothing
		return response, err
	}
	return response, r.Update(func(tx *store.Tx) error { return h.puzzle.RecordSeenDrops(tx, r.User, date, game.Dropped) })
}

// noteOffline sets a header if a puzzle was not found while the cloud, which may have it, could not be reached.
func (h *handlers) noteOffline(r *httpapi.Request, err error) {
	if fault.Is(err, fault.NotFound) && h.cloud && r.Node().Cloud.State == "offline" {
		r.SetHeader("Touchline-Offline", "1")
	}
}

func (h *handlers) getHistory(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.puzzle.History(tx, r.User) })
}

// convertSession takes {session_id}.
func (h *handlers) convertSession(r *httpapi.Request) (httpapi.Response, error) {
	session := requiredText(r.Body(), "session_id")
	err := r.FetchNeeds(func(tx *store.Tx) ([]attr.Item, error) { return h.puzzle.RecentNeeds(tx, session) })
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.Convert(tx, r.User, session) })
}

// listPuzzles lists puzzles. Admins see the words, unless they set omit_answers.
func (h *handlers) listPuzzles(r *httpapi.Request) (httpapi.Response, error) {
	from, to := r.Query.Text("start_date", longText), r.Query.Text("end_date", longText)
	withWords := r.Query.OneOf("omit_answers", "true", "false") != "true" && r.Identity().Admin
	return r.Read(func(tx *store.Tx) (any, error) {
		puzzles, err := h.puzzle.Puzzles(tx, from, to)
		for i := range puzzles {
			puzzles[i] = visiblePuzzle(puzzles[i], withWords)
		}
		return map[string]any{"puzzles": puzzles}, err
	})
}

func (h *handlers) getPuzzle(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		puzzle, err := h.puzzle.Puzzle(tx, r.Param("date"))
		return visiblePuzzle(puzzle, r.Identity().Admin), err
	})
}

// visiblePuzzle returns a puzzle as the caller may see it.
func visiblePuzzle(p scorekeeper.Puzzle, withWord bool) scorekeeper.Puzzle {
	if !withWord {
		p.Word = ""
	}
	p.TeamID = ""
	return p
}

// putPuzzle takes {date, word | set_random_unused_word, teamId?}.
func (h *handlers) putPuzzle(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	answer := scorekeeper.NewAnswer{Date: requiredText(b, "date"), Word: b.Text("word", longText), TeamID: b.Text("teamId", maxText)}
	random := b.Bool("set_random_unused_word")
	answer.Random = random != nil && *random
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.puzzle.SetAnswer(tx, answer) })
}

func (h *handlers) clearPuzzleCache(r *httpapi.Request) (httpapi.Response, error) {
	r.Body() // must be valid, if there is one
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		h.puzzle.ClearCache(tx.Seq())
		return map[string]string{"message": "Puzzle answer cache cleared"}, nil
	})
}

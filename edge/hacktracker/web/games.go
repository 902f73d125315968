package web

import (
	"net/http"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
)

func (h *handlers) createGame(r *httpapi.Request) (httpapi.Response, error) {
	return h.create(r, func(b *hacktracker.Book, key string) (string, []store.WriteItem) {
		return b.NewGame(key, bodyMembers(r))
	}, func(b *hacktracker.Book, id string) any { return b.Game(id) })
}

func (h *handlers) listGames(r *httpapi.Request) (httpapi.Response, error) {
	page := readPage(r.Query)
	return h.read(r, func(b *hacktracker.Book) any {
		b.Refuse(!r.Identity().Admin, onlyAdmins())
		games, next := b.Games(page)
		return listPage("games", games, next)
	})
}

func (h *handlers) getGame(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.Game(r.Param("game")) })
}

// patchGame is updateGame: both change the members that the body names.
func (h *handlers) patchGame(r *httpapi.Request) (httpapi.Response, error) { return h.updateGame(r) }

func (h *handlers) updateGame(r *httpapi.Request) (httpapi.Response, error) {
	in := bodyMembers(r)
	response, err := h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.ChangeGame(r.Param("game"), in) })
	if err != nil {
		return response, err
	}
	if string(in["status"]) == `"`+hacktracker.Final+`"` {
		h.devices.Finish(r.Param("game"), scorerOf(r, ""))
	}
	h.noteEntry(r)
	return response, nil
}

func (h *handlers) deleteGame(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusNoContent, func(b *hacktracker.Book) any {
		b.DeleteGame(r.Param("game"))
		return nil
	})
}

func (h *handlers) getGameState(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.State(r.Param("game")) })
}

func (h *handlers) getBoxScore(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.Box(r.Param("game")) })
}

// streamGame tells those who may see a game when to fetch it again.
func (h *handlers) streamGame(r *httpapi.Request) (httpapi.Response, error) {
	err := r.View(func(tx *store.Tx) error {
		b := h.open(tx, r)
		b.Game(r.Param("game"))
		return b.Err()
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Stream("game", topicGame+r.Param("game"))
}

func (h *handlers) addRuns(r *httpapi.Request) (httpapi.Response, error) {
	key, err := r.Key()
	if err != nil {
		return httpapi.Response{}, err
	}
	response, err := h.write(r, http.StatusOK, func(b *hacktracker.Book) any {
		at, late := r.OccurredAt(b.Now())
		b.Fail(late)
		return b.AddRuns(r.Param("game"), key, at, bodyMembers(r))
	})
	if err == nil {
		h.noteEntry(r)
	}
	return response, err
}

func (h *handlers) createAtBat(r *httpapi.Request) (httpapi.Response, error) {
	key, err := r.Key()
	if err != nil {
		return httpapi.Response{}, err
	}
	response, err := h.write(r, http.StatusCreated, func(b *hacktracker.Book) any {
		at, late := r.OccurredAt(b.Now())
		if of, handed := r.Handed(); handed {
			b.HandIn(of.MadeBy(scorersOf(b, r)))
		}
		return b.NewAtBat(r.Param("game"), key, at, late, bodyMembers(r))
	})
	if err == nil {
		h.noteEntry(r)
	}
	return response, err
}

func (h *handlers) listAtBats(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.AtBats(r.Param("game")) })
}

func (h *handlers) getAtBat(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.AtBat(r.Param("game"), r.Param("atbat")) })
}

func (h *handlers) updateAtBat(r *httpapi.Request) (httpapi.Response, error) {
	response, err := h.write(r, http.StatusOK, func(b *hacktracker.Book) any {
		return b.ChangeAtBat(r.Param("game"), r.Param("atbat"), bodyMembers(r))
	})
	if err == nil {
		h.noteEntry(r)
	}
	return response, err
}

func (h *handlers) deleteAtBat(r *httpapi.Request) (httpapi.Response, error) {
	response, err := h.write(r, http.StatusNoContent, func(b *hacktracker.Book) any {
		b.DeleteAtBat(r.Param("game"), r.Param("atbat"))
		return nil
	})
	if err == nil {
		h.noteEntry(r)
	}
	return response, err
}

package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// usualEvents is how many events a page of the list has if the request does not say.
const usualEvents = 20

func (h *handlers) listEvents(r *httpapi.Request) (httpapi.Response, error) {
	page, err := bind.ReadPage(r.Request)
	if err != nil {
		return httpapi.Response{}, err
	}
	if !r.URL.Query().Has("limit") {
		page.Limit = usualEvents
	}
	return r.Read(func(tx *store.Tx) (any, error) {
		events, next, err := h.league.Events(tx, r.User, page.Limit, page.Start)
		if page.Start != nil && fault.Is(err, fault.Invalid) {
			return nil, bind.BadCursor()
		}
		out := map[string]any{"events": events, "cursor": nil}
		if next != nil {
			out["cursor"] = bind.Cursor(next)
		}
		return out, err
	})
}

func (h *handlers) getEvent(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.league.Event(tx, r.Param("id"), r.User) })
}

// exportPredictions returns everybody's picks once the cloud has confirmed the lock, and no picks before.
func (h *handlers) exportPredictions(r *httpapi.Request) (httpapi.Response, error) {
	var card pickem.Card
	err := r.View(func(tx *store.Tx) (err error) {
		card, err = h.league.Event(tx, r.Param("id"), r.User)
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	picks := picksTable(&card)
	return httpapi.ReplyCSV(r.Param("id")+".csv", append([][]string{picks.Heads}, picks.Rows...))
}

func (h *handlers) putPredictions(r *httpapi.Request) (httpapi.Response, error) {
	picks := indexes(r.Body(), "predictions")
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.league.Predict(tx, r.User, r.Param("id"), picks) })
}

type standings struct {
	Year      string            `json:"year"`
	Standings []pickem.Standing `json:"standings"`
}

// readStandings returns the standings of the year that a request names, or of the current year.
func (h *handlers) readStandings(tx *store.Tx, r *httpapi.Request) (out standings, err error) {
	out.Year = r.URL.Query().Get("year")
	if out.Year == "" {
		out.Year = strconv.Itoa(tx.Now().UTC().Year())
	}
	if _, err := time.Parse("2006", out.Year); err != nil {
		return out, bind.Invalid("year", "must be a year such as 2024")
	}
	out.Standings, err = h.league.Standings(tx, out.Year)
	return out, err
}

func (h *handlers) getStandings(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.readStandings(tx, r) })
}

func (h *handlers) exportStandings(r *httpapi.Request) (httpapi.Response, error) {
	var out standings
	err := r.View(func(tx *store.Tx) (err error) {
		out, err = h.readStandings(tx, r)
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	rows := [][]string{{"rank", "userId", "name", "points", "mcorrect", "eplayed"}}
	for i := range out.Standings {
		st := &out.Standings[i]
		rows = append(rows, []string{strconv.Itoa(st.Rank), st.User, st.Name, strconv.Itoa(st.Points), strconv.Itoa(st.Correct), strconv.Itoa(st.Played)})
	}
	return httpapi.ReplyCSV("standings.csv", rows)
}

func (h *handlers) getMe(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.league.Profile(tx, r.User, r.User) })
}

func (h *handlers) getUser(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.league.Profile(tx, r.Param("user"), r.User) })
}

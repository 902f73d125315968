package web

import (
	"encoding/csv"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func (h *handlers) listUsers(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		users, err := h.league.Users(tx)
		return map[string]any{"users": users}, err
	})
}

func (h *handlers) inviteUser(r *httpapi.Request) (httpapi.Response, error) {
	user, name := requiredText(r.Body(), "userId"), requiredText(r.Body(), "name")
	return r.Write(http.StatusCreated, func(tx *store.Tx) (any, error) { return h.league.Invite(tx, user, name) })
}

func (h *handlers) updateUser(r *httpapi.Request) (httpapi.Response, error) {
	name, active := r.Body().Change("name", maxText), r.Body().Bool("active")
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.league.ChangeUser(tx, r.Param("id"), name, active) })
}

func (h *handlers) deleteUser(r *httpapi.Request) (httpapi.Response, error) {
	return r.Write(http.StatusNoContent, func(tx *store.Tx) (any, error) { return nil, h.league.DeleteUser(tx, r.Param("id")) })
}

func (h *handlers) rowsOfUser(tx *store.Tx, r *httpapi.Request) ([]attr.Item, error) {
	return h.league.OfUser(tx, r.Param("id"))
}

func (h *handlers) createEvent(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	event := pickem.NewEvent{Date: requiredText(b, "date"), Name: requiredText(b, "name"), StartsAt: bind.Need(b, "startsAt", b.Instant)}
	return r.Write(http.StatusCreated, func(tx *store.Tx) (any, error) { return h.league.CreateEvent(tx, event) })
}

func (h *handlers) updateEvent(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	change := pickem.NewEvent{Date: b.Text("date", maxText), Name: b.Text("name", maxText), StartsAt: b.Instant("startsAt")}
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.league.ChangeEvent(tx, r.Param("id"), change) })
}

func (h *handlers) deleteEvent(r *httpapi.Request) (httpapi.Response, error) {
	return r.Write(http.StatusNoContent, func(tx *store.Tx) (any, error) { return nil, h.league.DeleteEvent(tx, r.Param("id")) })
}

func (h *handlers) rowsOfEvent(tx *store.Tx, r *httpapi.Request) ([]attr.Item, error) {
	return h.league.OfEvent(tx, r.Param("id"))
}

func (h *handlers) addMatch(r *httpapi.Request) (httpapi.Response, error) {
	var match pickem.Details
	readDetails(r.Body())(&match)
	key, err := r.Key()
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusCreated, func(tx *store.Tx) (any, error) {
		return h.league.AddMatch(tx, r.Param("id"), keyOfMatch(key, 0), match)
	})
}

// keyOfMatch returns the key of match n of a request: a request with an Idempotency-Key that is repeated adds no match again.
func keyOfMatch(key string, n int) string {
	if key == "" {
		return ""
	}
	return key + "#" + strconv.Itoa(n)
}

// importCard adds the matches of a CSV file (see pickem.ParseMatch) to a card, all or none.
func (h *handlers) importCard(r *httpapi.Request) (httpapi.Response, error) {
	raw, err := r.RawBody()
	if err != nil {
		return httpapi.Response{}, err
	}
	rows, err := parseCard(raw)
	if err != nil {
		return httpapi.Response{}, err
	}
	key, err := r.Key()
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Write(http.StatusCreated, func(tx *store.Tx) (any, error) {
		for i, row := range rows {
			if err := h.addRow(tx, r.Param("id"), keyOfMatch(key, i), row); err != nil {
				if fault.Is(err, fault.Invalid) {
					err = bind.Invalid("card", "match %d: %v", i+1, err)
				}
				return nil, err
			}
		}
		return h.league.Event(tx, r.Param("id"), "")
	})
}

// parseCard returns the rows of a CSV file without its heading, if it has one.
func parseCard(raw []byte) ([][]string, error) {
	file := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(raw), "\ufeff"))) // the byte order mark that spreadsheets write
	file.FieldsPerRecord = 5
	rows, err := file.ReadAll()
	if err == nil && !utf8.Valid(raw) {
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return nil, bind.Invalid("card", "is not a CSV file with five columns: %v", err)
	}
	if len(rows) > 0 && strings.EqualFold(strings.TrimSpace(rows[0][0]), "name") {
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return nil, bind.Invalid("card", "contains no matches")
	}
	return rows, nil
}

// addRow adds the match of a row to a card.
func (h *handlers) addRow(tx *store.Tx, event, key string, row []string) error {
	match, err := pickem.ParseMatch(row)
	if err != nil {
		return err
	}
	_, err = h.league.AddMatch(tx, event, key, match)
	return err
}

func (h *handlers) updateMatch(r *httpapi.Request) (httpapi.Response, error) {
	change := readDetails(r.Body())
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
		return h.league.ChangeMatch(tx, r.Param("id"), r.Param("match"), change)
	})
}

func (h *handlers) deleteMatch(r *httpapi.Request) (httpapi.Response, error) {
	return r.Write(http.StatusNoContent, func(tx *store.Tx) (any, error) {
		return nil, h.league.DeleteMatch(tx, r.Param("id"), r.Param("match"))
	})
}

func (h *handlers) orderMatches(r *httpapi.Request) (httpapi.Response, error) {
	ids := r.Body().Texts("matchIds", pickem.MaxMatches, maxText)
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.league.Order(tx, r.Param("id"), ids) })
}

func (h *handlers) setState(r *httpapi.Request) (httpapi.Response, error) {
	state := bind.Need(r.Body(), "state", func(name string) string {
		return r.Body().OneOf(name, string(pickem.Upcoming), string(pickem.Broadcast), string(pickem.Scored))
	})
	return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) { return h.league.SetState(tx, r.Param("id"), pickem.State(state)) })
}

// setResults takes {results: {matchId: index | null}}, with null for no contest. If the event was scored, it is scored again, here or at a
// node that has all results.
func (h *handlers) setResults(r *httpapi.Request) (httpapi.Response, error) {
	results := indexes(r.Body(), "results")
	var card pickem.Card
	response, err := r.Write(http.StatusOK, func(tx *store.Tx) (_ any, err error) {
		card, err = h.league.SetResults(tx, r.Param("id"), results)
		return card, err
	})
	if err != nil || card.State != pickem.Scored || h.checkCloud(r) != nil {
		return response, err
	}
	if _, err := h.league.Score(r.Context(), card.ID); err != nil && !fault.Is(err, fault.Unavailable) {
		return httpapi.Response{}, err
	}
	return response, nil
}

func (h *handlers) scoreEvent(r *httpapi.Request) (httpapi.Response, error) {
	if err := h.checkCloud(r); err != nil {
		return httpapi.Response{}, err
	}
	scored, err := h.league.Score(r.Context(), r.Param("id"))
	if missing, ok := errors.AsType[*pickem.MissingError](err); ok {
		return httpapi.Reply(http.StatusConflict, httpapi.ErrorObject("results_missing", missing.Error(), missing.Matches))
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Reply(http.StatusOK, scored)
}

// checkCloud returns an error if the cloud, which scoring needs, cannot be reached.
func (h *handlers) checkCloud(r *httpapi.Request) error {
	if h.cloud && r.Node().Cloud.State == "offline" {
		return fault.New(fault.Unavailable, "offline", "Scoring needs the cloud, which cannot be reached right now. Try again later.")
	}
	return nil
}

package pickem

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (a *api) routes() []httpapi.Route {
	s := a.Service
	stream := a.user("GET", "/app/stream", func(c *call) error { return httpapi.Stream(c.Context, topicLeague, topicLeague) })
	stream.Stream = true
	return append([]httpapi.Route{
		stream,
		a.user("GET", "/app/events", a.getEvents),
		a.user("GET", "/app/events/:id", answers(func(tx *store.Tx, c *call) (any, error) { return s.Event(tx, c.id(), c.user) })),
		a.user("GET", "/app/events/:id/predictions.csv", a.getEventCSV),
		a.user("PUT", "/app/events/:id/predictions", changes(http.StatusOK, func(tx *store.Tx, c *call) (any, error) {
			return s.Predict(tx, c.user, c.id(), indexes(c.body, "predictions"))
		})),
		a.user("GET", "/app/standings", answers(func(tx *store.Tx, c *call) (any, error) { return a.standings(tx, c) })),
		a.user("GET", "/app/standings.csv", a.getStandingsCSV),
		a.user("GET", "/app/me", answers(a.profile)),
		a.user("GET", "/app/users/:user", answers(a.profile)),
	}, a.adminRoutes()...)
}

func (a *api) adminRoutes() []httpapi.Route {
	s := a.Service
	const one, match = "/admin/events/:id", "/admin/events/:id/matches/:match"
	return []httpapi.Route{
		admin("GET", "/admin/users", answers(func(tx *store.Tx, _ *call) (any, error) {
			all, err := s.Users(tx)
			return map[string]any{"users": all}, err
		})),
		admin("POST", "/admin/users", changes(http.StatusCreated, func(tx *store.Tx, c *call) (any, error) {
			return s.Invite(tx, text(c.body, "userId"), text(c.body, "name"))
		})),
		admin("PATCH", "/admin/users/:id", changes(http.StatusOK, func(tx *store.Tx, c *call) (any, error) {
			return s.ChangeUser(tx, c.id(), c.body.Change("name", maxText), c.body.Bool("active"))
		})),
		admin("DELETE", "/admin/users/:id", a.behind(s.OfUser, removes(func(tx *store.Tx, c *call) error { return s.DeleteUser(tx, c.id()) }))),
		admin("POST", "/admin/events", changes(http.StatusCreated, func(tx *store.Tx, c *call) (any, error) {
			b := c.body
			return s.CreateEvent(tx, pickem.NewEvent{Date: text(b, "date"), Name: text(b, "name"), StartsAt: bind.Need(b, "startsAt", b.Instant)})
		})),
		admin("PATCH", one, changes(http.StatusOK, func(tx *store.Tx, c *call) (any, error) {
			b := c.body
			return s.ChangeEvent(tx, c.id(), pickem.NewEvent{Date: b.Text("date", maxText), Name: b.Text("name", maxText), StartsAt: b.Instant("startsAt")})
		})),
		admin("DELETE", one, a.behind(s.OfEvent, removes(func(tx *store.Tx, c *call) error { return s.DeleteEvent(tx, c.id()) }))),
		admin("POST", one+"/matches", changes(http.StatusCreated, func(tx *store.Tx, c *call) (any, error) {
			var d pickem.Details
			details(c.body)(&d)
			return a.add(tx, c, 0, d)
		})),
		admin("POST", one+"/card", a.postCard),
		admin("PATCH", match, changes(http.StatusOK, func(tx *store.Tx, c *call) (any, error) {
			return s.ChangeMatch(tx, c.id(), c.Param("match"), details(c.body))
		})),
		admin("DELETE", match, removes(func(tx *store.Tx, c *call) error { return s.DeleteMatch(tx, c.id(), c.Param("match")) })),
		admin("PUT", one+"/order", changes(http.StatusOK, func(tx *store.Tx, c *call) (any, error) {
			return s.Order(tx, c.id(), c.body.Texts("matchIds", pickem.MaxMatches, maxText))
		})),
		admin("PUT", one+"/state", changes(http.StatusOK, func(tx *store.Tx, c *call) (any, error) {
			to := bind.Need(c.body, "state", func(name string) string {
				return c.body.OneOf(name, string(pickem.Upcoming), string(pickem.Broadcast), string(pickem.Scored))
			})
			return s.SetState(tx, c.id(), pickem.State(to))
		})),
		admin("PUT", one+"/results", a.putResults),
		admin("POST", one+"/score", a.postScore),
	}
}

// maxText limits string fields, in bytes.
const maxText = 512

func text(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, maxText) })
}

// indexes reads a field that maps match IDs to the index of a team, or to null.
func indexes(b *bind.Body, name string) (out map[string]*int) {
	raw, ok := b.Get(name)
	if !ok || json.Unmarshal(raw, &out) != nil || len(out) > pickem.MaxMatches {
		b.Bad(name, "must map match IDs to the index of a team, or to null")
	}
	return out
}

// details reads the details of a match. Applying them leaves fields that the body does not name as they are.
func details(b *bind.Body) func(to *pickem.Details) {
	members, _ := b.Members()
	raw, err := json.Marshal(members)
	if err != nil || json.Unmarshal(raw, new(pickem.Details)) != nil {
		b.Bad("match", "does not have the form that the OpenAPI document describes")
	}
	return func(to *pickem.Details) {
		was := *to
		to.Championships, to.Teams = nil, nil // json.Unmarshal would reuse their elements
		_ = json.Unmarshal(raw, to)
		if to.Championships == nil {
			to.Championships = was.Championships
		}
		if to.Teams == nil {
			to.Teams = was.Teams
		}
	}
}

func (a *api) getEvents(c *call) error {
	p, err := bind.ReadPage(c.Request)
	if err != nil {
		return err
	}
	if c.Query("limit") == "" {
		p.Limit = usualEvents
	}
	out := map[string]any{"cursor": nil}
	err = httpapi.View(c.Context, func(tx *store.Tx) error {
		all, next, err := a.Service.Events(tx, c.user, p.Limit, p.Start)
		if out["events"] = all; next != nil {
			out["cursor"] = bind.Cursor(next)
		}
		return err
	})
	if p.Start != nil && fault.Is(err, fault.Invalid) {
		err = bind.BadCursor()
	}
	return httpapi.JSON(c.Context, out, err)
}

const usualEvents = 20

type standings struct {
	Year      string            `json:"year"`
	Standings []pickem.Standing `json:"standings"`
}

// standings returns the standings of the year that a request names, or of the current year.
func (a *api) standings(tx *store.Tx, c *call) (out standings, err error) {
	if out.Year = c.Query("year"); out.Year == "" {
		out.Year = strconv.Itoa(tx.Now().UTC().Year())
	} else if _, err := time.Parse("2006", out.Year); err != nil {
		return out, bind.Invalid("year", "must be a year such as 2024")
	}
	out.Standings, err = a.Service.Standings(tx, out.Year)
	return out, err
}

func (a *api) getStandingsCSV(c *call) error {
	out, err := httpapi.Read(c.Context, func(tx *store.Tx) (standings, error) { return a.standings(tx, c) })
	if err != nil {
		return err
	}
	rows := [][]string{{"rank", "userId", "name", "points", "mcorrect", "eplayed"}}
	for i := range out.Standings {
		st := &out.Standings[i]
		rows = append(rows, []string{strconv.Itoa(st.Rank), st.User, st.Name, strconv.Itoa(st.Points), strconv.Itoa(st.Correct), strconv.Itoa(st.Played)})
	}
	return httpapi.CSV(c.Context, "standings.csv", rows)
}

// getEventCSV returns everybody's picks once the cloud has confirmed the lock, and no picks before.
func (a *api) getEventCSV(c *call) error {
	card, err := httpapi.Read(c.Context, func(tx *store.Tx) (pickem.Card, error) { return a.Service.Event(tx, c.id(), c.user) })
	if err != nil {
		return err
	}
	t := grid(&card)
	return httpapi.CSV(c.Context, c.id()+".csv", append([][]string{t.Heads}, t.Rows...))
}

// add adds match n of a request to the card. With an Idempotency-Key, a repeated request does not add it again.
func (a *api) add(tx *store.Tx, c *call, n int, d pickem.Details) (m pickem.Match, err error) {
	key, err := httpapi.IdempotencyKey(c.Context)
	if err != nil {
		return m, err
	}
	if key != "" {
		key += "#" + strconv.Itoa(n)
	}
	return a.Service.AddMatch(tx, c.id(), key, d)
}

// postCard adds the matches of a CSV file (see pickem.ParseMatch) to a card, all or none. An Idempotency-Key works as for add.
func (a *api) postCard(c *call) error {
	raw, err := bind.Raw(c.Context)
	if err != nil {
		return err
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(raw), "\ufeff"))) // the byte order mark that spreadsheets write
	r.FieldsPerRecord = 5
	rows, err := r.ReadAll()
	if err == nil && !utf8.Valid(raw) {
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return bind.Invalid("card", "is not a CSV file with five columns: %v", err)
	}
	if len(rows) > 0 && strings.EqualFold(strings.TrimSpace(rows[0][0]), "name") {
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return bind.Invalid("card", "contains no matches")
	}
	out, err := httpapi.Change(c.Context, func(tx *store.Tx) (any, error) {
		for i, row := range rows {
			d, err := pickem.ParseMatch(row)
			if err == nil {
				_, err = a.add(tx, c, i, d)
			}
			if fault.Is(err, fault.Invalid) {
				err = bind.Invalid("card", "match %d: %v", i+1, err)
			}
			if err != nil {
				return nil, err
			}
		}
		return a.Service.Event(tx, c.id(), "")
	})
	return httpapi.Answer(c.Context, http.StatusCreated, out, err)
}

// putResults takes {results: {matchId: index | null}}, with null for no contest. If the event was scored, it is scored again, here or at a
// node that has all results.
func (a *api) putResults(c *call) error {
	b := httpapi.Body(c.Context)
	results := indexes(b, "results")
	if err := b.Err(); err != nil {
		return err
	}
	out, err := httpapi.Change(c.Context, func(tx *store.Tx) (pickem.Card, error) { return a.Service.SetResults(tx, c.id(), results) })
	if err == nil && out.State == pickem.Scored && a.offline(c) == nil {
		if _, err = a.Service.Score(c.Request.Context(), out.ID); fault.Is(err, fault.Unavailable) {
			err = nil
		}
	}
	return httpapi.Answer(c.Context, http.StatusOK, out, err)
}

func (a *api) postScore(c *call) error {
	if err := a.offline(c); err != nil {
		return err
	}
	out, err := a.Service.Score(c.Request.Context(), c.id())
	if missing, ok := errors.AsType[*pickem.MissingError](err); ok {
		return httpapi.Answer(c.Context, http.StatusConflict, httpapi.ErrorObject("results_missing", missing.Error(), missing.Matches), nil)
	}
	return httpapi.Answer(c.Context, http.StatusOK, out, err)
}

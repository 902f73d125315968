package web

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
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
	return slices.Concat([]httpapi.Route{
		a.user("GET", "/app/stream", func(c *call) (work, error) { return nil, httpapi.Stream(c.Context, topicLeague, topicLeague) }),
		a.user("GET", "/app/events", a.getEvents),
		a.user("GET", "/app/events/:id", plain(func(tx *store.Tx, c *call) (any, error) { return s.Event(tx, c.Param("id"), c.User) })),
		a.user("GET", "/app/events/:id/predictions.csv", a.getEventCSV),
		refuseHandIn(a.user("PUT", "/app/events/:id/predictions", func(c *call) (work, error) {
			picks := indexes(c.Body(), "predictions")
			return func(tx *store.Tx) (any, error) { return s.Predict(tx, c.User, c.Param("id"), picks) }, nil
		})),
		a.user("GET", "/app/standings", plain(func(tx *store.Tx, c *call) (any, error) { return a.standings(tx, c) })),
		a.user("GET", "/app/standings.csv", a.getStandingsCSV),
		a.user("GET", "/app/me", plain(a.profile)),
		a.user("GET", "/app/users/:user", plain(a.profile)),

		a.admin("GET", "/admin/users", plain(func(tx *store.Tx, _ *call) (any, error) {
			all, err := s.Users(tx)
			return map[string]any{"users": all}, err
		})),
		a.admin("POST", "/admin/users", func(c *call) (work, error) {
			c.Status = http.StatusCreated
			user, name := text(c.Body(), "userId"), text(c.Body(), "name")
			return func(tx *store.Tx) (any, error) { return s.Invite(tx, user, name) }, nil
		}),
		a.admin("PATCH", "/admin/users/:id", func(c *call) (work, error) {
			name, active := c.Body().Change("name", maxText), c.Body().Bool("active")
			return func(tx *store.Tx) (any, error) { return s.ChangeUser(tx, c.Param("id"), name, active) }, nil
		}),
		a.deletes("/admin/users/:id", s.OfUser, s.DeleteUser),
	}, a.eventRoutes())
}

// refuseHandIn refuses to take picks from a file: they count as they arrive.
func refuseHandIn(r httpapi.Route) httpapi.Route {
	r.NotHandedIn = "Picks cannot be handed in: they count as they arrive, and only from who made them."
	return r
}

// eventRoutes returns the admins' routes of events.
func (a *api) eventRoutes() []httpapi.Route {
	s := a.Service
	const one, match = "/admin/events/:id", "/admin/events/:id/matches/:match"
	return []httpapi.Route{
		a.admin("POST", "/admin/events", func(c *call) (work, error) {
			c.Status = http.StatusCreated
			e := pickem.NewEvent{Date: text(c.Body(), "date"), Name: text(c.Body(), "name"), StartsAt: bind.Need(c.Body(), "startsAt", c.Body().Instant)}
			return func(tx *store.Tx) (any, error) { return s.CreateEvent(tx, e) }, nil
		}),
		a.admin("PATCH", one, func(c *call) (work, error) {
			b := c.Body()
			e := pickem.NewEvent{Date: b.Text("date", maxText), Name: b.Text("name", maxText), StartsAt: b.Instant("startsAt")}
			return func(tx *store.Tx) (any, error) { return s.ChangeEvent(tx, c.Param("id"), e) }, nil
		}),
		a.deletes(one, s.OfEvent, s.DeleteEvent),
		a.admin("POST", one+"/matches", func(c *call) (work, error) {
			c.Status = http.StatusCreated
			var d pickem.Details
			details(c.Body())(&d)
			return func(tx *store.Tx) (any, error) { return a.add(tx, c, 0, d) }, nil
		}),
		a.admin("POST", one+"/card", a.postCard),
		a.admin("PATCH", match, func(c *call) (work, error) {
			change := details(c.Body())
			return func(tx *store.Tx) (any, error) { return s.ChangeMatch(tx, c.Param("id"), c.Param("match"), change) }, nil
		}),
		a.admin("DELETE", match, plain(func(tx *store.Tx, c *call) (any, error) {
			return nil, s.DeleteMatch(tx, c.Param("id"), c.Param("match"))
		})),
		a.admin("PUT", one+"/order", func(c *call) (work, error) {
			ids := c.Body().Texts("matchIds", pickem.MaxMatches, maxText)
			return func(tx *store.Tx) (any, error) { return s.Order(tx, c.Param("id"), ids) }, nil
		}),
		a.admin("PUT", one+"/state", func(c *call) (work, error) {
			to := bind.Need(c.Body(), "state", func(name string) string {
				return c.Body().OneOf(name, string(pickem.Upcoming), string(pickem.Broadcast), string(pickem.Scored))
			})
			return func(tx *store.Tx) (any, error) { return s.SetState(tx, c.Param("id"), pickem.State(to)) }, nil
		}),
		a.admin("PUT", one+"/results", a.putResults),
		a.admin("POST", one+"/score", a.postScore),
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

func (a *api) getEvents(c *call) (work, error) {
	p, err := bind.ReadPage(c.Request)
	if c.Context.Query("limit") == "" {
		p.Limit = usualEvents
	}
	return func(tx *store.Tx) (any, error) {
		all, next, err := a.Service.Events(tx, c.User, p.Limit, p.Start)
		if p.Start != nil && fault.Is(err, fault.Invalid) {
			err = bind.BadCursor()
		}
		out := map[string]any{"events": all, "cursor": nil}
		if next != nil {
			out["cursor"] = bind.Cursor(next)
		}
		return out, err
	}, err
}

const usualEvents = 20

type standings struct {
	Year      string            `json:"year"`
	Standings []pickem.Standing `json:"standings"`
}

// standings returns the standings of the year that a request names, or of the current year.
func (a *api) standings(tx *store.Tx, c *call) (out standings, err error) {
	if out.Year = c.Context.Query("year"); out.Year == "" {
		out.Year = strconv.Itoa(tx.Now().UTC().Year())
	} else if _, err := time.Parse("2006", out.Year); err != nil {
		return out, bind.Invalid("year", "must be a year such as 2024")
	}
	out.Standings, err = a.Service.Standings(tx, out.Year)
	return out, err
}

func (a *api) getStandingsCSV(c *call) (work, error) {
	out, err := httpapi.Read(c.Context, func(tx *store.Tx) (standings, error) { return a.standings(tx, c) })
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"rank", "userId", "name", "points", "mcorrect", "eplayed"}}
	for i := range out.Standings {
		st := &out.Standings[i]
		rows = append(rows, []string{strconv.Itoa(st.Rank), st.User, st.Name, strconv.Itoa(st.Points), strconv.Itoa(st.Correct), strconv.Itoa(st.Played)})
	}
	return nil, httpapi.CSV(c.Context, "standings.csv", rows)
}

// getEventCSV returns everybody's picks once the cloud has confirmed the lock, and no picks before.
func (a *api) getEventCSV(c *call) (work, error) {
	card, err := httpapi.Read(c.Context, func(tx *store.Tx) (pickem.Card, error) { return a.Service.Event(tx, c.Param("id"), c.User) })
	if err != nil {
		return nil, err
	}
	t := grid(&card)
	return nil, httpapi.CSV(c.Context, c.Param("id")+".csv", append([][]string{t.Heads}, t.Rows...))
}

// add adds match n of a request to the card. With an Idempotency-Key, a repeated request does not add it again.
func (a *api) add(tx *store.Tx, c *call, n int, d pickem.Details) (m pickem.Match, err error) {
	httpapi.CountsOnce(c.Context)
	key, err := httpapi.IdempotencyKey(c.Context)
	if err != nil {
		return m, err
	}
	if key != "" {
		key += "#" + strconv.Itoa(n)
	}
	return a.Service.AddMatch(tx, c.Param("id"), key, d)
}

// postCard adds the matches of a CSV file (see pickem.ParseMatch) to a card, all or none. An Idempotency-Key works as for add.
func (a *api) postCard(c *call) (work, error) {
	raw, err := bind.Raw(c.Context)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(raw), "\ufeff"))) // the byte order mark that spreadsheets write
	r.FieldsPerRecord = 5
	rows, err := r.ReadAll()
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
	c.Status = http.StatusCreated
	return func(tx *store.Tx) (any, error) {
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
		return a.Service.Event(tx, c.Param("id"), "")
	}, nil
}

// putResults takes {results: {matchId: index | null}}, with null for no contest. If the event was scored, it is scored again, here or at a
// node that has all results.
func (a *api) putResults(c *call) (work, error) {
	results := indexes(c.Body(), "results")
	if err := c.Body().Err(); err != nil {
		return nil, err
	}
	out, err := httpapi.Change(c.Context, func(tx *store.Tx) (pickem.Card, error) { return a.Service.SetResults(tx, c.Param("id"), results) })
	if err == nil && out.State == pickem.Scored && a.offline(c) == nil {
		if _, err = a.Service.Score(c.Request.Context(), out.ID); fault.Is(err, fault.Unavailable) {
			err = nil
		}
	}
	return nil, httpapi.Answer(c.Context, http.StatusOK, out, err)
}

func (a *api) postScore(c *call) (work, error) {
	if err := a.offline(c); err != nil {
		return nil, err
	}
	out, err := a.Service.Score(c.Request.Context(), c.Param("id"))
	if missing, ok := errors.AsType[*pickem.MissingError](err); ok {
		return nil, httpapi.Answer(c.Context, http.StatusConflict, httpapi.ErrorObject("results_missing", missing.Error(), missing.Matches), nil)
	}
	return nil, httpapi.Answer(c.Context, http.StatusOK, out, err)
}

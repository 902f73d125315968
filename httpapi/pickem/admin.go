package pickem

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

type userList struct {
	Users []pickem.User `json:"users"`
}

func (a *api) getUsers(c *gin.Context) error {
	return httpapi.AnswerView(c, func(tx *store.Tx) (userList, error) {
		all, err := a.Service.Users(tx)
		for i := range all {
			all[i].NotCounted = nil
		}
		return userList{all}, err
	})
}

// created changes what is kept and answers 201 with what was made.
func created[T any](c *gin.Context, do func(tx *store.Tx) (T, error)) error {
	var out T
	err := httpapi.Update(c, func(tx *store.Tx) (err error) {
		out, err = do(tx)
		return err
	})
	return httpapi.Answer(c, http.StatusCreated, out, err)
}

// postUser: {userId, name}.
func (a *api) postUser(c *gin.Context) error {
	b := httpapi.Body(c)
	id, name := text(b, "userId"), text(b, "name")
	if err := b.Err(); err != nil {
		return err
	}
	return created(c, func(tx *store.Tx) (pickem.User, error) { return a.Service.Invite(tx, id, name) })
}

// patchUser: {name?, active?}.
func (a *api) patchUser(c *gin.Context) error {
	b := httpapi.Body(c)
	name, active := b.Change("name", 4*maxText), b.Bool("active")
	if err := b.Err(); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (pickem.User, error) { return a.Service.ChangeUser(tx, c.Param("id"), name, active) })
}

func (a *api) deleteUser(c *gin.Context) error {
	return httpapi.Remove(c, func(tx *store.Tx) error { return a.Service.DeleteUser(tx, c.Param("id")) })
}

// card is an event as an admin sees it: the picks of nobody.
func card(in pickem.Card, err error) (pickem.Card, error) {
	in.Mine, in.Predictions = nil, nil
	return in, err
}

// postEvent: {date, startsAt, name}.
func (a *api) postEvent(c *gin.Context) error {
	b := httpapi.Body(c)
	n := pickem.NewEvent{Date: text(b, "date"), Name: text(b, "name"), StartsAt: bind.Need(b, "startsAt", b.Instant)}
	if err := b.Err(); err != nil {
		return err
	}
	return created(c, func(tx *store.Tx) (pickem.Card, error) { return card(a.Service.CreateEvent(tx, n)) })
}

// patchEvent: {name?, startsAt?}.
func (a *api) patchEvent(c *gin.Context) error {
	b := httpapi.Body(c)
	n := pickem.NewEvent{Date: b.Text("date", maxText), Name: b.Text("name", 4*maxText), StartsAt: b.Instant("startsAt")}
	if err := b.Err(); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (pickem.Card, error) { return card(a.Service.ChangeEvent(tx, c.Param("id"), n)) })
}

func (a *api) deleteEvent(c *gin.Context) error {
	return httpapi.Remove(c, func(tx *store.Tx) error { return a.Service.DeleteEvent(tx, c.Param("id")) })
}

// matchChange is what a body says of a match; nil: nothing.
type matchChange struct {
	name          *string
	points        *int64
	preshow       *bool
	championships *[]string
	teams         *[]pickem.Team
}

func readMatch(c *gin.Context) (m matchChange, err error) {
	b := httpapi.Body(c)
	m.name, m.preshow = b.Change("name", 4*maxText), b.Bool("preshow")
	if _, ok := b.Get("points"); ok {
		n := b.Whole("points", 1000, 0)
		m.points = &n
	}
	read := func(name string, to any) {
		if raw, ok := b.Get(name); ok && json.Unmarshal(raw, to) != nil {
			b.Bad(name, "is not as it should be: see the document")
		}
	}
	read("championships", &m.championships)
	read("teams", &m.teams)
	return m, b.Err()
}

func (m *matchChange) on(to *pickem.Match) {
	if m.name != nil {
		to.Name = *m.name
	}
	if m.points != nil {
		to.Points = int(*m.points)
	}
	if m.preshow != nil {
		to.Preshow = *m.preshow
	}
	if m.championships != nil {
		to.Championships = *m.championships
	}
	if m.teams != nil {
		to.Teams = *m.teams
	}
}

// postMatch: {name, points, preshow?, championships?, teams}.
func (a *api) postMatch(c *gin.Context) error {
	change, err := readMatch(c)
	if err != nil {
		return err
	}
	var m pickem.Match
	change.on(&m)
	return created(c, func(tx *store.Tx) (pickem.Match, error) { return a.Service.AddMatch(tx, c.Param("id"), m) })
}

func (a *api) patchMatch(c *gin.Context) error {
	change, err := readMatch(c)
	if err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (pickem.Match, error) {
		return a.Service.ChangeMatch(tx, c.Param("id"), c.Param("match"), change.on)
	})
}

func (a *api) deleteMatch(c *gin.Context) error {
	return httpapi.Remove(c, func(tx *store.Tx) error { return a.Service.DeleteMatch(tx, c.Param("id"), c.Param("match")) })
}

// putOrder: {matchIds}.
func (a *api) putOrder(c *gin.Context) error {
	b := httpapi.Body(c)
	ids := b.Texts("matchIds", pickem.MaxMatches, maxText)
	if err := b.Err(); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (pickem.Card, error) { return card(a.Service.Order(tx, c.Param("id"), ids)) })
}

// putState: {state}.
func (a *api) putState(c *gin.Context) error {
	b := httpapi.Body(c)
	to := bind.Need(b, "state", func(name string) string {
		return b.OneOf(name, string(pickem.Upcoming), string(pickem.Broadcast), string(pickem.Scored))
	})
	if err := b.Err(); err != nil {
		return err
	}
	return httpapi.AnswerUpdate(c, func(tx *store.Tx) (pickem.Card, error) {
		return card(a.Service.SetState(tx, c.Param("id"), pickem.State(to)))
	})
}

// putResults: {results: {matchId: index | null}}, null for no contest. An event that was scored is scored anew.
func (a *api) putResults(c *gin.Context) error {
	by, err := indexes(c, "results")
	if err != nil {
		return err
	}
	results := map[string]int{}
	for id, team := range by {
		results[id] = pickem.NoContest
		if team == nil {
			continue
		}
		if results[id] = *team; *team < 0 {
			return bind.Invalid("results", "must have the index of a team, or null, by match")
		}
	}
	var out pickem.Card
	err = httpapi.Update(c, func(tx *store.Tx) (err error) {
		out, err = card(a.Service.SetResults(tx, c.Param("id"), results))
		return err
	})
	if err == nil && out.State == pickem.Scored && a.offline(c) == nil {
		if _, err = a.Service.Score(c.Request.Context(), out.ID); fault.Is(err, fault.Unavailable) {
			err = nil // it is marked: whoever has all results scores it
		}
	}
	return httpapi.Answer(c, http.StatusOK, out, err)
}

func (a *api) postScore(c *gin.Context) error {
	if err := a.offline(c); err != nil {
		return err
	}
	out, err := a.Service.Score(c.Request.Context(), c.Param("id"))
	if missing := pickem.Missing(err); missing != nil {
		return httpapi.Answer(c, http.StatusConflict, map[string]errorBody{
			"error": {"results_missing", "No result of " + strings.Join(missing, ", "), missing},
		}, nil)
	}
	return httpapi.Answer(c, http.StatusOK, out, err)
}

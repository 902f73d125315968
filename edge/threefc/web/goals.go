package web

import (
	"encoding/json"
	"net/http"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (a *api) goalRoutes() []route {
	s := a.Service
	return []route{
		{"GET", "/v1/games/:game/goals", viewer, reads(ofBoard(func(b *threefc.Board) any { return goalsOf(b) }))},
		{"POST", "/v1/games/:game/goals", scorekeeper, writes(http.StatusCreated, readNewGoal, a.createGoal, doneToGoal)},
		// Any field of a new goal; the clock reading stays.
		{"PATCH", "/v1/games/:game/goals/:event", scorekeeper, corrects(readGoalPatch, func(tx *store.Tx, r *request, by threefc.Corrector, in goalBody) (threefc.Change, error) {
			return s.UpdateGoal(tx, r.of.ID, r.Param("event"), by, in.applyTo, r.ids)
		})},
		{"DELETE", "/v1/games/:game/goals/:event", scorekeeper, corrects(nothing, func(tx *store.Tx, r *request, by threefc.Corrector, _ any) (threefc.Change, error) {
			return s.DeleteGoal(tx, r.of.ID, r.Param("event"), by, r.ids)
		})},
		{"POST", "/v1/games/:game/goals/undo-last", scorekeeper, corrects(func(_ *request, b *bind.Body) (string, error) {
			return text(b, "expectedEventId"), nil
		}, func(tx *store.Tx, r *request, by threefc.Corrector, expected string) (threefc.Change, error) {
			return s.UndoLast(tx, r.of.ID, expected, by, r.ids)
		})},
	}
}

// goalsView is the response to goal requests: scoreboard and timeline, and what was changed.
type goalsView struct {
	Goal     *threefc.Goal  `json:"goal,omitempty"`
	Previous *threefc.Goal  `json:"previousGoal,omitempty"`
	Deleted  *threefc.Goal  `json:"deletedGoal,omitempty"`
	Board    map[string]any `json:"scoreboard"`
	Timeline []threefc.Goal `json:"timeline"`
	Audit    *threefc.Audit `json:"audit,omitempty"`
}

func goalsOf(b *threefc.Board) goalsView {
	return goalsView{Board: wrapList("teams", b.Teams), Timeline: b.Goals}
}

// doneToGoal answers a change to a goal from its audit row, because the goal may have changed again since.
func doneToGoal(tx *store.Tx, r *request) (any, error) {
	b, err := r.api.Service.Board(tx, r.of.ID)
	if err != nil {
		return nil, err
	}
	a, err := r.api.Service.Audit(tx, r.of.ID, r.made["audit"])
	if err != nil {
		return nil, err
	}
	out := goalsOf(b)
	goal := func(f *threefc.GoalFacts) *threefc.Goal {
		if f == nil {
			return nil
		}
		g := threefc.Goal{GameID: a.GameID, Stamps: a.Stamps}
		for i := range b.Goals {
			if b.Goals[i].EventID == f.EventID {
				g = b.Goals[i]
			}
		}
		g.GoalFacts = *f
		return &g
	}
	switch before, after := goal(a.Before), goal(a.After); {
	case after == nil:
		out.Deleted, out.Audit = before, a
	case before == nil:
		out.Goal = after
	default:
		out.Goal, out.Previous, out.Audit = after, before, a
	}
	return out, nil
}

// goalBody holds the goal fields given in a body, by name.
type goalBody map[string]any

// readGoal reads the fields of a goal. If needed is set, all but the assists are required.
func readGoal(b *bind.Body, needed bool) goalBody {
	in := goalBody{}
	sent, _ := b.Members() // Err reports a body that is not an object
	given := func(name string, v any, what string) {
		raw, ok := b.Get(name)
		if name == "scoringTeamId" { // null has a meaning here: an own goal
			raw, ok = sent[name]
		}
		switch {
		case ok && json.Unmarshal(raw, v) != nil:
			b.Bad(name, "must be %s", what)
		case ok:
			in[name] = v
		case needed && name != "assistPlayerIds":
			b.Bad(name, "is required")
		}
	}
	given("scoringTeamId", new(*string), "a team or null")
	given("assistPlayerIds", new([]string), "a list of player IDs")
	given("ownGoal", new(bool), "true or false")
	for _, name := range []string{"concedingTeamId", "scorerPlayerId"} {
		if _, ok := b.Get(name); ok || needed {
			in[name] = text(b, name)
		}
	}
	return in
}

func readNewGoal(_ *request, b *bind.Body) (threefc.Scored, error) {
	var g threefc.Scored
	readGoal(b, true).applyTo(&g)
	return g, nil
}

func readGoalPatch(_ *request, b *bind.Body) (goalBody, error) {
	in := readGoal(b, false)
	if len(in) == 0 && b.Err() == nil {
		return in, fault.New(fault.Invalid, "", "The body must include at least one goal field to update.")
	}
	return in, nil
}

// applyTo applies the fields to a goal without changing what the old goal's pointers and slices refer to.
func (in goalBody) applyTo(g *threefc.Scored) {
	var now threefc.Scored
	for _, v := range []any{*g, in} {
		raw, _ := json.Marshal(v)     // our own values
		_ = json.Unmarshal(raw, &now) // their types were checked
	}
	*g = now
}

func (a *api) createGoal(tx *store.Tx, r *request, g threefc.Scored) (threefc.Change, error) {
	at, err := httpapi.OccurredAt(r.Context, a.Service.Now(tx))
	if err != nil {
		return threefc.Change{}, err
	}
	c, err := a.Service.CreateGoal(tx, r.of.ID, threefc.NewGoal{Scored: g, At: at, Actor: r.User, MadeBy: r.madeBy}, r.ids)
	c.At = at
	return c, err
}

// corrects handles a change to an existing goal.
func corrects[T any](read func(r *request, b *bind.Body) (T, error), plan func(tx *store.Tx, r *request, by threefc.Corrector, in T) (threefc.Change, error)) func(r *request) (work, error) {
	return writes(http.StatusOK, read, func(tx *store.Tx, r *request, in T) (threefc.Change, error) {
		at, err := httpapi.OccurredAt(r.Context, r.api.Service.Now(tx))
		if err != nil {
			return threefc.Change{}, err
		}
		c, err := plan(tx, r, threefc.Corrector{Actor: r.User, Admin: r.isAdmin(tx), At: at, MadeBy: r.madeBy}, in)
		c.At = at
		return c, err
	}, doneToGoal)
}

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

func (h *handlers) listGoals(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		b, err := h.Service.Board(tx, r.Param("game"))
		if err != nil {
			return nil, err
		}
		return goalsOf(b), nil
	})
}

func (h *handlers) createGoal(r *httpapi.Request) (httpapi.Response, error) {
	goal := readNewGoal(r.Body())
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: goal,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			if err := run.setTime(tx, r, h.Service); err != nil {
				return threefc.Change{}, err
			}
			tapped := threefc.NewGoal{Scored: goal, At: run.at, Actor: r.User, MadeBy: admitted(r).madeBy}
			return h.Service.CreateGoal(tx, r.Param("game"), tapped, run.ids)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.readChangedGoal(tx, r, run) },
	})
}

// updateGoal changes any fields of a goal; the clock reading stays.
func (h *handlers) updateGoal(r *httpapi.Request) (httpapi.Response, error) {
	fields, err := readGoalPatch(r.Body())
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: fields,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			by, err := h.readCorrector(tx, r, run)
			if err != nil {
				return threefc.Change{}, err
			}
			return h.Service.UpdateGoal(tx, r.Param("game"), r.Param("event"), by, fields.applyTo, run.ids)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.readChangedGoal(tx, r, run) },
	})
}

func (h *handlers) deleteGoal(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			by, err := h.readCorrector(tx, r, run)
			if err != nil {
				return threefc.Change{}, err
			}
			return h.Service.DeleteGoal(tx, r.Param("game"), r.Param("event"), by, run.ids)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.readChangedGoal(tx, r, run) },
	})
}

func (h *handlers) undoLastGoal(r *httpapi.Request) (httpapi.Response, error) {
	expected := text(r.Body(), "expectedEventId")
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: expected,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			by, err := h.readCorrector(tx, r, run)
			if err != nil {
				return threefc.Change{}, err
			}
			return h.Service.UndoLast(tx, r.Param("game"), expected, by, run.ids)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.readChangedGoal(tx, r, run) },
	})
}

// readCorrector returns who changes an existing goal, and when.
func (h *handlers) readCorrector(tx *store.Tx, r *httpapi.Request, run *onceRun) (threefc.Corrector, error) {
	if err := run.setTime(tx, r, h.Service); err != nil {
		return threefc.Corrector{}, err
	}
	v := admitted(r)
	return threefc.Corrector{Actor: r.User, Admin: h.isAdmin(tx, r, v.league), At: run.at, MadeBy: v.madeBy}, nil
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

// readChangedGoal returns a change to a goal from its audit row, because the goal may have changed again since.
func (h *handlers) readChangedGoal(tx *store.Tx, r *httpapi.Request, run *onceRun) (any, error) {
	b, err := h.Service.Board(tx, r.Param("game"))
	if err != nil {
		return nil, err
	}
	a, err := h.Service.Audit(tx, r.Param("game"), run.made["audit"])
	if err != nil {
		return nil, err
	}
	before, after := goalAt(b, a, a.Before), goalAt(b, a, a.After)
	out := goalsOf(b)
	switch {
	case after == nil:
		out.Deleted, out.Audit = before, a
	case before == nil:
		out.Goal = after
	default:
		out.Goal, out.Previous, out.Audit = after, before, a
	}
	return out, nil
}

// goalAt returns a goal as it was before or after a change; nil: it was not there.
func goalAt(b *threefc.Board, a *threefc.Audit, facts *threefc.GoalFacts) *threefc.Goal {
	if facts == nil {
		return nil
	}
	g := threefc.Goal{GameID: a.GameID, Stamps: a.Stamps}
	for i := range b.Goals {
		if b.Goals[i].EventID == facts.EventID {
			g = b.Goals[i]
		}
	}
	g.GoalFacts = *facts
	return &g
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

func readNewGoal(b *bind.Body) (g threefc.Scored) {
	readGoal(b, true).applyTo(&g)
	return g
}

func readGoalPatch(b *bind.Body) (goalBody, error) {
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

package threefc

import (
	"encoding/json"
	"net/http"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// goalsView is what the goals of a game come to, with what was done.
type goalsView struct {
	Goal     *threefc.Goal  `json:"goal,omitempty"`
	Previous *threefc.Goal  `json:"previousGoal,omitempty"`
	Deleted  *threefc.Goal  `json:"deletedGoal,omitempty"`
	Board    scoreboard     `json:"scoreboard"`
	Timeline []threefc.Goal `json:"timeline"`
	Audit    *threefc.Audit `json:"audit,omitempty"`
}

type scoreboard struct {
	Teams []threefc.GameTeam `json:"teams"`
}

func (r *request) goals(tx *store.Tx) (goalsView, error) {
	b, err := r.board(tx)
	if err != nil {
		return goalsView{}, err
	}
	return goalsView{Board: scoreboard{b.Teams}, Timeline: b.Goals}, nil
}

func (a *api) getGoals(r *request) error { return httpapi.AnswerView(r.Context, r.goals) }

// done is the answer of a change of a goal, of the audit's row: the goal itself may have gone on since.
func (r *request) done(tx *store.Tx, made map[string]string) (out goalsView, err error) {
	if out, err = r.goals(tx); err != nil {
		return out, err
	}
	a, err := r.api.Service.Audit(tx, r.id("game"), made["audit"])
	if err != nil {
		return out, err
	}
	goal := func(f *threefc.GoalFacts) *threefc.Goal {
		if f == nil {
			return nil
		}
		for i := range out.Timeline {
			if g := out.Timeline[i]; g.EventID == f.EventID {
				g.GoalFacts = *f
				return &g
			}
		}
		return &threefc.Goal{GameID: a.GameID, GoalFacts: *f, Stamps: a.Stamps}
	}
	out.Audit = a
	switch before, after := goal(a.Before), goal(a.After); {
	case after == nil:
		out.Deleted = before
	case before == nil:
		out.Goal, out.Audit = after, nil
	default:
		out.Goal, out.Previous = after, before
	}
	return out, nil
}

// goalPatch is what a body says of a goal; nil: nothing.
type goalPatch struct {
	Scoring           **string
	Conceding, Scorer *string
	Assists           *[]string
	OwnGoal           *bool
}

// readGoal reads the members of a goal. needed: all but the assists must be there.
func readGoal(r *request, needed bool) (p goalPatch, err error) {
	b := httpapi.Body(r.Context)
	all, _ := b.Members() // that there are none is told by Err
	_, _ = b.Get("scoringTeamId")
	if raw, ok := all["scoringTeamId"]; ok {
		var v *string
		if json.Unmarshal(raw, &v) != nil {
			b.Bad("scoringTeamId", "must be a team or null")
		}
		p.Scoring = &v
	} else if needed {
		b.Bad("scoringTeamId", "is required")
	}
	read := func(name string, to **string) {
		if _, ok := b.Get(name); ok || needed {
			v := text(b, name)
			*to = &v
		}
	}
	read("concedingTeamId", &p.Conceding)
	read("scorerPlayerId", &p.Scorer)
	if raw, ok := b.Get("assistPlayerIds"); ok {
		var v []string
		if json.Unmarshal(raw, &v) != nil {
			b.Bad("assistPlayerIds", "must be a list of player IDs")
		}
		p.Assists = &v
	}
	if p.OwnGoal = b.Bool("ownGoal"); p.OwnGoal == nil && needed {
		b.Bad("ownGoal", "is required")
	}
	if err := b.Err(); err != nil {
		return p, err
	}
	if !needed && p.Scoring == nil && p.Conceding == nil && p.Scorer == nil && p.Assists == nil && p.OwnGoal == nil {
		return p, fault.New(fault.Invalid, "", "The body must include at least one goal field to update.")
	}
	return p, nil
}

// on says it of a goal.
func (p *goalPatch) on(g *threefc.Scored) {
	if p.Scoring != nil {
		g.ScoringTeamID = *p.Scoring
	}
	if p.Conceding != nil {
		g.ConcedingTeamID = *p.Conceding
	}
	if p.Scorer != nil {
		g.ScorerPlayerID = *p.Scorer
	}
	if p.Assists != nil {
		g.AssistPlayerIDs = *p.Assists
	}
	if p.OwnGoal != nil {
		g.OwnGoal = *p.OwnGoal
	}
}

// postGoal: {scoringTeamId, concedingTeamId, scorerPlayerId, assistPlayerIds?, ownGoal}.
func (a *api) postGoal(r *request) error {
	p, err := readGoal(r, true)
	if err != nil {
		return err
	}
	var g threefc.Scored
	p.on(&g)
	return r.write(http.StatusCreated, g, func(tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
		at, err := httpapi.OccurredAt(r.Context, a.Service.Now(tx))
		if err != nil {
			return threefc.Change{}, err
		}
		return a.Service.CreateGoal(tx, r.id("game"), threefc.NewGoal{Scored: g, At: at, Actor: r.user}, ids)
	}, func(tx *store.Tx, made map[string]string) (any, error) { return r.done(tx, made) })
}

// corrector is who corrects a goal.
func (r *request) corrector(tx *store.Tx) threefc.Corrector {
	return threefc.Corrector{Actor: r.user, Admin: r.isAdmin(tx)}
}

// correct answers a change of a goal.
func (r *request) correct(body any, do func(tx *store.Tx, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error)) error {
	return r.write(http.StatusOK, body, func(tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
		return do(tx, r.corrector(tx), ids)
	}, func(tx *store.Tx, made map[string]string) (any, error) { return r.done(tx, made) })
}

// patchGoal changes any of what postGoal has; when the goal was stays.
func (a *api) patchGoal(r *request) error {
	p, err := readGoal(r, false)
	if err != nil {
		return err
	}
	return r.correct(p, func(tx *store.Tx, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error) {
		return a.Service.UpdateGoal(tx, r.id("game"), r.id("event"), who, p.on, ids)
	})
}

func (a *api) deleteGoal(r *request) error {
	if err := nothing(r); err != nil {
		return err
	}
	return r.correct(nil, func(tx *store.Tx, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error) {
		return a.Service.DeleteGoal(tx, r.id("game"), r.id("event"), who, ids)
	})
}

// postUndo: {expectedEventId}.
func (a *api) postUndo(r *request) error {
	b := httpapi.Body(r.Context)
	expected := text(b, "expectedEventId")
	if err := b.Err(); err != nil {
		return err
	}
	return r.correct(expected, func(tx *store.Tx, who threefc.Corrector, ids *threefc.IDs) (threefc.Change, error) {
		return a.Service.UndoLast(tx, r.id("game"), expected, who, ids)
	})
}

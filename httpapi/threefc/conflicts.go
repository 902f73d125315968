package threefc

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// mostConflicts is how many of the table's newest are looked through for those of a game.
const mostConflicts = 100

// refused are the open conflicts of a game: what the cloud has not taken, and nothing has settled. One is of a game if any of its writes
// is: a request's key stands before what it asks for.
func (r *request) refused() (of []operator.Conflict, err error) {
	concerned := func(w operator.ConflictWrite) bool {
		key, err := attr.ParseJSON(w.Key)
		return err == nil && key["pk"].Equal(threefc.Partition(r.of)["pk"])
	}
	all, err := httpapi.Conflicts(r.Context, operator.ConflictAsk{Table: r.api.Service.Table, Limit: mostConflicts})
	for i := 0; err == nil && i < len(all); i++ {
		var whole operator.Conflict
		if whole, err = httpapi.Conflict(r.Context, all[i].ID); err == nil && slices.ContainsFunc(slices.Concat(whole.Decided, whole.Tail), concerned) {
			of = append(of, whole)
		}
	}
	return of, err
}

// postDecision has an admin send anew what was refused of a game (retry), or leave it (discard).
func postDecision(verb string) func(r *request) error {
	return func(r *request) error {
		if err := httpapi.Body(r.Context).Err(); err != nil {
			return err
		}
		all, err := r.refused()
		if err != nil {
			return err
		}
		id, _ := strconv.ParseUint(r.Param("conflict"), 10, 64)
		if !slices.ContainsFunc(all, func(c operator.Conflict) bool { return c.ID == id }) {
			return fault.New(fault.NotFound, "", "Nothing of this game was refused under the number %s.", r.Param("conflict"))
		}
		done, err := httpapi.Decide(r.Context, id, verb)
		return httpapi.Answer(r.Context, http.StatusOK, map[string]any{"id": done.ID, "state": done.State}, err)
	}
}

// refusal is a conflict with both versions of its goals, in words.
type refusal struct {
	operator.Conflict
	Ours, Theirs []string
}

func (g *shownGame) refusal(c operator.Conflict, in *threefc.Roster) refusal {
	out := refusal{Conflict: c}
	for _, w := range c.Decided {
		out.Ours = append(out.Ours, g.goalIn(w.Item, in)...)
		out.Theirs = append(out.Theirs, g.goalIn(w.Met, in)...)
	}
	return out
}

// goalIn is the goal of a row, in words; none: it is no goal's.
func (g *shownGame) goalIn(row json.RawMessage, in *threefc.Roster) []string {
	it, err := attr.ParseJSON(row)
	var f threefc.GoalFacts
	if err != nil || it["entityType"].Str() != "goal" || dataOf(&f, it) != nil {
		return nil
	}
	l := threefc.Line{Moment: f.Moment, ScoringTeamID: f.ScoringTeamID, ConcedingTeamID: f.ConcedingTeamID, OwnGoal: f.OwnGoal, Scorer: in.Players[f.ScorerPlayerID].Nickname}
	return []string{g.said(&l)}
}

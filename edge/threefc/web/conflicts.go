package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// mostConflicts is how many of the table's newest conflicts are searched.
const mostConflicts = 100

// gameConflicts returns the open conflicts of the request's game: writes that the cloud refused and nobody has resolved.
func (h *handlers) gameConflicts(r *httpapi.Request) ([]conflict.View, error) {
	partition := threefc.Partition(admitted(r).of)
	return h.openConflicts(r, func(w conflict.Write) bool { return w.Key["pk"].Equal(partition["pk"]) })
}

// openConflicts returns the open conflicts, in whole, with a write that concerned reports. The first, all that a list shows, may be a key's row.
func (h *handlers) openConflicts(r *httpapi.Request, concerned func(w conflict.Write) bool) (of []conflict.View, err error) {
	all, err := r.Conflicts(conflict.Query{State: conflict.StateOpen, Table: h.Service.Table, Limit: mostConflicts})
	for i := 0; err == nil && i < len(all); i++ {
		var whole conflict.View
		if whole, err = r.Conflict(all[i].ID); err == nil && slices.ContainsFunc(slices.Concat(whole.Decided, whole.Tail), concerned) {
			of = append(of, whole)
		}
	}
	return of, err
}

// taken is a record created here whose id was already taken in the cloud. To is the page of the record there; empty if it has none.
type taken struct {
	What, Name, ID, To string
	Record             uint64 // the conflict's number
	Here               string // the page that shows it
}

// origin holds the members of a row that say where it belongs and who created it.
type origin struct{ LeagueID, SeasonID, SessionID, GameID, Name, SessionDate, GameStartTs, CreatedByUserID string } //nolint:staticcheck // as the rows spell it

// takenRecords returns the records with taken ids that concern the reader: mine selects them.
func (h *handlers) takenRecords(r *httpapi.Request, mine func(entity string, p *origin) bool) (all []taken, err error) {
	if r.User == "" {
		return nil, nil
	}
	of, err := h.openConflicts(r, func(conflict.Write) bool { return true })
	for _, c := range of {
		for _, w := range slices.Concat(c.Decided, c.Tail) {
			var p origin
			entity := w.Item["entityType"].Str()
			if w.Met == nil || w.Base != nil || w.Item["sk"].Str() != "METADATA" || dataOf(&p, w.Item) != nil || !mine(entity, &p) {
				continue
			}
			t := taken{What: entity, Name: cmp.Or(p.Name, p.SessionDate, p.GameStartTs), ID: cmp.Or(p.GameID, p.SessionID, p.SeasonID, p.LeagueID), Record: c.ID, Here: r.URL.Path}
			if t.To = h.look.At("/" + entity + "s/" + url.PathEscape(t.ID)); entity == "session" {
				t.What, t.To = "match day", ""
			}
			all = append(all, t)
		}
	}
	return all, err
}

// mayDismiss reports whether the reader may dismiss a notice about a record not created: a league's creator may, else an admin of its league.
func (h *handlers) mayDismiss(r *httpapi.Request, entity string, p *origin) bool {
	if entity == "league" {
		return p.CreatedByUserID == r.User
	}
	return r.View(func(tx *store.Tx) (err error) {
		league := p.LeagueID
		if league == "" {
			if league, err = h.Service.LeagueOf(tx, threefc.Scope{Kind: "season", ID: p.SeasonID}); err != nil {
				return err
			}
		}
		return h.Service.AllowSession(tx, league, admitted(r).signIn, threefc.RoleAdmin)
	}) == nil
}

// dismissConflict dismisses the notice about a record that was not created.
func (h *handlers) dismissConflict(r *httpapi.Request) (httpapi.Response, error) {
	r.Body() // must be empty
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	all, err := h.takenRecords(r, func(entity string, p *origin) bool { return h.mayDismiss(r, entity, p) })
	if err != nil {
		return httpapi.Response{}, err
	}
	id := conflictNumber(r)
	if !slices.ContainsFunc(all, func(t taken) bool { return t.Record == id }) {
		return httpapi.Response{}, noConflict(r)
	}
	return decideConflict(r, id, "discard")
}

// retryConflict lets an admin send a refused write of a game again. A goal that was refused because its game was finished counts if it is sent
// again.
func (h *handlers) retryConflict(r *httpapi.Request) (httpapi.Response, error) {
	c, err := h.findGameConflict(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	if !isAfterFinish(&c) {
		return decideConflict(r, c.ID, "retry")
	}
	if err := h.countGoal(r, &c); err != nil {
		return httpapi.Response{}, err
	}
	return decideConflict(r, c.ID, "discard")
}

// discardConflict lets an admin drop a refused write of a game.
func (h *handlers) discardConflict(r *httpapi.Request) (httpapi.Response, error) {
	c, err := h.findGameConflict(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return decideConflict(r, c.ID, "discard")
}

// findGameConflict returns the open conflict of the game that the path names.
func (h *handlers) findGameConflict(r *httpapi.Request) (conflict.View, error) {
	r.Body() // must be empty
	if err := r.InputErr(); err != nil {
		return conflict.View{}, err
	}
	all, err := h.gameConflicts(r)
	if err != nil {
		return conflict.View{}, err
	}
	id := conflictNumber(r)
	i := slices.IndexFunc(all, func(c conflict.View) bool { return c.ID == id })
	if i < 0 {
		return conflict.View{}, noConflict(r)
	}
	return all[i], nil
}

// conflictNumber returns the number of the conflict in the path; 0, which none has, if it is not a number.
func conflictNumber(r *httpapi.Request) uint64 {
	id, _ := strconv.ParseUint(r.Param("conflict"), 10, 64)
	return id
}

func noConflict(r *httpapi.Request) error {
	return fault.New(fault.NotFound, "", "No refused write has the number %s.", r.Param("conflict"))
}

// decideConflict applies a decision to a conflict.
func decideConflict(r *httpapi.Request, id uint64, verb string) (httpapi.Response, error) {
	done, err := r.Decide(id, verb)
	switch {
	case isCode(err, "retry_refused"):
		return httpapi.Response{}, fault.New(fault.Conflict, "refused_again", "The game has changed since, so this cannot be done again. Keep what is in the cloud, or enter what is missing under Results.")
	case err != nil:
		return httpapi.Response{}, err
	}
	return httpapi.Reply(http.StatusOK, map[string]any{"id": done.ID, "state": done.State})
}

// isAfterFinish reports whether a conflict is about a new goal of a game that was finished elsewhere.
func isAfterFinish(c *conflict.View) bool {
	return slices.ContainsFunc(c.Decided, func(w conflict.Write) bool {
		return w.Item["entityType"].Str() == "goalEventId" && w.Met == nil && w.Base == nil
	})
}

// countGoal makes the goal of a conflict count, with what was changed of it since.
func (h *handlers) countGoal(r *httpapi.Request, c *conflict.View) error {
	var all []threefc.Refused
	for _, w := range slices.Concat(c.Decided, c.Tail) {
		one := store.WriteItem{Delete: &store.DeleteItem{Table: w.Table, Key: w.Key}}
		if w.Item != nil {
			one = store.WriteItem{Put: &store.PutItem{Table: w.Table, Item: w.Item}}
			one.Put.Condition, one.Put.Names, one.Put.Values = w.Condition, w.Names, w.Values
		}
		all = append(all, threefc.Refused{Key: w.Key, Again: []store.WriteItem{one}})
	}
	_, err := r.WriteOnce(nil, func(tx *store.Tx) (out idempotency.Outcome, writes []store.WriteItem, err error) {
		out.Status = http.StatusNoContent
		done, err := h.Service.CountGoal(tx, r.Param("game"), all)
		if isCode(err, "goal_already_created") { // an earlier attempt
			return out, nil, nil
		}
		return out, done.Writes, err
	}, nil)
	return err
}

func isCode(err error, code string) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Code == code
}

// refusal shows a conflict with both versions of its goals, in words.
type refusal struct {
	conflict.View
	Ours, Theirs []string
	Late         string // set for a goal that was tapped after the game had been finished elsewhere: the goal, with its time
}

func (g *shownGame) refusal(c conflict.View, in *threefc.Roster) refusal {
	out := refusal{View: c}
	for _, w := range c.Decided {
		out.Ours = append(out.Ours, g.goalIn(w.Item, in)...)
		out.Theirs = append(out.Theirs, g.goalIn(w.Met, in)...)
		var f threefc.GoalFacts
		if g.FinishedAt != nil && isAfterFinish(&c) && w.Item["entityType"].Str() == "goal" && dataOf(&f, w.Item) == nil {
			out.Late = fmt.Sprintf("%s, third %d, %s", g.factsSaid(&f, in), f.Third, f.DisplayTime)
		}
	}
	return out
}

// goalIn describes the goal of a row in words, or returns nothing if the row is not a goal.
func (g *shownGame) goalIn(row attr.Item, in *threefc.Roster) []string {
	var f threefc.GoalFacts
	if row["entityType"].Str() != "goal" || dataOf(&f, row) != nil {
		return nil
	}
	return []string{g.factsSaid(&f, in)}
}

// factsSaid describes a goal in words.
func (g *shownGame) factsSaid(f *threefc.GoalFacts, in *threefc.Roster) string {
	l := threefc.Line{Moment: f.Moment, ScoringTeamID: f.ScoringTeamID, ConcedingTeamID: f.ConcedingTeamID, OwnGoal: f.OwnGoal, Scorer: in.Players[f.ScorerPlayerID].Nickname}
	return g.Said(&l)
}

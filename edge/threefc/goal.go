package threefc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// goals reads the goals of a game in order. It sorts by the data, because two forms of the key are in use. A goal recorded by the
// first version of the original system has no clock reading beyond its minute.
func (p *plan) goals(g *Game) []Goal {
	all := list[Goal](p, pkGame+g.GameID, skGoal)
	for i := range all {
		one := &all[i]
		if one.DisplayTime == "" {
			minute := max(1, one.GameMinute-(one.Third-1)*g.ThirdLengthMinutes)
			one.Moment = MomentAt(g.ThirdLengthMinutes, one.Third, (minute-1)*60)
		}
		if one.AssistPlayerIDs == nil {
			one.AssistPlayerIDs = []string{}
		}
	}
	slices.SortFunc(all, byMoment)
	return all
}

func tooLate() error {
	return conflict("occurred_at", "No third was running when this was tapped.")
}

// momentOf returns the reading of the game clock at an instant: in the running third or, for a tap from before now, in the third
// that was running then.
func (g *Game) momentOf(at, now time.Time) (Moment, error) {
	earlier, none := at.Before(now), conflict("no_active_third", "A goal can only be created while a third is running.")
	if earlier {
		none = tooLate()
	}
	for _, t := range slices.Backward(g.Thirds) {
		if t.StartedAt == nil {
			continue
		}
		start := parseTime(*t.StartedAt)
		ended := t.FinishedAt != nil && (!earlier || at.After(parseTime(*t.FinishedAt)))
		switch {
		case at.Before(start.Add(-lateStart)):
			continue
		case ended:
			return Moment{}, none
		}
		if prior := g.third(t.Third - 1); earlier && at.Before(start) && prior != nil && prior.FinishedAt != nil && !at.After(parseTime(*prior.FinishedAt)) {
			continue // in the previous third
		}
		return MomentAt(g.ThirdLengthMinutes, t.Third, int(at.Sub(start)/time.Second)), nil
	}
	return Moment{}, none
}

// Check validates a goal without the game's roster.
func (g *Scored) Check() error {
	switch {
	case !IsTeam(g.ConcedingTeamID) || g.ScoringTeamID != nil && !IsTeam(*g.ScoringTeamID):
		return invalid("invalid_team", "Teams must be red, blue or yellow.")
	case g.OwnGoal && g.ScoringTeamID != nil:
		return invalid("own_goal_scoring_team", "An own goal has no scoring team.")
	case !g.OwnGoal && g.ScoringTeamID == nil:
		return invalid("scoring_team_required", "A goal needs its scoring team.")
	case !g.OwnGoal && *g.ScoringTeamID == g.ConcedingTeamID:
		return invalid("same_team_goal", "The scoring and the conceding team must differ.")
	case len(g.AssistPlayerIDs) > maxAssists:
		return invalid("invalid_assists", "A goal has at most %d assists.", maxAssists)
	}
	for i, id := range g.AssistPlayerIDs {
		if id == g.ScorerPlayerID || slices.Contains(g.AssistPlayerIDs[:i], id) {
			return invalid("invalid_assists", "Each assist must be by a different player, and none by the scorer.")
		}
	}
	return nil
}

// eligible validates a goal, and checks its players against the roster.
func (s *Service) eligible(tx *store.Tx, game string, g *Scored) error {
	if err := g.Check(); err != nil {
		return err
	}
	p := s.plan(tx)
	in := p.rosteredPlayers(game)
	if p.Err() != nil {
		return p.Err()
	}
	team, ok := in[g.ScorerPlayerID]
	switch {
	case !ok:
		return p.refuseUnplaced(game, g.ScorerPlayerID, "scorer_not_rostered", "The scorer is not in a team of this game.")
	case g.OwnGoal && team.TeamID != g.ConcedingTeamID:
		return invalid("scorer_not_on_conceding_team", "The scorer of an own goal must play for the conceding team.")
	case !g.OwnGoal && team.TeamID != *g.ScoringTeamID:
		return invalid("scorer_not_on_scoring_team", "The scorer must play for the scoring team.")
	}
	for _, id := range g.AssistPlayerIDs {
		if _, ok := in[id]; !ok {
			return p.refuseUnplaced(game, id, "assist_not_rostered", "A player with an assist is not in a team of this game.")
		}
	}
	return nil
}

// refuseUnplaced returns the refusal of a player who is in no team of a game. It looks for the row that is missing, which may be in the cloud.
func (p *plan) refuseUnplaced(game, player, code, why string) error {
	p.LookFor(gamePlayerKey(game, player))
	return cmp.Or(p.Err(), error(fault.New(fault.Invalid, code, "%s", why).ForLack()))
}

// isFinishedAt reports whether the game was finished at an instant.
func (g *Game) isFinishedAt(at time.Time) bool {
	return g.FinishedAt != nil && !at.Before(parseTime(*g.FinishedAt))
}

// NewGoal is a goal to create.
type NewGoal struct {
	Scored
	At    time.Time // of the tap
	Actor string

	MadeBy string // see Audit
}

// CreateGoal records a goal. It writes the goal, its marker and the audit, conditional on the game not being finished, or not before the tap if it
// is known to be.
func (s *Service) CreateGoal(tx *store.Tx, game string, n NewGoal, ids *IDs) (Change, error) {
	p := s.plan(tx)
	g, now := must(p, s.game, game), s.Now(tx)
	late := g.FinishedAt != nil
	p.Refuse(g.isFinishedAt(n.At), gameFinished())
	at, err := g.momentOf(n.At, now)
	p.Fail(err)
	if p.Fail(s.eligible(tx, game, &n.Scored)); p.Err() != nil {
		return Change{}, p.Err()
	}
	made := Goal{GameID: game, Stamps: s.stamp(tx), Late: late}
	made.Moment, made.Scored = at, n.Scored
	if made.AssistPlayerIDs == nil {
		made.AssistPlayerIDs = []string{}
	}
	when := n.At
	if ids.Seed != "" { // the second: within it the keys have the order
		when = parseTime(*g.third(at.Third).StartedAt).Add(time.Duration(at.ElapsedSeconds) * time.Second)
	}
	made.EventID = ids.Goal(when)
	if again, ok := p.madeBefore(game, made.EventID); ok && ids.Seed != "" {
		return p.change("event", again.EventID, "audit", again.id(), idClock, fmt.Sprintf("%d#%d", again.After.Third, again.After.ElapsedSeconds))
	}
	p.Refuse(p.isMade(game, made.EventID), conflict("goal_already_created", "This goal has already been created."))
	add(p, goalKey(game, at.Third, at.GameMinute, made.EventID), made)
	add(p, markerKey(game, made.EventID), marker{GameID: game, EventID: made.EventID, Stamps: made.Stamps})
	audit := p.audit(made.Stamps, ids.New(now), Corrector{Actor: n.Actor, MadeBy: n.MadeBy}, goalCreated, nil, &made)
	if late {
		p.openAt(p.Get(gameKey(game)), made.EventID)
	} else {
		p.stillOpen(g)
	}
	return p.change("event", made.EventID, "audit", audit.id(), idClock, fmt.Sprintf("%d#%d", at.Third, at.ElapsedSeconds))
}

// madeBefore returns the record of a goal that another node made of the same Idempotency-Key. The goal may be here before the row of the key, which
// a node reads only when it has to answer, and cannot read while it is cut off from the cloud.
func (p *plan) madeBefore(game, event string) (made Audit, ok bool) {
	there := false
	for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pkGame+game, skMarker))) {
		there = there || tapOf(it["sk"].Str()[len(skMarker):]) == tapOf(event)
	}
	if !there {
		return made, false
	}
	for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pkGame+game, skAudit))) {
		a, err := decode[Audit](it)
		if err == nil && a.Action == goalCreated && a.After != nil && tapOf(a.EventID) == tapOf(event) {
			return a, true
		}
	}
	return made, false
}

// isMade reports whether a goal exists or existed, under whatever id.
func (p *plan) isMade(game, event string) bool {
	for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pkGame+game, skMarker))) {
		if tapOf(it["sk"].Str()[len(skMarker):]) == tapOf(event) {
			return true
		}
	}
	return p.Get(goneKey(game, event)) != nil
}

// idClock names the id in a goal's Idempotency-Key row that holds the goal's clock reading: its third and the seconds elapsed in it.
const idClock = "clock"

// audit adds the record of a change and who made it.
func (p *plan) audit(at Stamps, id string, who Corrector, action string, before, after *Goal) Audit {
	of := cmp.Or(after, before)
	a := Audit{AuditID: id, GameID: of.GameID, EventID: of.EventID, ActorUserID: who.Actor, MadeBy: who.MadeBy, Action: action, Stamps: at}
	if before != nil {
		a.Before = &before.GoalFacts
	}
	if after != nil {
		a.After = &after.GoalFacts
	}
	add(p, auditKey(a.GameID, a.CreatedAt, id), a)
	return a
}

// id returns the id under which Service.Audit finds the change.
func (a *Audit) id() string { return a.CreatedAt + "#" + a.AuditID }

// Audit reads the record of a change to a goal, by the id returned in the Change.
func (s *Service) Audit(tx *store.Tx, game, id string) (*Audit, error) {
	at, id, _ := strings.Cut(id, "#")
	p := s.plan(tx)
	return requireRecord[Audit](p, auditKey(game, at, id), "The change"), p.Err()
}

// HandedIn reads the records of changes to a game's goals that somebody handed in for who made them.
func (s *Service) HandedIn(tx *store.Tx, game string) ([]Audit, error) {
	p := s.plan(tx)
	all := list[Audit](p, pkGame+game, skAudit)
	return slices.DeleteFunc(all, func(a Audit) bool { return a.MadeBy == "" }), p.Err()
}

// Corrector identifies who corrects a goal, and when: at the tap, or now if that is zero. An admin may do so in a finished game too, and so may
// anybody who did it before the finish.
type Corrector struct {
	Actor string
	Admin bool
	At    time.Time

	MadeBy string // see Audit
}

// mayCorrect reports whether somebody may correct goals of a game.
func (w *Corrector) mayCorrect(g *Game) bool {
	return g.FinishedAt == nil || w.Admin || !w.At.IsZero() && !g.isFinishedAt(w.At)
}

// correct corrects a goal by calling do, which plans the writes and returns the corrected goal, or nil if it removes the goal. If the
// same correction was already made, here or by another program, correct returns the result of that one.
func (s *Service) correct(tx *store.Tx, game, event, action string, who Corrector, ids *IDs, do func(p *plan, goals []Goal, was *Goal) *Goal) (Change, error) {
	p := s.plan(tx)
	g := must(p, s.game, game)
	p.Refuse(!who.mayCorrect(g), gameFinished())
	made := operation{GameID: game, EventID: event, OperationID: ids.operation(), Action: action, Stamps: s.stamp(tx)}
	if made.OperationID != "" {
		if before := optional[operation](p, operationKey(game, made.OperationID)); before != nil {
			p.Refuse(tapOf(before.EventID) != tapOf(event) || before.Action != action, conflict("idempotency_conflict", "This Idempotency-Key was used for another request."))
			return p.change("event", event, "audit", before.Result.Audit.id())
		}
	}
	goals := p.goals(g)
	i := slices.IndexFunc(goals, func(o Goal) bool { return o.EventID == event })
	if i < 0 { // another node gave it another id
		i = slices.IndexFunc(goals, func(o Goal) bool { return tapOf(o.EventID) == tapOf(event) })
	}
	if i < 0 {
		p.LookFor(markerKey(game, event)) // it goes with the goal, which may be in the cloud
	}
	p.Refuse(i < 0 && action == goalUndone, fault.New(fault.Conflict, "latest_goal_changed", "The latest goal has changed.").ForLack())
	if p.Refuse(i < 0, notFound("", "This goal is no longer in the game.")); p.Err() != nil {
		return Change{}, p.Err()
	}
	event, made.EventID = goals[i].EventID, goals[i].EventID
	now := do(p, goals, &goals[i])
	audit := p.audit(made.Stamps, ids.New(s.Now(tx)), who, action, &goals[i], now)
	if made.OperationID != "" {
		made.RequestHash, made.Result.Audit = ids.Hash, audit
		add(p, operationKey(game, made.OperationID), made)
	}
	p.checkGame(g)
	return p.change("event", event, "audit", audit.id())
}

// checkGame makes a correction conditional on its game. It must not be finished in the meantime, unless it is known to be.
func (p *plan) checkGame(g *Game) {
	if g.FinishedAt == nil {
		p.stillOpen(g)
		return
	}
	p.checkParent(gameKey(g.GameID), g.Stamps)
}

// UpdateGoal changes what the scorer entered; the goal's clock reading stays.
func (s *Service) UpdateGoal(tx *store.Tx, game, event string, who Corrector, change func(g *Scored), ids *IDs) (Change, error) {
	return s.correct(tx, game, event, goalUpdated, who, ids, func(p *plan, _ []Goal, was *Goal) *Goal {
		now := *was
		change(&now.Scored)
		now.UpdatedAt = s.NowText(tx)
		replace(p, key(pkGame+game, was.sk), was, now)
		p.Fail(s.eligible(tx, game, &now.Scored))
		return &now
	})
}

// remove plans the removal of a goal and its marker.
func (g *Goal) remove(p *plan) *Goal {
	p.remove(key(pkGame+g.GameID, g.sk), g.Stamps)
	p.Write(p.Drop(markerKey(g.GameID, g.EventID)))
	at := p.stamp(p.Tx)
	row, err := encode(goneKey(g.GameID, g.EventID), gone{GameID: g.GameID, EventID: g.EventID, Changed: g.UpdatedAt, Stamps: at})
	p.Fail(err)
	if err == nil {
		row[AttrTTL] = attr.Int(parseTime(at.CreatedAt).Add(undoneFor).Unix())
		p.Write(p.Put(row, table.If{}))
	}
	return nil
}

// DeleteGoal removes a goal.
func (s *Service) DeleteGoal(tx *store.Tx, game, event string, who Corrector, ids *IDs) (Change, error) {
	return s.correct(tx, game, event, goalDeleted, who, ids, func(p *plan, _ []Goal, was *Goal) *Goal { return was.remove(p) })
}

// UndoLast removes the latest goal if it is the expected one.
func (s *Service) UndoLast(tx *store.Tx, game, expected string, who Corrector, ids *IDs) (Change, error) {
	return s.correct(tx, game, expected, goalUndone, who, ids, func(p *plan, goals []Goal, was *Goal) *Goal {
		p.Refuse(goals[len(goals)-1].EventID != was.EventID, conflict("not_latest_goal", "This is not the latest goal."))
		return was.remove(p)
	})
}

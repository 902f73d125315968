package threefc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
)

// goals reads the goals of a game, in their order: that of their data, since two forms of the key are in use. One of the first
// stage has no reading of the clock beyond its minute.
func (s *Service) goals(tx *store.Tx, g *Game) ([]Goal, error) {
	all, err := list[Goal](tx, s, pkGame+g.GameID, skGoal, entGoal)
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
	return all, err
}

func tooLate() error {
	return conflict("occurred_at", "No third was running when this was tapped.")
}

// momentOf is what the game's clock said at an instant: that of the running third, or for a tap that comes late that of the third
// that ran then.
func (g *Game) momentOf(at, now time.Time) (Moment, error) {
	late, none := now.Sub(at) >= time.Second, conflict("no_active_third", "A goal can only be created while a third is running.")
	if late {
		none = tooLate()
	}
	for _, t := range slices.Backward(g.Thirds) {
		if t.StartedAt == nil {
			continue
		}
		start := parseTime(*t.StartedAt)
		ended := t.FinishedAt != nil && (!late || at.After(parseTime(*t.FinishedAt)))
		switch {
		case at.Before(start.Add(-lateStart)):
			continue
		case ended:
			return Moment{}, none
		}
		if prior := g.third(t.Third - 1); late && at.Before(start) && prior != nil && prior.FinishedAt != nil && !at.After(parseTime(*prior.FinishedAt)) {
			continue // it was in the third before
		}
		return MomentAt(g.ThirdLengthMinutes, t.Third, int(at.Sub(start)/time.Second)), nil
	}
	return Moment{}, none
}

// Check refuses a goal that cannot be, as far as the game's roster is not needed to see it.
func (g *Scored) Check() error {
	switch {
	case !IsTeam(g.ConcedingTeamID) || g.ScoringTeamID != nil && !IsTeam(*g.ScoringTeamID):
		return invalid("invalid_team", "Teams must be red, blue or yellow.")
	case g.OwnGoal && g.ScoringTeamID != nil:
		return invalid("own_goal_scoring_team", "An own goal has no scoring team.")
	case !g.OwnGoal && g.ScoringTeamID == nil:
		return invalid("scoring_team_required", "A goal needs its scoring team.")
	case !g.OwnGoal && *g.ScoringTeamID == g.ConcedingTeamID:
		return invalid("same_team_goal", "Scoring and conceding team must differ.")
	case len(g.AssistPlayerIDs) > maxAssists:
		return invalid("invalid_assists", "A goal has at most %d assists.", maxAssists)
	}
	for i, id := range g.AssistPlayerIDs {
		if id == g.ScorerPlayerID || slices.Contains(g.AssistPlayerIDs[:i], id) {
			return invalid("invalid_assists", "Assists must be of different players other than the scorer.")
		}
	}
	return nil
}

// eligible refuses a goal of players who are not in the teams that they must be in.
func (s *Service) eligible(tx *store.Tx, game string, g *Scored) error {
	if err := g.Check(); err != nil {
		return err
	}
	in, err := s.rostered(tx, game)
	if err != nil {
		return err
	}
	team, ok := in[g.ScorerPlayerID]
	switch {
	case !ok:
		return invalid("scorer_not_rostered", "The scorer is not in a team of this game.")
	case g.OwnGoal && team.TeamID != g.ConcedingTeamID:
		return invalid("scorer_not_on_conceding_team", "The scorer of an own goal must play for the conceding team.")
	case !g.OwnGoal && team.TeamID != *g.ScoringTeamID:
		return invalid("scorer_not_on_scoring_team", "The scorer must play for the scoring team.")
	}
	for _, id := range g.AssistPlayerIDs {
		if _, ok := in[id]; !ok {
			return invalid("assist_not_rostered", "A player who assisted is not in a team of this game.")
		}
	}
	return nil
}

// NewGoal is a goal to be made.
type NewGoal struct {
	Scored
	At    time.Time // of the tap
	Actor string
}

// CreateGoal makes a goal: the goal, the claim of its id and the audit, under a game that is not finished.
func (s *Service) CreateGoal(tx *store.Tx, game string, n NewGoal, ids *IDs) (Change, error) {
	p := s.plan(tx)
	g, now := must(p, s.game, game), s.Now(tx)
	p.refuse(g.FinishedAt != nil, gameFinished())
	at, err := g.momentOf(n.At, now)
	p.fail(err)
	if p.fail(s.eligible(tx, game, &n.Scored)); p.err != nil {
		return Change{}, p.err
	}
	made := Goal{GameID: game, Stamps: s.stamp(tx)}
	made.Moment, made.Scored = at, n.Scored
	if made.AssistPlayerIDs == nil {
		made.AssistPlayerIDs = []string{}
	}
	when := n.At // a keyed goal has one id at all nodes, whose clocks differ: its time is that of its third
	if ids.Seed != "" {
		when = parseTime(*g.third(at.Third).StartedAt)
	}
	made.EventID = ids.New(when)
	there := optional[marker](p, markerKey(game, made.EventID), entMarker)
	p.refuse(there != nil, conflict("goal_already_created", "This goal has already been created."))
	add(p, goalKey(game, at.Third, at.GameMinute, made.EventID), entGoal, made)
	add(p, markerKey(game, made.EventID), entMarker, marker{GameID: game, EventID: made.EventID, Stamps: made.Stamps})
	audit := p.audit(made.Stamps, ids.New(now), n.Actor, goalCreated, nil, &made)
	p.stillOpen(g)
	return p.change("event", made.EventID, "audit", audit.id(), idClock, fmt.Sprintf("%d#%d", at.Third, at.ElapsedSeconds))
}

// idClock is where the row of a goal's key says when the goal was: its third and the seconds of that.
const idClock = "clock"

// audit writes who has changed what.
func (p *plan) audit(at Stamps, id, actor, action string, before, after *Goal) Audit {
	of := cmp.Or(after, before)
	a := Audit{AuditID: id, GameID: of.GameID, EventID: of.EventID, ActorUserID: actor, Action: action, Stamps: at}
	if before != nil {
		a.Before = &before.GoalFacts
	}
	if after != nil {
		a.After = &after.GoalFacts
	}
	add(p, auditKey(a.GameID, a.CreatedAt, id), entAudit, a)
	return a
}

// id is by which a change is found.
func (a *Audit) id() string { return a.CreatedAt + "#" + a.AuditID }

// Audit reads a change of a goal, by the id that the change has returned.
func (s *Service) Audit(tx *store.Tx, game, id string) (*Audit, error) {
	at, id, _ := strings.Cut(id, "#")
	return found[Audit](tx, s, auditKey(game, at, id), entAudit, "The change")
}

// Corrector is who changes goals that are there, and whether they may in a finished game.
type Corrector struct {
	Actor string
	Admin bool
}

// correct changes a goal of a game by do, which writes and returns the goal as it is then; nil: it is gone. A correction that was made
// before, here or by another program, is as it was.
func (s *Service) correct(tx *store.Tx, game, event, action string, who Corrector, ids *IDs, do func(p *plan, goals []Goal, was *Goal) (*Goal, error)) (Change, error) {
	p := s.plan(tx)
	g := must(p, s.game, game)
	p.refuse(g.FinishedAt != nil && !who.Admin, gameFinished())
	made := operation{GameID: game, EventID: event, OperationID: ids.operation(), Action: action, Stamps: s.stamp(tx)}
	if made.OperationID != "" {
		if before := optional[operation](p, operationKey(game, made.OperationID), entOperation); before != nil {
			p.refuse(before.EventID != event || before.Action != action, conflict("idempotency_conflict", "This Idempotency-Key was used for another request."))
			return p.change("event", event, "audit", before.Result.Audit.id())
		}
	}
	goals, err := s.goals(tx, g)
	p.fail(err)
	i := slices.IndexFunc(goals, func(o Goal) bool { return o.EventID == event })
	p.refuse(i < 0 && action == goalUndone, conflict("latest_goal_changed", "The latest goal has changed."))
	if p.refuse(i < 0, notFound("", "This goal is no longer in the game.")); p.err != nil {
		return Change{}, p.err
	}
	now, err := do(p, goals, &goals[i])
	if err != nil {
		return Change{}, err
	}
	audit := p.audit(made.Stamps, ids.New(s.Now(tx)), who.Actor, action, &goals[i], now)
	if made.OperationID != "" {
		made.RequestHash, made.Result.Audit = ids.Hash, audit
		add(p, operationKey(game, made.OperationID), entOperation, made)
	}
	p.below(g)
	return p.change("event", event, "audit", audit.id())
}

// below has a correction stand or fall with its game. An admin's stands in a finished one too.
func (p *plan) below(g *Game) {
	if g.FinishedAt == nil {
		p.stillOpen(g)
		return
	}
	p.under(gameKey(g.GameID), g.Stamps)
}

// UpdateGoal changes what was said of a goal; when it was stays.
func (s *Service) UpdateGoal(tx *store.Tx, game, event string, who Corrector, change func(g *Scored), ids *IDs) (Change, error) {
	return s.correct(tx, game, event, goalUpdated, who, ids, func(p *plan, _ []Goal, was *Goal) (*Goal, error) {
		now := *was
		change(&now.Scored)
		now.UpdatedAt = s.NowText(tx)
		replace(p, key(pkGame+game, was.sk), entGoal, was, now)
		return &now, s.eligible(tx, game, &now.Scored)
	})
}

// remove is a correction that removes a goal with the claim of its id.
func (g *Goal) remove(p *plan) (*Goal, error) {
	p.remove(key(pkGame+g.GameID, g.sk), g.Stamps)
	p.delete(markerKey(g.GameID, g.EventID))
	return nil, nil //nolint:nilnil // it is gone
}

// DeleteGoal removes a goal.
func (s *Service) DeleteGoal(tx *store.Tx, game, event string, who Corrector, ids *IDs) (Change, error) {
	return s.correct(tx, game, event, goalDeleted, who, ids, func(p *plan, _ []Goal, was *Goal) (*Goal, error) { return was.remove(p) })
}

// UndoLast removes the latest goal, if it is the one that is expected.
func (s *Service) UndoLast(tx *store.Tx, game, expected string, who Corrector, ids *IDs) (Change, error) {
	return s.correct(tx, game, expected, goalUndone, who, ids, func(p *plan, goals []Goal, was *Goal) (*Goal, error) {
		if goals[len(goals)-1].EventID != expected {
			return nil, conflict("not_latest_goal", "This is not the latest goal.")
		}
		return was.remove(p)
	})
}

package threefc

import (
	"cmp"
	"maps"
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// makesGoal reports whether r is the marker of a new goal that the cloud does not have.
func makesGoal(r Refused) bool {
	return inPK(r, pkGame) && inSK(r, skMarker) && item(r) != nil && r.Remote == nil
}

// fromBefore resolves a goal that the cloud refused because its game was finished elsewhere. It counts if it was tapped before that, and
// the result is derived anew; else an admin decides: see CountGoal.
func (s *Service) fromBefore(get Get, all, behind []Refused) (writes []store.WriteItem, ok bool) {
	row := game(get, all)
	g, err := decode[Game](row)
	if err != nil || g.FinishedAt == nil {
		return nil, false
	}
	p := s.plan(nil)
	event := p.lateGoal(slices.Concat(all, behind), row)
	if event == "" || !tappedAt(event).Before(parseTime(*g.FinishedAt)) {
		return nil, false
	}
	p.openAt(row, event)
	return p.Writes, p.Err() == nil
}

// isFromBefore reports whether a correction was made before its game was finished.
func (c *correction) isFromBefore(game attr.Item) bool {
	g, err := decode[Game](game)
	return err == nil && g.FinishedAt != nil && !slices.ContainsFunc(c.rows, func(r Refused) bool {
		said, err := decode[Audit](item(r))
		return inSK(r, skAudit) && (err != nil || said.CreatedAt >= *g.FinishedAt) || !isUnder(r, game)
	})
}

// afterAll makes a correction again in a game that was finished since. Only the last change of the goal is left.
func (s *Service) afterAll(c correction, game attr.Item) (writes []store.WriteItem, ok bool) {
	p := s.plan(nil)
	for _, r := range c.rows {
		switch {
		case isExport(r), attr.EqualItems(r.Key, c.goal.Key):
		default:
			p.again(r.Again[:1])
		}
	}
	was := p.goal(c.goal.Base)
	if row := item(c.last); row != nil {
		p.Write(p.Put(row, unchangedSince(was.Stamps)))
	} else {
		p.remove(c.goal.Key, was.Stamps)
	}
	p.checkParent(gameKeyOf(game), Stamps{CreatedAt: game["createdAt"].Str()})
	return p.Writes, p.Err() == nil
}

// CountGoal makes a goal count that the cloud refused because it was tapped after the game had been finished elsewhere, with what was changed
// of it since. refused are the writes of the conflict.
func (s *Service) CountGoal(tx *store.Tx, game string, refused []Refused) (Change, error) {
	p := s.plan(tx)
	row := p.Get(gameKey(game))
	if p.Refuse(row == nil, notFound("", "Game %s was not found.", game)); p.Err() != nil {
		return Change{}, p.Err()
	}
	event := p.lateGoal(refused, row)
	p.Refuse(event == "", conflict("not_a_goal", "This is not a goal that came after the finish."))
	p.Refuse(p.Get(markerKey(game, event)) != nil, conflict("goal_already_created", "This goal counts already."))
	p.checkParent(gameKey(game), Stamps{CreatedAt: row["createdAt"].Str()})
	return p.change("event", event)
}

// lateGoal plans what is left of the writes that make a goal of a game and change it, and returns the goal's id; "" if they are others. If the goal
// was taken back, only the records of that are left.
func (p *plan) lateGoal(refused []Refused, game attr.Item) (event string) {
	var goal, mark Refused // their last writes
	for _, r := range refused {
		switch {
		case isExport(r):
		case len(r.Again) == 0 || !inPK(r, pkOnce) && !r.Key["pk"].Equal(game["pk"]) || !isUnder(r, game):
			return ""
		case inPK(r, pkOnce), inSK(r, skAudit), inSK(r, skOperation), inSK(r, skGone):
			p.Write(r.Again[0])
		case inSK(r, skGoal):
			goal = r
		case inSK(r, skMarker):
			mark = r
			event = r.Key["sk"].Str()[len(skMarker):]
		default:
			return ""
		}
	}
	if goal.Key == nil || mark.Key == nil {
		return ""
	}
	if item(goal) != nil && item(mark) != nil {
		late := p.goal(item(goal))
		late.Late = true
		add(p, goal.Key, late)
		add(p, mark.Key, marker{GameID: late.GameID, EventID: event, Stamps: late.Stamps})
	}
	return event
}

// isUnder reports whether a write was made in a game, and not in one that was deleted since and created again: its check names when the game was
// created.
func isUnder(r Refused, game attr.Item) bool {
	return !slices.ContainsFunc(r.Again, func(w store.WriteItem) bool {
		return w.Check != nil && attr.EqualItems(w.Check.Key, gameKeyOf(game)) && !slices.ContainsFunc(slices.Collect(maps.Values(w.Check.Values)), game["createdAt"].Equal)
	})
}

func gameKeyOf(game attr.Item) attr.Item { return attr.Item{"pk": game["pk"], "sk": game["sk"]} }

// goneThere reports whether another node has taken back the goal that r takes back.
func goneThere(r Refused) bool { return inSK(r, skGone) && r.Remote != nil }

// takesBack reports whether r is a row of a request that takes a goal back, without the goal, which this node did not have.
func takesBack(r Refused) bool {
	return inPK(r, pkOnce) || inPK(r, pkGame) && (inSK(r, skGone) || inSK(r, skAudit) || inSK(r, skOperation))
}

// takeBack removes the goals of a game that were taken back where they had not arrived. If one was changed meanwhile, a note tells the scorers
// what was changed.
func (s *Service) takeBack(tx *store.Tx, game string) error {
	p := s.plan(tx)
	marks := slices.DeleteFunc(list[gone](p, pkGame+game, skGone), func(m gone) bool { return !m.Unseen })
	if len(marks) == 0 {
		return p.Err()
	}
	goals, removed := list[Goal](p, pkGame+game, skGoal), 0
	for i := range goals {
		g := &goals[i]
		if removed == emptied/3 {
			return cmp.Or(p.Err(), table.ErrMore)
		}
		at := slices.IndexFunc(marks, func(m gone) bool { return tapOf(m.EventID) == tapOf(g.EventID) })
		if at < 0 {
			continue
		}
		p.Write(p.Drop(key(pkGame+game, g.sk)))
		p.Write(p.Drop(markerKey(game, g.EventID)))
		if g.UpdatedAt > marks[at].Changed {
			p.putNote(g)
		}
		p.Commit()
		removed++
	}
	return p.Err()
}

// isTakenBack reports whether the goal that another node made was taken back, as far as is known here.
func (p *plan) isTakenBack(get Get, goal *Goal) bool {
	row, err := get(goneKey(goal.GameID, goal.EventID))
	p.Fail(err)
	return row != nil
}

// notGone checks that a goal was not taken back at any node.
func (p *plan) notGone(goal *Goal) {
	p.Write(p.Check(goneKey(goal.GameID, goal.EventID), table.IfTrue(absent, nil)))
}

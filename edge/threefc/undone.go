package threefc

import (
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Undone says that a goal was changed at one node and taken back at another at the same time. Lost is the goal as it was changed. The row is
// for the scorers of the game, at both nodes, and is dropped after undoneFor.
type Undone struct {
	GameID string    `json:"gameId"`
	Lost   GoalFacts `json:"lost"`
	Stamps
}

const undoneFor = 7 * 24 * time.Hour

// UndoneChanges lists what was changed and taken back at the same time in a game.
func (s *Service) UndoneChanges(tx *store.Tx, game string) ([]Undone, error) {
	p := s.plan(tx)
	return list[Undone](p, pkGame+game, skUndone), p.Err()
}

// correction is the changes of one goal that the cloud refused.
type correction struct {
	goal  Refused   // the first refused write of the goal's row
	last  Refused   // the last write of it
	event string    // the goal's id
	rows  []Refused // everything refused with it
}

// correctionOf returns the correction that writes are; ok is false if they are none, or not one alone.
func correctionOf(all, behind []Refused) (c correction, ok bool) {
	i := slices.IndexFunc(all, func(r Refused) bool { return inPK(r, pkGame) && inSK(r, skGoal) })
	if i < 0 || slices.ContainsFunc(all, makesGoal) {
		return c, false
	}
	c = correction{goal: all[i], rows: slices.Concat(all, behind)}
	for _, r := range c.rows {
		if said, err := decode[Audit](item(r)); err == nil && inSK(r, skAudit) {
			c.event = said.EventID
		}
	}
	for _, r := range c.rows {
		if len(r.Again) == 0 || !isExport(r) && !c.concerns(r) {
			return c, false
		}
		if attr.EqualItems(r.Key, c.goal.Key) {
			c.last = r
		}
	}
	return c, c.event != ""
}

// concerns reports whether a row belongs to the correction of the goal.
func (c *correction) concerns(r Refused) bool {
	if inPK(r, pkOnce) {
		return true
	}
	if !r.Key["pk"].Equal(c.goal.Key["pk"]) {
		return false
	}
	var of struct{ EventID string }
	about := table.JSON(item(r), "data", &of) == nil && of.EventID == c.event
	switch {
	case attr.EqualItems(r.Key, c.goal.Key), inSK(r, skUndone), inSK(r, skGone):
		return true
	case inSK(r, skMarker):
		return r.Key["sk"].Str() == skMarker+c.event
	}
	return about && (inSK(r, skAudit) || inSK(r, skOperation))
}

// removes reports whether the goal was taken back here.
func (c *correction) removes() bool { return item(c.last) == nil }

// isUndone reports whether the goal was changed at one node and taken back at another, or taken back at both.
func (c *correction) isUndone(get Get) bool {
	if c.goal.Remote != nil {
		return c.removes() && isChangedElsewhere(c.goal)
	}
	mark, err := get(key(c.goal.Key["pk"].Str(), skGone+tapOf(c.event)))
	return c.goal.Base != nil || err == nil && mark != nil
}

// mergeUndo takes back a goal that was changed at one node and taken back at another, whichever reached the cloud first: whoever took it back said
// that there was none. A note tells the scorers what was changed.
func (s *Service) mergeUndo(c correction) (writes []store.WriteItem, ok bool) {
	p := s.plan(nil)
	lost := c.goal.Remote
	if lost == nil {
		if lost = item(c.last); lost == nil { // taken back at both
			for _, r := range c.rows {
				if inSK(r, skUndone) {
					p.again(r.Again)
				}
			}
			return p.Writes, true
		}
	} else {
		c.removeAsItIs(p)
	}
	goal := p.goal(lost)
	p.putNote(&goal)
	return p.Writes, p.Err() == nil
}

// keepNote keeps the note of a goal that was changed here and taken back elsewhere.
func (s *Service) keepNote(lost *Goal) (writes []store.WriteItem, ok bool) {
	p := s.plan(nil)
	p.putNote(lost)
	return p.Writes, p.Err() == nil
}

func (p *plan) putNote(goal *Goal) {
	note := Undone{GameID: goal.GameID, Lost: goal.GoalFacts, Stamps: Stamps{CreatedAt: goal.UpdatedAt, UpdatedAt: goal.UpdatedAt}}
	row, err := encode(undoneKey(goal.GameID, goal.EventID), note)
	if p.Fail(err); err == nil {
		row[AttrTTL] = attr.Int(parseTime(goal.UpdatedAt).Add(undoneFor).Unix())
		p.Write(p.Put(row, table.If{}))
	}
}

// removeAsItIs requests again to take the goal back, as it is in the cloud by now. Changes that were made here before fall with it.
func (c *correction) removeAsItIs(p *plan) {
	is := p.goal(c.goal.Remote)
	for _, r := range c.rows {
		if r.Txn != c.last.Txn || isExport(r) || inSK(r, skUndone) {
			continue
		}
		switch {
		case attr.EqualItems(r.Key, c.goal.Key):
			p.remove(r.Key, is.Stamps)
		case inSK(r, skAudit):
			if a, err := decode[Audit](item(r)); err == nil && a.After != nil {
				continue // of a change in the same transaction
			}
			beforeIs(p, r, func(a *Audit) { a.Before = &is.GoalFacts })
		case inSK(r, skOperation):
			beforeIs(p, r, func(o *operation) { o.Result.Audit.Before = &is.GoalFacts })
		default:
			p.again(r.Again[:1])
		}
		p.again(r.Again[1:])
	}
}

// beforeIs requests a new record again, changed.
func beforeIs[T any, P stamped[T]](p *plan, r Refused, change func(*T)) {
	v, err := decode[T, P](item(r))
	p.Fail(err)
	change(&v)
	add[T, P](p, r.Key, v)
}

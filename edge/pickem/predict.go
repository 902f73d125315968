package pickem

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
)

// Predict stores a user's picks: by match, the index of a team, or nil to take the pick back. Picks for other matches stay, so that two devices
// do not erase each other's. The write is refused if the event is not open when it reaches the cloud.
func (s *Service) Predict(tx *store.Tx, user, event string, picks map[string]*int) (Card, error) {
	p := s.plan(tx)
	c := p.entry(event, user)
	p.Refuse(c.Locked(s.now(tx)), fault.New(fault.Conflict, "event_locked", "Predictions for this event are locked."))
	if why := c.unreadRow(predictionKey(user, event)); why != nil {
		p.Fail(table.Unreadable("prediction", why))
	}
	p.checkTeams(&c, picks)
	p.madeAgain(&c, user, picks)
	switch {
	case c.Mine != nil && len(picks) > 0:
		for some := range slices.Chunk(slices.Sorted(maps.Keys(picks)), MaxMatches) {
			of := maps.Clone(picks)
			maps.DeleteFunc(of, func(match string, _ *int) bool { return !slices.Contains(some, match) })
			p.Commit(s.isOpen(event), s.change(user, event, of, s.now(tx)))
		}
	case slices.ContainsFunc(slices.Collect(maps.Values(picks)), func(pick *int) bool { return pick != nil }):
		p.Commit(s.isOpen(event), s.first(user, event, picks, s.now(tx)))
	default: // nothing to store: a user who never picked has no row
		return c, p.Err()
	}
	return p.entry(event, user), p.Err()
}

// madeAgain removes the given picks from the note of picks that were not counted, even if a match has changed its teams and ID since.
func (p *plan) madeAgain(c *Card, user string, picks map[string]*int) {
	note := p.Get(lateKey(user, c.ID))
	again := slices.DeleteFunc(slices.Clone(note["picks"].Strs()), func(member string) bool {
		match, _, _ := strings.Cut(member, " ")
		return !slices.ContainsFunc(c.Matches, func(m Match) bool {
			_, is := picks[m.ID]
			return is && (m.ID == match || slices.Contains(m.Was, match))
		})
	})
	if len(again) == 0 {
		return
	}
	members, err := attr.SS(again...)
	p.Fail(err)
	p.Commit(p.Update(lateKey(user, c.ID), "DELETE picks :picks", table.IfTrue("", attr.Item{":picks": members})))
}

// checkTeams refuses a match that is not on the card, and a team that is not in its match. It looks for the row of a missing match, which
// may be in the cloud.
func (p *plan) checkTeams(c *Card, teams map[string]*int) {
	for id, team := range teams {
		switch m := c.match(id); {
		case m == nil:
			p.lacks(c, id, fault.New(fault.Invalid, "unknown_match", "This event has no match %s.", id).ForLack())
		case team != nil && m.Team(*team) == nil:
			p.Fail(fault.New(fault.Invalid, "bad_team", "The match %s has no team %d.", m.Name, *team))
		}
	}
}

// lacks fails with an error because a match is not on the card. It looks for its row first, which may be in the cloud, or unreadable.
func (p *plan) lacks(c *Card, match string, err error) {
	key := matchKey(c.ID, match)
	if why := c.unreadRow(key); why != nil {
		p.Fail(table.Unreadable("match", why))
	}
	p.LookFor(key)
	p.Fail(err)
}

// isOpen returns the check that an event takes picks. It decides in the cloud.
func (s *Service) isOpen(event string) store.WriteItem {
	return s.Check(eventKey(event), table.IfTrue("#state = :upcoming", attr.Item{":upcoming": attr.S(string(Upcoming))}))
}

// stamp is the layout of the times of picks in rows, in UTC. All have one length, so that they compare as text.
const stamp = "2006-01-02T15:04:05.000Z"

// first returns the write of a user's first picks for an event.
func (s *Service) first(user, event string, picks map[string]*int, now time.Time) store.WriteItem {
	it, all := predictionKey(user, event), attr.Item{}
	for id, pick := range picks {
		if pick != nil {
			all[id] = attr.Int(int64(*pick))
		}
	}
	it["type"], it["belongsto"] = attr.S("prediction"), attr.S(prefixUser+user)
	it["GSI_PK"], it["GSI_SK"] = attr.S(prefixEvent+event), attr.S(eventScore(0, user))
	it["predictions"], it["mcorrect"], it["points"] = attr.M(all), attr.Int(0), attr.Int(0)
	it["updatedAt"] = attr.S(now.UTC().Format(stamp))
	return s.Create(it)
}

// setPicks begins the update that changes picks. It ends before the first value's name, since the store renames values.
const setPicks = "SET updatedAt = "

// change returns the update of picks in an existing row. It sets or removes the pick of each match on its own. An update expression has room for
// MaxMatches.
func (s *Service) change(user, event string, picks map[string]*int, now time.Time) store.WriteItem {
	u := &store.UpdateItem{
		Table: s.Table, Key: predictionKey(user, event), Condition: exists, Update: setPicks + ":at",
		Params: expr.Params{Names: map[string]string{}, Values: attr.Item{":at": attr.S(now.UTC().Format(stamp))}},
	}
	var remove []string
	for i, id := range slices.Sorted(maps.Keys(picks)) {
		n := strconv.Itoa(i)
		u.Names["#m"+n] = id
		if pick := picks[id]; pick != nil {
			u.Update += ", predictions.#m" + n + " = :p" + n
			u.Values[":p"+n] = attr.Int(int64(*pick))
		} else {
			remove = append(remove, "predictions.#m"+n)
		}
	}
	if remove != nil {
		u.Update += " REMOVE " + strings.Join(remove, ", ")
	}
	return store.WriteItem{Update: u}
}

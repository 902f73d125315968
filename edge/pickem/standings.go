package pickem

import (
	"slices"

	"github.com/touchline/touchline/store"
)

// recount computes the standings of a year from the picks and results of the events that count.
func (p *plan) recount(year string, counts func(e *Event) bool) map[string]Standing {
	events, out := p.eventsIn(year), map[string]Standing{}
	for i := range events {
		e := &events[i]
		if !counts(e) {
			continue
		}
		c := p.load(e.ID, everybody)
		for j := range c.all {
			one := &c.all[j]
			points, correct := c.points(one.Picks)
			st := out[one.User]
			st.User, st.Points, st.Correct, st.Played = one.User, st.Points+points, st.Correct+correct, st.Played+1
			out[one.User] = st
		}
	}
	return out
}

// Standings returns the standings of a year, by one query of the index.
func (s *Service) Standings(tx *store.Tx, year string) ([]Standing, error) {
	p, all := s.plan(tx), []Standing{}
	for it := range p.Rows(tx.QueryAll(s.indexQuery(prefixStandings + year))) {
		st, err := standingOf(it, year)
		if err != nil {
			p.Skip(it, err)
			continue
		}
		st.Name = p.name(st.User)
		all = append(all, st)
	}
	rank(all, (*Standing).asPlaced)
	return all, p.Err()
}

// StandingsMoved returns the standings of an event's year with the event counted, and those without it by user.
func (s *Service) StandingsMoved(tx *store.Tx, event string) (now []Standing, before map[string]Standing, err error) {
	p := s.plan(tx)
	ranked := func(counts func(e *Event) bool) (all []Standing) {
		for _, st := range p.recount(yearOf(event), counts) {
			st.Name = p.name(st.User)
			all = append(all, st)
		}
		rank(all, (*Standing).asPlaced)
		return all
	}
	before = map[string]Standing{}
	for _, st := range ranked(func(e *Event) bool { return e.ID != event && e.counts() }) {
		before[st.User] = st
	}
	return ranked(func(e *Event) bool { return e.ID == event || e.counts() }), before, p.Err()
}

// PlacesClimbed returns how many places each user gained in a year's standings with the last scored event; a loss is negative.
func (s *Service) PlacesClimbed(tx *store.Tx, year string) (map[string]int, error) {
	p := s.plan(tx)
	events := p.events() // newest first
	last := slices.IndexFunc(events, func(e Event) bool { return yearOf(e.ID) == year && e.State == Scored })
	up := map[string]int{}
	if last < 0 {
		return up, p.Err()
	}
	now, before, err := s.StandingsMoved(tx, events[last].ID)
	for i := range now {
		if was, ok := before[now[i].User]; ok { // a user who was not ranked before has gained no places
			up[now[i].User] = was.Rank - now[i].Rank
		}
	}
	return up, err
}

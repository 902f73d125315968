package pickem

import (
	"cmp"
	"maps"
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// recount computes the standings of a year from the picks and results of the events that count.
func (s *Service) recount(tx *store.Tx, year string, counts func(e *Event) bool) (map[string]Standing, error) {
	events, err := s.events(tx)
	out := map[string]Standing{}
	for i := range events {
		e := &events[i]
		if yearOf(e.ID) != year || !counts(e) {
			continue
		}
		c, err := s.load(tx, e.ID, everybody)
		if err != nil {
			return nil, err
		}
		for j := range c.all {
			p := &c.all[j]
			points, correct := c.points(p.Picks)
			st := out[p.User]
			st.User, st.Points, st.Correct, st.Played = p.User, st.Points+points, st.Correct+correct, st.Played+1
			out[p.User] = st
		}
	}
	return out, err
}

var standingFacts = []string{"points", "mcorrect", "eplayed"}

// dueStandings returns the writes that bring an event's year up to a recount, each on the condition that its row is still as it was read.
func (s *Service) dueStandings(tx *store.Tx, c *Card) (items []store.WriteItem, err error) {
	year := yearOf(c.ID)
	want, err := s.recount(tx, year, (*Event).counts)
	if err != nil {
		return nil, err
	}
	for it, err := range tx.QueryAll(s.indexed(prefixStandings + year)) {
		if err != nil {
			return nil, err
		}
		user := userOf(it)
		if user == "" || it["SK"].Str() != prefixStandings+year {
			continue
		}
		st, counts := want[user]
		delete(want, user)
		if counts {
			row := st.row(year)
			if !row["GSI_SK"].Equal(it["GSI_SK"]) || slices.ContainsFunc(standingFacts, func(n string) bool { return !row[n].Equal(it[n]) }) {
				items = append(items, s.Replace(row, it, standingFacts...))
			}
		} else {
			items = append(items, s.Remove(it, standingFacts...))
		}
	}
	for _, user := range slices.Sorted(maps.Keys(want)) {
		st := want[user]
		items = append(items, s.Create(st.row(year)))
	}
	return items, nil
}

// Standings returns the standings of a year, by one query of the index.
func (s *Service) Standings(tx *store.Tx, year string) ([]Standing, error) {
	all, err := table.Collect(tx.QueryAll(s.indexed(prefixStandings+year)), func(it attr.Item) (st Standing, ok bool, err error) {
		if st, ok = standingOf(it); ok {
			st.Name, err = s.name(tx, st.User)
		}
		return st, ok, err
	})
	rank(all, (*Standing).placed)
	return all, err
}

// Moved returns the standings of an event's year with the event counted, and those without it by user.
func (s *Service) Moved(tx *store.Tx, event string) (now []Standing, before map[string]Standing, err error) {
	ranked := func(counts func(e *Event) bool) (all []Standing) {
		byUser, readErr := s.recount(tx, yearOf(event), counts)
		err = cmp.Or(err, readErr)
		for _, st := range byUser {
			st.Name, readErr = s.name(tx, st.User)
			err = cmp.Or(err, readErr)
			all = append(all, st)
		}
		rank(all, (*Standing).placed)
		return all
	}
	before = map[string]Standing{}
	for _, st := range ranked(func(e *Event) bool { return e.ID != event && e.counts() }) {
		before[st.User] = st
	}
	return ranked(func(e *Event) bool { return e.ID == event || e.counts() }), before, err
}

// Climbed returns how many places each user gained in a year's standings with the last scored event; a loss is negative.
func (s *Service) Climbed(tx *store.Tx, year string) (map[string]int, error) {
	events, err := s.events(tx) // newest first
	last := slices.IndexFunc(events, func(e Event) bool { return yearOf(e.ID) == year && e.State == Scored })
	up := map[string]int{}
	if err != nil || last < 0 {
		return up, err
	}
	now, before, err := s.Moved(tx, events[last].ID)
	for i := range now {
		if was, ok := before[now[i].User]; ok { // a user who was not ranked before has gained no places
			up[now[i].User] = was.Rank - now[i].Rank
		}
	}
	return up, err
}

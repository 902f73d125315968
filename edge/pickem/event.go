package pickem

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// eventsQuery reads events, newest first.
func (s *Service) eventsQuery() store.Query {
	return store.Query{
		Table: s.Table, KeyCondition: "PK = :pk", Descending: true, Params: expr.Params{Values: attr.Item{":pk": attr.S(pkEvents)}},
	}
}

func (s *Service) events(tx *store.Tx) (all []Event, err error) {
	for it, err := range tx.QueryAll(s.eventsQuery()) {
		if err != nil {
			return nil, err
		}
		if e := eventOf(it); e.ID != "" {
			all = append(all, e)
		}
	}
	return all, nil
}

// Years are those that have events, the newest first.
func (s *Service) Years(tx *store.Tx) (years []string, err error) {
	all, err := s.events(tx)
	for i := range all {
		years = append(years, yearOf(all[i].ID))
	}
	return slices.Compact(years), err
}

// Events is a page of the list, newest first, with how much of each the user has picked.
func (s *Service) Events(tx *store.Tx, user string, limit int, start attr.Item) (all []Listed, next attr.Item, err error) {
	q := s.eventsQuery()
	q.Limit, q.StartKey = limit, start
	page, err := tx.Query(q)
	if err != nil {
		return nil, nil, err
	}
	all = []Listed{}
	for _, it := range page.Items {
		one := Listed{Event: eventOf(it)}
		if one.ID == "" {
			continue
		}
		c, err := s.load(tx, one.ID, user)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, nil, err
		}
		n := 0
		for i := range c.Matches {
			if c.Mine != nil {
				if _, ok := c.Mine.Picks[c.Matches[i].ID]; ok {
					n++
				}
			}
		}
		one.Picked = fmt.Sprintf("%d of %d", n, len(c.Matches))
		all = append(all, one)
	}
	return all, page.LastKey, nil
}

// NewEvent is what an admin says of an event. In a change, what is empty stays.
type NewEvent struct {
	Date, Name string
	StartsAt   time.Time
}

func invalid(field, text string) error {
	return fault.New(fault.Invalid, "bad_"+field, "%s %s.", field, text)
}

func (e *Event) check() error {
	day, err := time.Parse(Day, e.Date)
	if err != nil || day.Format(Day) != e.Date {
		return invalid("date", "must be a day such as 2024-03-03")
	}
	if after := e.StartsAt.Sub(day); after < 0 || after >= 48*time.Hour {
		return invalid("startsAt", "must be on the event's day in UTC, or on the day after")
	}
	return checkName(e.Name)
}

func checkName(name string) error {
	if badText(120)(name) {
		return invalid("name", "must have 1 to 120 characters")
	}
	return nil
}

// CreateEvent makes an event without matches.
func (s *Service) CreateEvent(tx *store.Tx, n NewEvent) (c Card, err error) {
	e := Event{ID: EventID(n.Date, n.Name), Date: n.Date, Name: n.Name, State: Upcoming, StartsAt: n.StartsAt.UTC()}
	if err := e.check(); err != nil {
		return c, err
	}
	all, err := s.events(tx)
	if err != nil {
		return c, err
	}
	if sameYear := slices.DeleteFunc(all, func(o Event) bool { return yearOf(o.ID) != yearOf(e.ID) }); len(sameYear) >= maxYearEvents {
		return c, invalid("date", "is of a year that has as many events as its standings have digits for")
	}
	if err := s.create(tx, e.row(), "event_exists", "There is an event with this day and name."); err != nil {
		return c, err
	}
	return s.load(tx, e.ID, everybody)
}

// create puts a row where there is none.
func (s *Service) create(tx *store.Tx, row attr.Item, code, text string) error {
	_, err := tx.Put(store.PutItem{Table: s.Table, Item: row, Condition: "attribute_not_exists(PK)", NoOld: true})
	if fault.Is(err, fault.Conflict) {
		err = fault.New(fault.Conflict, code, "%s", text)
	}
	return err
}

// upcoming reads an event whose card can change.
func (s *Service) upcoming(tx *store.Tx, id string) (Card, error) {
	c, err := s.load(tx, id, everybody)
	if err == nil && c.State != Upcoming {
		err = fault.New(fault.Conflict, "event_not_upcoming", "The event is locked.")
	}
	return c, err
}

// ChangeEvent gives an event another name or start; its id stays. A start that comes earlier locks at once, by the clock.
func (s *Service) ChangeEvent(tx *store.Tx, id string, n NewEvent) (Card, error) {
	c, err := s.upcoming(tx, id)
	if err != nil {
		return c, err
	}
	if n.Date != "" && n.Date != c.Date {
		return c, fault.New(fault.Conflict, "date_immutable", "The day of an event stays: make another one.")
	}
	if c.Name = cmp.Or(n.Name, c.Name); !n.StartsAt.IsZero() {
		c.StartsAt = n.StartsAt.UTC()
	}
	if err := c.Event.check(); err != nil {
		return c, err
	}
	was, err := tx.Get(s.Table, eventKey(id))
	if err != nil {
		return c, err
	}
	u := store.UpdateItem{Table: s.Table, Key: eventKey(id), Update: "SET #name = :name, #startsAt = :at"}
	u.Condition, u.Params = asRead(was, "state", "name", "startsAt")
	u.Values[":name"], u.Values[":at"] = attr.S(c.Name), attr.S(c.StartsAt.Format(time.RFC3339))
	if _, err := tx.Update(u); err != nil {
		return c, err
	}
	return s.load(tx, id, everybody)
}

// DeleteEvent removes an event that nobody has picked of, with its matches.
func (s *Service) DeleteEvent(tx *store.Tx, id string) error {
	c, err := s.upcoming(tx, id)
	if err != nil {
		return err
	}
	if len(c.all) > 0 {
		return fault.New(fault.Conflict, "has_predictions", "There are predictions of this event.")
	}
	items := []store.WriteItem{{Delete: &store.DeleteItem{Table: s.Table, Key: eventKey(id), Condition: "attribute_exists(PK)"}}}
	for i := range c.Matches {
		items = append(items, store.WriteItem{Delete: &store.DeleteItem{Table: s.Table, Key: matchKey(id, c.Matches[i].ID)}})
	}
	for some := range slices.Chunk(items, 2*perBatch) {
		if err := transact(tx, some); err != nil {
			return err
		}
	}
	return nil
}

// The bounds of a card.
const (
	MaxMatches     = 99
	maxEventPoints = 999
	maxYearEvents  = 99_999 / maxEventPoints // points of a year have five digits in keys
)

func (d *Details) check() error {
	switch {
	case d.Points < 1 || d.Points > 100:
		return invalid("points", "must be 1 to 100")
	case len(d.Championships) > 10 || slices.ContainsFunc(d.Championships, badText(120)):
		return invalid("championships", "must be up to 10 of 1 to 120 characters")
	case len(d.Teams) < 2 || len(d.Teams) > 20:
		return invalid("teams", "must be 2 to 20")
	case slices.ContainsFunc(d.Teams, func(t Team) bool {
		return len(t.Members) < 1 || len(t.Members) > 20 || slices.ContainsFunc(t.Members, badText(80)) || t.Name != "" && badText(80)(t.Name)
	}):
		return invalid("teams", "must each have 1 to 20 members of 1 to 80 characters, and a name of up to 80")
	}
	return checkName(d.Name)
}

func badText(most int) func(string) bool {
	return func(text string) bool { n := len([]rune(text)); return n < 1 || n > most }
}

// fits refuses what a card cannot have in the place of its match of an id, and what is worth more than the keys of scores have digits for.
func (c *Card) fits(id string, d *Details) error {
	total := d.Points
	for i := range c.Matches {
		if c.Matches[i].ID != id {
			total += c.Matches[i].Points
		}
	}
	if total > maxEventPoints {
		return invalid("points", fmt.Sprintf("of an event must be at most %d in all", maxEventPoints))
	}
	return d.check()
}

// AddMatch puts a match at the end of a card.
func (s *Service) AddMatch(tx *store.Tx, event string, d Details) (m Match, err error) {
	c, err := s.upcoming(tx, event)
	if err == nil {
		err = c.fits("", &d)
	}
	if err == nil && len(c.Matches) >= MaxMatches {
		err = invalid("matches", "of an event must be at most 99")
	}
	if err != nil {
		return m, err
	}
	m = Match{ID: uuid.NewString(), Details: d, Place: cardPlace(len(c.Matches) + 1)}
	return m, s.putMatch(tx, event, &m, "attribute_not_exists(PK)")
}

func (s *Service) putMatch(tx *store.Tx, event string, m *Match, condition string, more ...store.WriteItem) error {
	row, err := m.row(event)
	if err != nil {
		return err
	}
	return transact(tx, append(more, s.isOpen(event), store.WriteItem{Put: &store.PutItem{Table: s.Table, Item: row, Condition: condition}}))
}

// ChangeMatch changes a match. With other teams it is another match, with another id: no pick can come to mean another team.
// Of a locked event the name alone can change.
func (s *Service) ChangeMatch(tx *store.Tx, event, id string, change func(d *Details)) (m Match, err error) {
	c, err := s.load(tx, event, everybody)
	if err != nil {
		return m, err
	}
	old := c.match(id)
	if old == nil {
		return m, noMatch()
	}
	m = *old
	change(&m.Details)
	if err := c.fits(id, &m.Details); err != nil {
		return m, err
	}
	sameTeams := slices.EqualFunc(m.Teams, old.Teams, func(a, b Team) bool { return a.Name == b.Name && slices.Equal(a.Members, b.Members) })
	switch {
	case c.State == Upcoming && sameTeams:
		return m, s.putMatch(tx, event, &m, "attribute_exists(PK)")
	case c.State == Upcoming:
		m.ID, m.Was = uuid.NewString(), append(slices.Clone(old.Was), id)
		return m, s.putMatch(tx, event, &m, "attribute_not_exists(PK)", s.without(event, id))
	case m.Points != old.Points || m.Preshow != old.Preshow || !sameTeams || !slices.Equal(m.Championships, old.Championships):
		return m, fault.New(fault.Conflict, "event_not_upcoming", "The event is locked: only the name of a match can change.")
	}
	return m, s.rename(tx, matchKey(event, id), m.Name)
}

// rename gives a row another name.
func (s *Service) rename(tx *store.Tx, k attr.Item, name string) error {
	_, err := tx.Update(store.UpdateItem{
		Table: s.Table, Key: k, Update: "SET #n = :name", Condition: "attribute_exists(PK)",
		Params: expr.Params{Names: map[string]string{"#n": "name"}, Values: attr.Item{":name": attr.S(name)}},
	})
	return err
}

func noMatch() error { return fault.New(fault.NotFound, "not_found", "There is no such match.") }

func (s *Service) without(event, match string) store.WriteItem {
	return store.WriteItem{Delete: &store.DeleteItem{Table: s.Table, Key: matchKey(event, match), Condition: "attribute_exists(PK)"}}
}

// DeleteMatch takes a match off a card; those behind it move up.
func (s *Service) DeleteMatch(tx *store.Tx, event, id string) error {
	c, err := s.upcoming(tx, event)
	if err != nil {
		return err
	}
	if c.match(id) == nil {
		return noMatch()
	}
	if err := transact(tx, []store.WriteItem{s.isOpen(event), s.without(event, id)}); err != nil {
		return err
	}
	rest := slices.DeleteFunc(c.Matches, func(m Match) bool { return m.ID == id })
	return transact(tx, s.placed(event, rest))
}

// placed returns the writes that give matches the places in which they stand.
func (s *Service) placed(event string, in []Match) (items []store.WriteItem) {
	for i := range in {
		if place := cardPlace(i + 1); in[i].Place != place {
			in[i].Place = place
			items = append(items, store.WriteItem{Update: &store.UpdateItem{
				Table: s.Table, Key: matchKey(event, in[i].ID), Update: "SET GSI_SK = :place", Condition: "attribute_exists(PK)",
				Params: expr.Params{Values: attr.Item{":place": attr.S(place)}},
			}})
		}
	}
	return items
}

// Order gives the matches of a card another order, which must name each once.
func (s *Service) Order(tx *store.Tx, event string, ids []string) (Card, error) {
	c, err := s.load(tx, event, everybody)
	if err != nil {
		return c, err
	}
	in := make([]Match, 0, len(ids))
	for _, id := range ids {
		if m := c.match(id); m != nil && !slices.ContainsFunc(in, func(o Match) bool { return o.ID == id }) {
			in = append(in, *m)
		}
	}
	if len(in) != len(c.Matches) || len(ids) != len(in) {
		return c, fault.New(fault.Invalid, "bad_order", "matchIds must name each match of the card once.")
	}
	c.Matches = in
	return c, transact(tx, s.placed(event, in))
}

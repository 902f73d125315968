package pickem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/table"
)

// events reads all events, newest first.
func (p *plan) events() []Event { return p.eventsIn("") }

// eventsIn reads the events of a year, newest first. A row that cannot be decoded is skipped.
func (p *plan) eventsIn(year string) []Event {
	q := p.QueryUnder(pkEvents, prefixEvent+year)
	q.Descending = true
	return table.Decode(&p.Plan, p.Tx.QueryAll(q), eventOf)
}

// Years lists the years that have events, newest first.
func (s *Service) Years(tx *store.Tx) (years []string, err error) {
	p := s.plan(tx)
	all := p.events()
	for i := range all {
		years = append(years, yearOf(all[i].ID))
	}
	return slices.Compact(years), p.Err()
}

// Events returns a page of the events, newest first, with the number of matches that the user has picked.
func (s *Service) Events(tx *store.Tx, user string, limit int, start attr.Item) (all []Listed, next attr.Item, err error) {
	q := s.partition(pkEvents)
	q.Limit, q.StartKey = limit, start
	page, err := tx.Query(q)
	p := s.plan(tx)
	p.Fail(err)
	all = []Listed{}
	for _, it := range page.Items {
		if !strings.HasPrefix(it["SK"].Str(), prefixEvent) {
			continue
		}
		event, err := eventOf(it)
		if err != nil {
			p.Skip(it, err)
			continue
		}
		e := Listed{Event: event}
		c, n := p.entry(e.ID, user), 0
		for i := range c.Matches {
			if c.Mine.has(c.Matches[i].ID) {
				n++
			}
		}
		e.Picked = fmt.Sprintf("%d of %d", n, len(c.Matches))
		all = append(all, e)
	}
	return all, page.LastKey, p.Err()
}

// NewEvent is what an admin enters about an event. In a change, an empty field leaves the event's as it is.
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
		return invalid("startsAt", "must be on the event's day in UTC, or the day after")
	}
	return checkName(e.Name)
}

func checkName(name string) error {
	if badText(120)(name) {
		return invalid("name", "must have 1 to 120 characters")
	}
	return nil
}

// CreateEvent creates an event without matches.
func (s *Service) CreateEvent(tx *store.Tx, n NewEvent) (Card, error) {
	e := Event{ID: EventID(n.Date, n.Name), Date: n.Date, Name: n.Name, State: Upcoming, StartsAt: n.StartsAt.UTC()}
	p := s.plan(tx)
	p.Fail(e.check())
	p.Refuse(len(p.eventsIn(yearOf(e.ID))) >= maxYearEvents, invalid("date", fmt.Sprintf("is in a year that already has %d events", maxYearEvents)))
	p.create(e.row(), "event_exists", "An event with this day and name already exists.")
	return p.entry(e.ID, nobody), p.Err()
}

func notUpcoming() error {
	return fault.New(fault.Conflict, "event_not_upcoming", "The event is locked.")
}

// eventFacts are the attributes that must be unchanged for an admin's change of an event.
var eventFacts = []string{"state", "name", "startsAt"}

// upcoming reads an event, and refuses one that is locked: its card must not change, since nobody could pick again.
func (p *plan) upcoming(id string) Card {
	c := p.entry(id, nobody)
	p.Refuse(c.Locked(p.now(p.Tx)), notUpcoming())
	return c
}

// ChangeEvent changes the name or start of an event; its ID stays. A start whose lock is past locks it at once, by the clock. A later start of
// an event past its lock does not open it, even while its state is not set yet: use SetState.
func (s *Service) ChangeEvent(tx *store.Tx, id string, n NewEvent) (Card, error) {
	p := s.plan(tx)
	c := p.entry(id, nobody)
	p.Refuse(c.State != Upcoming, notUpcoming())
	p.Refuse(n.Date != "" && n.Date != c.Date, fault.New(fault.Conflict, "date_immutable", "The date of an event cannot change: create another event."))
	if c.Name = cmp.Or(n.Name, c.Name); !n.StartsAt.IsZero() {
		if c.StartsAt = n.StartsAt.UTC(); c.Locked(s.now(tx)) {
			c.State = Broadcast
		}
	}
	p.Fail(c.Event.check())
	p.updateUnchanged(c.Event.was, eventFacts, "SET #state = :state, #name = :name, #startsAt = :at", attr.Item{
		":state": attr.S(string(c.State)), ":name": attr.S(c.Name), ":at": attr.S(c.StartsAt.Format(time.RFC3339)),
	})
	return p.entry(id, nobody), p.Err()
}

// DeleteEvent deletes an event without predictions, and its matches. A card with matches of several nodes may need more than one transaction:
// the first deletes the event, and the others depend on that.
func (s *Service) DeleteEvent(tx *store.Tx, id string) error {
	p := s.plan(tx)
	c := p.load(id, everybody)
	p.Refuse(c.Locked(s.now(tx)), notUpcoming())
	matches, predictions := c.matchRows(), len(c.all)
	for _, u := range c.unread {
		if userOf(u.row) != "" {
			predictions++
		}
	}
	p.Refuse(predictions > 0, fault.New(fault.Conflict, "has_predictions", "There are predictions for this event, so it cannot be deleted."))
	event := s.Remove(c.Event.was, eventFacts...)
	if len(matches) == 0 {
		p.Commit(event)
	}
	for batch := range slices.Chunk(matches, perTransaction) {
		items := []store.WriteItem{event}
		for _, row := range batch {
			items = append(items, s.Remove(row))
		}
		p.Commit(items...)
		event = s.Check(eventKey(id), table.IfTrue("attribute_not_exists(PK)", nil))
	}
	return p.Err()
}

// matchRows returns the rows of an event's matches, including those that cannot be decoded.
func (c *Card) matchRows() (rows []attr.Item) {
	for i := range c.Matches {
		rows = append(rows, c.Matches[i].was)
	}
	for _, u := range c.unread {
		if u.row["PK"].Str() == prefixEvent+c.ID {
			rows = append(rows, u.row)
		}
	}
	return rows
}

// Limits of cards and years.
const (
	MaxMatches     = 99
	maxEventPoints = 999
	maxYearPoints  = 99_999
	maxYearEvents  = maxYearPoints / maxEventPoints
)

func (d *Details) check() error {
	switch {
	case d.Points < 1 || d.Points > 100:
		return invalid("points", "must be 1 to 100")
	case len(d.Championships) > 10 || slices.ContainsFunc(d.Championships, badText(120)):
		return invalid("championships", "must number at most 10, each of 1 to 120 characters")
	case len(d.Teams) < 2 || len(d.Teams) > 20:
		return invalid("teams", "must number from 2 to 20")
	case slices.ContainsFunc(d.Teams, func(t Team) bool {
		return len(t.Members) < 1 || len(t.Members) > 20 || slices.ContainsFunc(t.Members, badText(80)) || t.Name != "" && badText(80)(t.Name)
	}):
		return invalid("teams", "must each have 1 to 20 members of 1 to 80 characters, and a name of up to 80")
	}
	return checkName(d.Name)
}

// badText returns a function that reports whether a text is blank, is longer than most characters, or has control characters.
func badText(most int) func(string) bool {
	return func(text string) bool {
		return strings.TrimSpace(text) == "" || len([]rune(text)) > most || strings.ContainsFunc(text, unicode.IsControl)
	}
}

// fits checks the details of a new match, or of those that replace match id, and that the card's points still fit the digits of score keys.
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

// AddMatch adds a match at the end of a card. With an idempotency key, a repeated call returns the existing match, even if its teams were
// changed meanwhile. The ID is derived from the teams too, so that one ID never stands for other teams.
func (s *Service) AddMatch(tx *store.Tx, event, key string, d Details) (m Match, err error) {
	p := s.plan(tx)
	c := p.entry(event, nobody)
	m = Match{ID: uuid.NewString(), Details: d, Place: cardPlace(len(c.Matches) + 1)}
	if key != "" {
		hash, err := idempotency.Hash(event+"#"+key, d.Teams) // the same at every node and in every version
		p.Fail(err)
		m.ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(hash)).String()
	}
	for _, existing := range c.Matches {
		if existing.ID == m.ID || slices.Contains(existing.Was, m.ID) {
			return existing, p.Err()
		}
	}
	p.Refuse(c.Locked(s.now(tx)), notUpcoming())
	p.Fail(c.fits("", &d))
	p.Refuse(len(c.Matches) >= MaxMatches, invalid("matches", "of an event must be at most 99"))
	p.putMatch(event, &m, nil)
	return m, p.Err()
}

// matchFacts are the attributes that must be unchanged for an admin's change of a match.
var matchFacts = []string{"name", "championships", "points", "preshow", "teams", "GSI_SK"}

// putMatch writes a match if its event is open. was is the row that it replaces, or nil for a new match.
func (p *plan) putMatch(event string, m *Match, was attr.Item) {
	row, err := m.row(event)
	p.Fail(err)
	p.Write(p.isOpen(event))
	if was != nil && !was["id"].Equal(row["id"]) {
		p.Write(p.Remove(was, matchFacts...))
		was = nil
	}
	p.Commit(p.Replace(row, was, matchFacts...))
}

func noMatch() error { return fault.New(fault.NotFound, "not_found", "There is no such match.") }

// ChangeMatch changes a match. If its teams change it gets a new ID, so that no pick comes to mean another team. Once the event is locked, only
// the name can change.
func (s *Service) ChangeMatch(tx *store.Tx, event, id string, change func(d *Details)) (m Match, err error) {
	p := s.plan(tx)
	c := p.entry(event, nobody)
	old := c.match(id)
	if old == nil {
		p.lacks(&c, id, noMatch())
		return m, p.Err()
	}
	m = *old
	change(&m.Details)
	p.Fail(c.fits(id, &m.Details))
	sameTeams := slices.EqualFunc(m.Teams, old.Teams, func(a, b Team) bool { return a.Name == b.Name && slices.Equal(a.Members, b.Members) })
	switch {
	case !c.Locked(s.now(tx)):
		if !sameTeams {
			m.ID, m.Was = uuid.NewString(), append(slices.Clone(old.Was), id)
		}
		p.putMatch(event, &m, old.was)
	case m.Points != old.Points || m.Preshow != old.Preshow || !sameTeams || !slices.Equal(m.Championships, old.Championships):
		p.Fail(fault.New(fault.Conflict, "event_not_upcoming", "The event is locked: only the name of a match can change."))
	default:
		p.updateUnchanged(old.was, []string{"name"}, "SET #name = :name", attr.Item{":name": attr.S(m.Name)})
	}
	return m, p.Err()
}

// DeleteMatch removes a match from a card. The matches after it move up.
func (s *Service) DeleteMatch(tx *store.Tx, event, id string) error {
	p := s.plan(tx)
	c := p.upcoming(event)
	m := c.match(id)
	if m == nil {
		p.lacks(&c, id, noMatch())
		return p.Err()
	}
	p.Commit(p.isOpen(event), p.Remove(m.was, matchFacts...))
	p.place(event, slices.DeleteFunc(c.Matches, func(m Match) bool { return m.ID == id }))
	return p.Err()
}

// place stores the order of the given matches. Another node may see a part of it first, if there are more than a card may have.
func (p *plan) place(event string, in []Match) {
	var items []store.WriteItem
	for i := range in {
		if place := cardPlace(i + 1); in[i].Place != place {
			in[i].Place = place
			items = append(items, p.Update(matchKey(event, in[i].ID), "SET GSI_SK = :place", table.IfTrue(exists, attr.Item{":place": attr.S(place)})))
		}
	}
	for batch := range slices.Chunk(items, perTransaction) {
		p.Commit(batch...)
	}
}

// Order sets the order of a card's matches. ids must name each match once.
func (s *Service) Order(tx *store.Tx, event string, ids []string) (Card, error) {
	p := s.plan(tx)
	c := p.entry(event, nobody)
	slices.SortFunc(c.Matches, func(x, y Match) int { return cmp.Compare(slices.Index(ids, x.ID), slices.Index(ids, y.ID)) })
	same := slices.EqualFunc(c.Matches, ids, func(m Match, id string) bool { return m.ID == id })
	p.Refuse(!same, fault.New(fault.Invalid, "bad_order", "matchIds must name each match of the card once."))
	p.place(event, c.Matches)
	return c, p.Err()
}

package pickem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
)

// DerivedRules returns the rules of the rows that are counted: the points of an event's predictions, and the standings of a year. Picks and
// results are the facts.
func (s *Service) DerivedRules() []*derived.Rule {
	s.rules.Do(func() {
		s.points = &derived.Rule{
			Name: "points of predictions", Rows: s.Handle, Units: s.pointUnits, Sources: s.pointSources, Read: s.readPoints, Busy: s.isScoring,
		}
		s.tables = &derived.Rule{
			Name: "standings", Rows: s.Handle, Units: s.standingUnits, Sources: s.standingSources, Read: s.readStandings, Busy: s.isScoringIn,
		}
	})
	return []*derived.Rule{s.points, s.tables}
}

// eventsOf returns the events that records concern; for nil, all.
func (s *Service) eventsOf(tx *store.Tx, records []store.Record) (ids []string, err error) {
	if records != nil {
		for i := range records {
			if id, _ := Concerns(records[i].Key); id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return ids, nil
	}
	p := s.plan(tx)
	all := p.events()
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	return ids, p.Err()
}

func (s *Service) pointUnits(tx *store.Tx, records []store.Record) ([]string, error) {
	return s.eventsOf(tx, records)
}

// standingUnits returns the years that records concern; for nil, all.
func (s *Service) standingUnits(tx *store.Tx, records []store.Record) (years []string, err error) {
	if records == nil {
		return s.Years(tx)
	}
	for i := range records {
		if _, year := Concerns(records[i].Key); year != "" && !slices.Contains(years, year) {
			years = append(years, year)
		}
	}
	return years, nil
}

// lockSeen notes when the lock of an event was first known to be in the cloud: no pick can come after it, so every read that begins later
// has all picks. known is false while the cloud does not have the lock, as far as this node knows.
func (p *plan) lockSeen(e *Event) (after uint64, known bool) {
	if p.Latest == nil {
		return 0, true
	}
	if e.State == Upcoming || !p.open(e.ID) {
		p.locks.Delete(e.ID)
		return 0, false
	}
	v, _ := p.locks.LoadOrStore(e.ID, p.Latest())
	after, _ = v.(uint64)
	return after, true
}

// picksOf returns the source with the picks of an event. They are in the partitions of their users, some of whom may have been invited at
// another node, so it is the whole table.
func (p *plan) picksOf(e *Event) derived.Source {
	after, known := p.lockSeen(e)
	if !known {
		return derived.Source{What: "the lock of " + e.Name}
	}
	return derived.Source{Table: p.Table, After: after, What: "the predictions of all users"}
}

// awaitPicks waits until the picks of an event were read whole.
func (s *Service) awaitPicks(ctx context.Context, within time.Duration, event string) error {
	if s.Await == nil {
		return nil
	}
	return s.Await(ctx, within, func(tx *store.Tx) ([]derived.Source, error) {
		p := s.plan(tx)
		c := p.entry(event, nobody)
		p.Refuse(c.State == Upcoming, notLocked())
		return []derived.Source{p.picksOf(&c.Event)}, p.Err()
	})
}

// event reads an event; its ID is empty if there is none.
func (p *plan) event(id string) (e Event) {
	row := p.Get(eventKey(id))
	if row == nil {
		return e
	}
	e, err := eventOf(row)
	if err != nil {
		p.Unreadable("event", row, err)
	}
	return e
}

// readableEvent reads an event; its ID is empty if there is none, or if its row cannot be decoded.
func (p *plan) readableEvent(id string) (e Event) {
	row := p.Get(eventKey(id))
	if row == nil {
		return Event{}
	}
	e, err := eventOf(row)
	if err != nil {
		p.Skip(row, err)
		return Event{}
	}
	return e
}

func (s *Service) pointSources(tx *store.Tx, event string) (sources []derived.Source, err error) {
	p := s.plan(tx)
	if e := p.readableEvent(event); e.ID != "" && e.counts() {
		sources = append(sources, p.picksOf(&e))
	}
	return sources, p.Err()
}

// isScoring reports whether the scoring of an event is under way: Score, and after a crash Maintain, write its rows. One that waits for rows
// that cannot be decoded is not.
func (s *Service) isScoring(tx *store.Tx, event string) (bool, error) {
	p := s.plan(tx)
	e := p.readableEvent(event)
	return p.isCounted(&e), p.Err()
}

func (p *plan) isCounted(e *Event) bool {
	if !e.scoring {
		return false
	}
	c := p.load(e.ID, everybody)
	return len(c.unread) == 0
}

// isScoringIn reports whether the scoring of any event of a year is under way.
func (s *Service) isScoringIn(tx *store.Tx, year string) (bool, error) {
	p := s.plan(tx)
	return slices.ContainsFunc(p.countingIn(year), func(e Event) bool { return p.isCounted(&e) }), p.Err()
}

// countingIn returns the events that count in the standings of a year, newest first.
func (p *plan) countingIn(year string) []Event {
	return slices.DeleteFunc(p.eventsIn(year), func(e Event) bool { return !e.counts() })
}

func (s *Service) standingSources(tx *store.Tx, year string) (sources []derived.Source, err error) {
	p := s.plan(tx)
	all := p.countingIn(year)
	for i := range all {
		sources = append(sources, p.picksOf(&all[i]))
	}
	return sources, p.Err()
}

// waits says what counting an event waits for, because of rows that cannot be decoded; none: nothing.
func (c *Card) waits() []string {
	if len(c.unread) == 0 {
		return nil
	}
	var rows []string
	for _, u := range c.unread[:min(len(c.unread), 3)] {
		rows = append(rows, u.row["PK"].Str()+" "+u.row["SK"].Str())
	}
	return []string{fmt.Sprintf("Counting waits for rows of %s that cannot be read: %d, such as %s.", c.Name, len(c.unread), strings.Join(rows, ", "))}
}

// holdReasons says why an event cannot be counted here now; none: it can.
func (c *Card) holdReasons() (why []string) {
	if c.isBehind() {
		why = append(why, "Results of "+c.Name+" that were entered at another node have not arrived here yet.")
	}
	return why
}

// readPoints compares the points of an event's predictions with what their picks have earned. Only an event whose results were set here, or
// whose scoring was begun here, is this program's.
func (s *Service) readPoints(tx *store.Tx, event string) (u derived.Unit, err error) {
	p := s.plan(tx)
	if e := p.readableEvent(event); e.ID == "" || !e.counts() {
		return u, p.Err()
	}
	c := p.load(event, everybody)
	u.Held, u.Unread, u.Shared = c.holdReasons(), c.waits(), c.edition == 0 && !c.scoring
	u.Checks = []store.WriteItem{p.Check(eventKey(c.ID), p.IfSame(c.Event.was, scoredBy...))}
	for i := range c.all {
		one := &c.all[i]
		points, correct := c.points(one.Picks)
		u.Rows = append(u.Rows, derived.Row{
			Key: predictionKey(one.User, event), Was: one.was, Blank: one.blank() && (c.State == Broadcast || !one.was["updatedAt"].IsZero()),
			After: attr.Item{"GSI_SK": attr.S(eventScore(points, one.User)), "points": attr.Int(int64(points)), "mcorrect": attr.Int(int64(correct))},
		})
	}
	return u, p.Err()
}

// blank reports whether no points were counted into a prediction.
func (p *Prediction) blank() bool {
	return p.Points == 0 && p.Correct == 0 && p.Key == eventScore(0, p.User)
}

// mostChecks is how many events of a year each write of its standings checks: those that were changed last are the newest.
const mostChecks = 40

// readStandings compares the standings of a year with a recount. Points that another program may have counted must be settled first, because
// both cannot be right.
func (s *Service) readStandings(tx *store.Tx, year string) (u derived.Unit, err error) {
	p := s.plan(tx)
	s.DerivedRules()
	unreadable := tx.Unreadable()
	all := p.countingIn(year)
	if n := tx.Unreadable() - unreadable; n > 0 {
		u.Unread = append(u.Unread, fmt.Sprintf("Counting waits for events of %s that cannot be read: %d.", year, n))
	}
	for i := range all {
		c := p.load(all[i].ID, everybody)
		u.Held, u.Unread = append(u.Held, c.holdReasons()...), append(u.Unread, c.waits()...)
		u.Shared = u.Shared || c.edition == 0 && !c.scoring
		others, err := s.points.Differences(tx, c.ID)
		p.Fail(err)
		if len(others) > 0 {
			u.Held = append(u.Held, "The points of "+c.Name+" are not as this node counts them: look at the points of predictions first.")
		}
		if len(u.Checks) < mostChecks {
			u.Checks = append(u.Checks, p.Check(eventKey(c.ID), p.IfSame(c.Event.was, scoredBy...)))
		}
	}
	u.Rows = p.standingRows(year)
	return u, p.Err()
}

// standingRows compares the rows of a year's standings with a recount.
func (p *plan) standingRows(year string) (rows []derived.Row) {
	want := p.recount(year, (*Event).counts)
	for it := range p.Rows(p.Tx.QueryAll(p.indexQuery(prefixStandings + year))) {
		user := userOf(it)
		if user == "" || it["SK"].Str() != prefixStandings+year {
			continue
		}
		row := derived.Row{Key: standingsKey(user, year), Was: it}
		if st, counts := want[user]; counts {
			row.After = st.countedAttrs()
		} else {
			row.Before = attr.Item{}
			for _, name := range standingFacts {
				if v, ok := it[name]; ok {
					row.Before[name] = v
				}
			}
		}
		delete(want, user)
		rows = append(rows, row)
	}
	for _, user := range slices.Sorted(maps.Keys(want)) {
		st := want[user]
		row := derived.Row{Key: standingsKey(user, year), Was: p.Get(standingsKey(user, year)), After: st.countedAttrs()}
		if row.Was == nil {
			row.Set = st.row(year)
			delete(row.Set, "PK")
			delete(row.Set, "SK")
		}
		rows = append(rows, row)
	}
	return rows
}

// standingFacts are the attributes of a standing that are counted.
var standingFacts = []string{"GSI_SK", "points", "mcorrect", "eplayed"}

// countedAttrs returns them.
func (st *Standing) countedAttrs() attr.Item {
	return attr.Item{
		"GSI_SK": attr.S(standingScore(st.Points, st.User)),
		"points": attr.Int(int64(st.Points)), "mcorrect": attr.Int(int64(st.Correct)), "eplayed": attr.Int(int64(st.Played)),
	}
}

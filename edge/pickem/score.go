package pickem

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// points returns the points and the number of right picks by the results known so far.
func (c *Card) points(picks map[string]int) (points, correct int) {
	for i := range c.Matches {
		m := &c.Matches[i]
		if pick, ok := picks[m.ID]; ok && m.Result.Known && pick == m.Result.Team {
			points += m.Points
			correct++
		}
	}
	return points, correct
}

// Scoring reports how many rows a scoring changed.
type Scoring struct {
	Scored      string `json:"scored"` // event ID
	Predictions int    `json:"predictions"`
	Standings   int    `json:"standings"`
}

// MissingError lists the IDs of matches without a result, because of which an event cannot be scored yet.
type MissingError struct{ Matches []string }

// Error implements error.
func (e *MissingError) Error() string { return "No result for " + strings.Join(e.Matches, ", ") }

// perBatch is the most rows that one transaction of a scoring writes.
const perBatch = 45

// Score writes the points of an event and the standings of its year. It sets the mark scoring first, then writes predictions and standings, and
// sets the state last. Each step is a transaction that begins from the stored rows: repeating Score after a crash gives the same result. The
// cloud refuses a step if the event's results are not those that it was computed from.
func (s *Service) Score(ctx context.Context, event string) (out Scoring, err error) {
	out.Scored = event
	if err := s.step(ctx, event, (*plan).mark); err != nil {
		return out, err
	}
	for _, rows := range []struct {
		due   dueFunc
		wrote *int
	}{{(*plan).duePoints, &out.Predictions}, {(*plan).dueStandings, &out.Standings}} {
		for more := true; more; {
			var items []store.WriteItem
			if err := s.step(ctx, event, func(p *plan, c *Card) {
				items = p.batch(c, rows.due)
				p.Commit(items...)
			}); err != nil {
				return out, err
			}
			*rows.wrote += max(0, len(items)-1)
			more = len(items) > perBatch
		}
	}
	return out, s.step(ctx, event, (*plan).finish)
}

// dueFunc returns the writes of rows that differ from what the results imply.
type dueFunc func(p *plan, c *Card) []store.WriteItem

// batch returns a transaction with the next due rows, and a check that the results are still those read. It is nil if no row is due.
func (p *plan) batch(c *Card, due dueFunc) []store.WriteItem {
	items := due(p, c)
	if len(items) == 0 {
		return nil
	}
	check := p.Check(eventKey(c.ID), p.Same(c.Event.was, scoredBy...))
	return append([]store.WriteItem{check}, items[:min(len(items), perBatch)]...)
}

// step runs one transaction on an event.
func (s *Service) step(ctx context.Context, event string, do func(p *plan, c *Card)) error {
	return s.Store.Update(ctx, func(tx *store.Tx) error {
		p := s.plan(tx)
		c := p.load(event, everybody)
		do(p, &c)
		return p.Err()
	})
}

// scoredBy are the event's attributes that must be unchanged for a step of a scoring, or a change of the state, to be accepted.
var scoredBy = []string{"state", "edition"}

// The updates of a scoring begin so; those of people do not.
const (
	setMark   = "SET scoring = "
	setScored = "REMOVE scoring SET "
	setPoints = "SET GSI_SK = "
)

func (p *plan) mark(c *Card) {
	var missing []string
	for i := range c.Matches {
		if !c.Matches[i].Result.Known {
			missing = append(missing, c.Matches[i].ID)
		}
	}
	p.Refuse(c.State == Upcoming, notLocked())
	p.Refuse(c.behind(), fault.New(fault.Unavailable, "results_missing_here", "Results entered at another node have not arrived here yet. Try again later."))
	p.Refuse(missing != nil, &MissingError{missing})
	p.since(c.Event.was, scoredBy, setMark+":yes", attr.Item{":yes": attr.Bool(true)})
}

// behind reports whether results set elsewhere are still missing here: matches are in another partition than their event, and arrive apart.
func (c *Card) behind() bool {
	n := 0
	for i := range c.Matches {
		n += c.Matches[i].Edition
	}
	return n != c.edition
}

func (p *plan) finish(c *Card) {
	p.since(c.Event.was, scoredBy, setScored+"#state = :scored", attr.Item{":scored": attr.S(string(Scored))})
}

// duePoints returns the writes of those predictions whose stored points differ from what their picks have earned.
func (p *plan) duePoints(c *Card) (items []store.WriteItem) {
	for i := range c.all {
		one := &c.all[i]
		points, correct := c.points(one.Picks)
		if points == one.Points && correct == one.Correct && one.Key == eventScore(points, one.User) {
			continue
		}
		items = append(items, p.Update(predictionKey(one.User, c.ID), setPoints+":key, points = :points, mcorrect = :correct", table.When(exists, attr.Item{
			":key": attr.S(eventScore(points, one.User)), ":points": attr.Int(int64(points)), ":correct": attr.Int(int64(correct)),
		})))
	}
	return items
}

// differs reports whether an event must be scored: it is marked, or its points or (if asked) its year's standings differ from a recount.
func (p *plan) differs(c *Card, standings bool) bool {
	return c.scoring || len(p.duePoints(c)) > 0 || standings && len(p.dueStandings(c)) > 0
}

// due lists the events to be scored: those whose scoring has begun but not ended and, in years with changes, those whose points or standings
// differ from a recount. They differ after the cloud has refused a write and its own rows have arrived here.
func (p *plan) due() (ids []string) {
	all, clean := p.events(), map[string]bool{} // clean: years
	for i := range all {
		e := &all[i]
		year := yearOf(e.ID)
		if _, known := p.counted.Load(year); !e.scoring && (known || e.State != Scored) {
			continue
		}
		c := p.load(e.ID, everybody)
		_, again := clean[year]
		due := p.differs(&c, !again)
		if due && !c.behind() {
			ids = append(ids, e.ID)
		}
		clean[year] = (clean[year] || !again) && !due && !c.behind()
	}
	if p.Err() != nil {
		return nil
	}
	for year, is := range clean {
		if is {
			p.counted.Store(year, true)
		}
	}
	return ids
}

// SetResults sets results by match: the index of the winning team, or nil for no contest. Event and matches count how often (edition), so that a
// node notices missing results, and a scoring by older ones is refused. A scored event is marked, for the caller or Maintain to score it again.
func (s *Service) SetResults(tx *store.Tx, event string, results map[string]*int) (Card, error) {
	p := s.plan(tx)
	c := p.entry(event, nobody)
	p.Refuse(c.State == Upcoming, notLocked())
	if p.Fail(c.has(results)); p.Err() != nil {
		return c, p.Err()
	}
	var items []store.WriteItem
	for id, team := range results {
		m := c.match(id)
		m.Result = Result{Known: true, Team: *cmp.Or(team, new(NoContest))}
		values := attr.Item{":result": m.Result.value(), ":one": attr.Int(1)}
		items = append(items, s.Update(matchKey(event, id), "SET #result = :result ADD edition :one", table.When(exists, values)))
	}
	for batch := range slices.Chunk(items, 2*perBatch) {
		set, values := "ADD edition :n", attr.Item{":n": attr.Int(int64(len(batch))), ":upcoming": attr.S(string(Upcoming))}
		if c.State == Scored {
			set += " SET scoring = :yes"
			values[":yes"] = attr.Bool(true)
		}
		p.Commit(append(batch, s.Update(eventKey(event), set, table.When(exists+" AND #state <> :upcoming", values)))...)
	}
	return c, p.Err()
}

func notLocked() error {
	return fault.New(fault.Conflict, "event_upcoming", "This event is not locked yet: lock it first.")
}

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
	if err := s.step(ctx, event, s.mark); err != nil {
		return out, err
	}
	for _, rows := range []struct {
		due   dueFunc
		wrote *int
	}{{s.duePoints, &out.Predictions}, {s.dueStandings, &out.Standings}} {
		for more := true; more; {
			var items []store.WriteItem
			err := s.step(ctx, event, func(tx *store.Tx, c *Card) (err error) {
				if items, err = s.batch(tx, c, rows.due); err == nil {
					err = table.Commit(tx, items...)
				}
				return err
			})
			if err != nil {
				return out, err
			}
			*rows.wrote += max(0, len(items)-1)
			more = len(items) > perBatch
		}
	}
	return out, s.step(ctx, event, s.finish)
}

// dueFunc returns the writes of rows that differ from what the results imply.
type dueFunc func(tx *store.Tx, c *Card) ([]store.WriteItem, error)

// batch returns a transaction with the next due rows, and a check that the results are still those read. It is nil if no row is due.
func (s *Service) batch(tx *store.Tx, c *Card, due dueFunc) ([]store.WriteItem, error) {
	items, err := due(tx, c)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	check := s.Check(eventKey(c.ID), s.Same(c.Event.was, scoredBy...))
	return append([]store.WriteItem{check}, items[:min(len(items), perBatch)]...), nil
}

// step runs one transaction on an event.
func (s *Service) step(ctx context.Context, event string, do func(tx *store.Tx, c *Card) error) error {
	return s.Store.Update(ctx, func(tx *store.Tx) error {
		c, err := s.load(tx, event, everybody)
		if err != nil {
			return err
		}
		return do(tx, &c)
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

func (s *Service) mark(tx *store.Tx, c *Card) error {
	var missing []string
	for i := range c.Matches {
		if !c.Matches[i].Result.Known {
			missing = append(missing, c.Matches[i].ID)
		}
	}
	switch {
	case c.State == Upcoming:
		return notLocked()
	case c.behind():
		return fault.New(fault.Unavailable, "results_missing_here", "Results entered at another node have not arrived here yet. Try again later.")
	case missing != nil:
		return &MissingError{missing}
	}
	return s.since(tx, c.Event.was, scoredBy, setMark+":yes", attr.Item{":yes": attr.Bool(true)})
}

// behind reports whether results set elsewhere are still missing here: matches are in another partition than their event, and arrive apart.
func (c *Card) behind() bool {
	n := 0
	for i := range c.Matches {
		n += c.Matches[i].Edition
	}
	return n != c.edition
}

func (s *Service) finish(tx *store.Tx, c *Card) error {
	return s.since(tx, c.Event.was, scoredBy, setScored+"#state = :scored", attr.Item{":scored": attr.S(string(Scored))})
}

// duePoints returns the writes of those predictions whose stored points differ from what their picks have earned.
func (s *Service) duePoints(_ *store.Tx, c *Card) (items []store.WriteItem, err error) {
	for i := range c.all {
		p := &c.all[i]
		points, correct := c.points(p.Picks)
		if points == p.Points && correct == p.Correct && p.Key == eventScore(points, p.User) {
			continue
		}
		items = append(items, s.Update(predictionKey(p.User, c.ID), setPoints+":key, points = :points, mcorrect = :correct", table.When(exists, attr.Item{
			":key": attr.S(eventScore(points, p.User)), ":points": attr.Int(int64(points)), ":correct": attr.Int(int64(correct)),
		})))
	}
	return items, nil
}

// differs reports whether an event must be scored: it is marked, or its points or (if asked) its year's standings differ from a recount.
func (s *Service) differs(tx *store.Tx, c *Card, standings bool) (bool, error) {
	items, err := s.duePoints(tx, c)
	if err == nil && standings && len(items) == 0 {
		items, err = s.dueStandings(tx, c)
	}
	return c.scoring || len(items) > 0, err
}

// due lists the events to be scored: those whose scoring has begun but not ended and, in years with changes, those whose points or standings
// differ from a recount. They differ after the cloud has refused a write and its own rows have arrived here.
func (s *Service) due(tx *store.Tx) (ids []string, err error) {
	all, err := s.events(tx)
	if err != nil {
		return nil, err
	}
	clean := map[string]bool{} // years
	for i := range all {
		e := &all[i]
		year := yearOf(e.ID)
		if _, known := s.counted.Load(year); !e.scoring && (known || e.State != Scored) {
			continue
		}
		c, err := s.load(tx, e.ID, everybody)
		if err != nil {
			return nil, err
		}
		_, again := clean[year]
		due, err := s.differs(tx, &c, !again)
		if err != nil {
			return nil, err
		}
		if due && !c.behind() {
			ids = append(ids, e.ID)
		}
		clean[year] = (clean[year] || !again) && !due && !c.behind()
	}
	for year, is := range clean {
		if is {
			s.counted.Store(year, true)
		}
	}
	return ids, nil
}

// SetResults sets results by match: the index of the winning team, or nil for no contest. Event and matches count how often (edition), so that a
// node notices missing results, and a scoring by older ones is refused. A scored event is marked, for the caller or Maintain to score it again.
func (s *Service) SetResults(tx *store.Tx, event string, results map[string]*int) (c Card, err error) {
	if c, err = s.entry(tx, event, nobody); err != nil {
		return c, err
	}
	if c.State == Upcoming {
		return c, notLocked()
	}
	if err := c.has(results); err != nil {
		return c, err
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
		if err := table.Commit(tx, append(batch, s.Update(eventKey(event), set, table.When(exists+" AND #state <> :upcoming", values)))...); err != nil {
			return c, err
		}
	}
	return c, nil
}

func notLocked() error {
	return fault.New(fault.Conflict, "event_upcoming", "This event is not locked yet: lock it first.")
}

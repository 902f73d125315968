package pickem

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

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
	// Left counts rows that are not as they are counted here, and stay: another program may have written them.
	Left int `json:"left,omitempty"`
	// Waits says, in sentences, why rows were not counted.
	Waits []string `json:"waits,omitempty"`
}

// MissingError lists the IDs of matches without a result, because of which an event cannot be scored yet.
type MissingError struct{ Matches []string }

// Error implements error.
func (e *MissingError) Error() string { return "No result for " + strings.Join(e.Matches, ", ") }

// perTransaction is the most rows of a card that one transaction writes. Nodes that are cut off may together add more matches to a card than
// it may have.
const perTransaction = 90

// Score writes the points of an event and the standings of its year, once all picks were read. It sets the mark scoring first, then writes
// predictions and standings, and sets the state last. Each step is a transaction that begins from the stored rows: repeating Score after a
// crash gives the same result. The cloud refuses a step if the event's results are not those that it was computed from. Rows that another
// program may have written stay as they are.
func (s *Service) Score(ctx context.Context, event string) (out Scoring, err error) {
	out.Scored = event
	if err := s.awaitPicks(ctx, awaitFor, event); err != nil {
		return out, err
	}
	s.scoring.Lock()
	defer s.scoring.Unlock()
	return s.score(ctx, event)
}

// awaitFor is how long a person who scores waits for picks to be read.
const awaitFor = 10 * time.Second

// goOn completes a scoring that a crash interrupted, or that waits for picks; waits reports that it still does.
func (s *Service) goOn(ctx context.Context, event string) (waits bool, err error) {
	if err := s.awaitPicks(ctx, 0, event); err != nil {
		return fault.Is(err, fault.Unavailable), err
	}
	s.scoring.Lock()
	defer s.scoring.Unlock()
	due := false
	if err := s.Store.View(ctx, func(tx *store.Tx) (err error) {
		due, err = s.isScoring(tx, event)
		return err
	}); err != nil || !due {
		return false, err
	}
	_, err = s.score(ctx, event)
	return false, err
}

// score is Score once the picks were read. The caller holds the lock.
func (s *Service) score(ctx context.Context, event string) (out Scoring, err error) {
	out.Scored = event
	if err := s.step(ctx, event, (*plan).mark); err != nil {
		return out, err
	}
	s.DerivedRules()
	points, err := s.points.SettleUnit(ctx, s.Store, event)
	out.Predictions = points.Written
	if err != nil {
		return out, err
	}
	standings, err := s.tables.SettleUnit(ctx, s.Store, yearOf(event))
	out.Standings, out.Left = standings.Written, len(points.Others)+len(standings.Others)
	out.Waits = slices.Concat(points.Held, points.Unread, standings.Held, standings.Unread)
	if err != nil {
		return out, err
	}
	return out, s.step(ctx, event, (*plan).finish)
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
	setPoints = "SET GSI_SK = " // of earlier versions
)

func (p *plan) mark(c *Card) {
	var missing []string
	for i := range c.Matches {
		if !c.Matches[i].Result.Known {
			missing = append(missing, c.Matches[i].ID)
		}
	}
	p.Refuse(c.State == Upcoming, notLocked())
	p.needsAll(c)
	p.Refuse(c.isBehind(), fault.New(fault.Unavailable, "results_missing_here", "Results entered at another node have not arrived here yet. Try again later."))
	p.Refuse(missing != nil, &MissingError{missing})
	p.updateUnchanged(c.Event.was, scoredBy, setMark+":yes", attr.Item{":yes": attr.Bool(true)})
}

// isBehind reports whether results set elsewhere are still missing here: matches are in another partition than their event, and arrive apart.
func (c *Card) isBehind() bool {
	n := 0
	for i := range c.Matches {
		n += c.Matches[i].Edition
	}
	return n != c.edition
}

// needsAll refuses a step of a scoring while rows of the event cannot be decoded: it would count less than there is.
func (p *plan) needsAll(c *Card) {
	for _, why := range c.waits() {
		p.Fail(fault.New(fault.Unavailable, "counting_waits", "%s", why))
	}
}

func (p *plan) finish(c *Card) {
	p.needsAll(c)
	p.updateUnchanged(c.Event.was, scoredBy, setScored+"#state = :scored", attr.Item{":scored": attr.S(string(Scored))})
}

// due lists the events whose scoring has begun and not ended, and can go on.
func (p *plan) due() (ids []string) {
	all := p.events()
	for i := range all {
		e := &all[i]
		p.lockSeen(e)
		if !e.scoring {
			continue
		}
		if c := p.load(e.ID, everybody); len(c.unread) == 0 && !c.isBehind() {
			ids = append(ids, e.ID)
		}
	}
	if p.Err() != nil {
		return nil
	}
	return ids
}

// SetResults sets results by match: the index of the winning team, or nil for no contest. Event and matches count how often (edition), so that a
// node notices missing results, and a scoring by older ones is refused. A scored event is marked, for the caller or Maintain to score it again.
func (s *Service) SetResults(tx *store.Tx, event string, results map[string]*int) (Card, error) {
	p := s.plan(tx)
	c := p.entry(event, nobody)
	p.Refuse(c.State == Upcoming, notLocked())
	if p.checkTeams(&c, results); p.Err() != nil {
		return c, p.Err()
	}
	var items []store.WriteItem
	for id, team := range results {
		m := c.match(id)
		m.Result = Result{Known: true, Team: *cmp.Or(team, new(NoContest))}
		values := attr.Item{":result": m.Result.value(), ":one": attr.Int(1)}
		items = append(items, s.Update(matchKey(event, id), "SET #result = :result ADD edition :one", table.IfTrue(exists, values)))
	}
	for batch := range slices.Chunk(items, perTransaction) {
		set, values := "ADD edition :n", attr.Item{":n": attr.Int(int64(len(batch))), ":upcoming": attr.S(string(Upcoming))}
		if c.State == Scored {
			set += " SET scoring = :yes"
			values[":yes"] = attr.Bool(true)
		}
		p.Commit(append(batch, s.Update(eventKey(event), set, table.IfTrue(exists+" AND #state <> :upcoming", values)))...)
	}
	return c, p.Err()
}

func notLocked() error {
	return fault.New(fault.Conflict, "event_upcoming", "This event is not locked yet: lock it first.")
}

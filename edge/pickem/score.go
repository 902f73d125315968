package pickem

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// points counts what picks have earned with the results that are known.
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

// Scoring is what came of a scoring: how many rows were changed.
type Scoring struct {
	Scored      string `json:"scored"` // the event
	Predictions int    `json:"predictions"`
	Standings   int    `json:"standings"`
}

// MissingError is an event that cannot be scored yet.
type MissingError struct{ Matches []string }

// Error implements error.
func (e *MissingError) Error() string { return "no result of " + strings.Join(e.Matches, ", ") }

// perBatch is how many rows one transaction writes.
const perBatch = 45

// Score writes the points of an event and the standings of its year: the mark that it is on the way, predictions, standings, and the
// state last. A step is a transaction and looks at what is there, so whoever begins again after a crash ends with the same rows.
func (s *Service) Score(ctx context.Context, event string) (out Scoring, err error) {
	out.Scored = event
	for _, step := range []func(tx *store.Tx, out *Scoring) (more bool, err error){
		func(tx *store.Tx, _ *Scoring) (bool, error) { return false, s.mark(tx, event) },
		func(tx *store.Tx, out *Scoring) (bool, error) { return s.scorePredictions(tx, event, out) },
		func(tx *store.Tx, out *Scoring) (bool, error) { return s.scoreStandings(tx, yearOf(event), out) },
		func(tx *store.Tx, _ *Scoring) (bool, error) { return false, s.finish(tx, event) },
	} {
		for more := true; more; {
			var one Scoring
			err := s.Store.Update(ctx, func(tx *store.Tx) (err error) {
				one = Scoring{}
				more, err = step(tx, &one)
				return err
			})
			if err != nil {
				return out, err
			}
			out.Predictions += one.Predictions
			out.Standings += one.Standings
		}
	}
	return out, nil
}

// Unfinished lists the events whose scoring has begun and not ended.
func (s *Service) Unfinished(tx *store.Tx) (ids []string, err error) {
	all, err := s.events(tx)
	for i := range all {
		if all[i].scoring {
			ids = append(ids, all[i].ID)
		}
	}
	return ids, err
}

func (s *Service) mark(tx *store.Tx, event string) error {
	c, err := s.load(tx, event, everybody)
	if err != nil {
		return err
	}
	var missing []string
	for i := range c.Matches {
		if !c.Matches[i].Result.Known {
			missing = append(missing, c.Matches[i].ID)
		}
	}
	switch {
	case c.State == Upcoming:
		return notLocked()
	case missing != nil:
		return &MissingError{missing}
	}
	return s.setState(tx, &c.Event, "SET scoring = :yes", attr.Item{":yes": attr.Bool(true)})
}

// setState changes an event's row if its state is still what was seen.
func (s *Service) setState(tx *store.Tx, e *Event, update string, values attr.Item) error {
	u := store.UpdateItem{
		Table: s.Table, Key: eventKey(e.ID), Update: update, Condition: "#s = :seen",
		Params: expr.Params{Names: map[string]string{"#s": "state"}, Values: values},
	}
	u.Values[":seen"] = attr.S(string(e.State))
	_, err := tx.Update(u)
	return err
}

func (s *Service) finish(tx *store.Tx, event string) error {
	c, err := s.load(tx, event, everybody)
	if err != nil {
		return err
	}
	return s.setState(tx, &c.Event, "SET #s = :scored REMOVE scoring", attr.Item{":scored": attr.S(string(Scored))})
}

// scorePredictions writes the next batch of an event's predictions that do not have the points of their picks.
func (s *Service) scorePredictions(tx *store.Tx, event string, out *Scoring) (more bool, err error) {
	c, err := s.load(tx, event, everybody)
	if err != nil {
		return false, err
	}
	var items []store.WriteItem
	for i := range c.all {
		p := &c.all[i]
		points, correct := c.points(p.Picks)
		if points == p.Points && correct == p.Correct && p.key == eventScore(points, p.User) {
			continue
		}
		if len(items) == perBatch {
			more = true
			break
		}
		items = append(items, store.WriteItem{Update: &store.UpdateItem{
			Table: s.Table, Key: predictionKey(p.User, event), Condition: "attribute_exists(PK)",
			Update: "SET GSI_SK = :key, points = :points, mcorrect = :correct",
			Params: expr.Params{Values: attr.Item{
				":key": attr.S(eventScore(points, p.User)), ":points": attr.Int(int64(points)), ":correct": attr.Int(int64(correct)),
			}},
		}})
	}
	out.Predictions = len(items)
	return more, transact(tx, items)
}

func transact(tx *store.Tx, items []store.WriteItem) error {
	if len(items) == 0 {
		return nil
	}
	return tx.TransactWrite(store.TransactWrite{Items: items})
}

// recount computes the standings of a year from its picks and results, without those of an event.
func (s *Service) recount(tx *store.Tx, year, without string) (map[string]*Standing, error) {
	events, err := s.events(tx)
	out := map[string]*Standing{}
	for i := range events {
		e := &events[i]
		if yearOf(e.ID) != year || e.ID == without || e.State != Scored && !e.scoring {
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
			if st == nil {
				st = &Standing{User: p.User}
				out[p.User] = st
			}
			st.Points, st.Correct, st.Played = st.Points+points, st.Correct+correct, st.Played+1
		}
	}
	return out, err
}

// scoreStandings writes the next batch of standings that are not what a recount says.
func (s *Service) scoreStandings(tx *store.Tx, year string, out *Scoring) (more bool, err error) {
	want, err := s.recount(tx, year, "")
	if err != nil {
		return false, err
	}
	var items []store.WriteItem
	for it, err := range tx.QueryAll(s.standingsQuery(year)) {
		if err != nil {
			return false, err
		}
		user := userOf(it)
		st := want[user]
		switch {
		case st == nil:
			items = append(items, store.WriteItem{Delete: &store.DeleteItem{Table: s.Table, Key: standingsKey(user, year)}})
		case standingOf(it) != *st || it["GSI_SK"].Str() != standingScore(st.Points, user):
			continue
		}
		delete(want, user)
	}
	for _, st := range want {
		items = append(items, store.WriteItem{Put: &store.PutItem{Table: s.Table, Item: st.row(year)}})
	}
	if len(items) > perBatch {
		items, more = items[:perBatch], true
	}
	out.Standings = len(items)
	return more, transact(tx, items)
}

func (s *Service) standingsQuery(year string) store.Query {
	return store.Query{
		Table: s.Table, Index: s.Index, KeyCondition: "GSI_PK = :pk", Descending: true,
		Params: expr.Params{Values: attr.Item{":pk": attr.S(prefixStandings + year)}},
	}
}

// Standings are a year's, in one query of the index.
func (s *Service) Standings(tx *store.Tx, year string) ([]Standing, error) {
	all := []Standing{}
	for it, err := range tx.QueryAll(s.standingsQuery(year)) {
		if err != nil {
			return nil, err
		}
		st := standingOf(it)
		if st.Name, err = s.name(tx, st.User); err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	rank(all, (*Standing).place)
	return all, nil
}

// Climbed is how many places each user has gone up in a year's standings by its last event that was scored.
func (s *Service) Climbed(tx *store.Tx, year string) (map[string]int, error) {
	last := ""
	events, err := s.events(tx) // newest first
	for i := len(events) - 1; i >= 0; i-- {
		if e := &events[i]; yearOf(e.ID) == year && e.State == Scored {
			last = e.ID
		}
	}
	places := func(without string) map[string]int {
		out := map[string]int{}
		byUser, failed := s.recount(tx, year, without)
		var all []Standing
		for _, st := range byUser {
			all = append(all, *st)
		}
		rank(all, (*Standing).place)
		for i := range all {
			out[all[i].User] = all[i].Rank
		}
		err = cmp.Or(err, failed)
		return out
	}
	now, before := places(""), places(last)
	for user := range now {
		if before[user] == 0 { // who was not there has come from nowhere
			before[user] = now[user]
		}
		now[user] = before[user] - now[user]
	}
	return now, err
}

// SetResults sets who has won: an index of a team or NoContest. An event that was scored is scored anew, by who calls.
func (s *Service) SetResults(tx *store.Tx, event string, results map[string]int) (c Card, err error) {
	if c, err = s.load(tx, event, everybody); err != nil {
		return c, err
	}
	if c.State == Upcoming {
		return c, notLocked()
	}
	var items []store.WriteItem
	for id, team := range results {
		m := c.match(id)
		if m == nil {
			return c, fault.New(fault.Invalid, "unknown_match", "There is no match %s in this event.", id)
		}
		if team < NoContest || team >= len(m.Teams) {
			return c, fault.New(fault.Invalid, "bad_team", "The match %s has no team %d.", m.Name, team)
		}
		m.Result = Result{Known: true, Team: team}
		items = append(items, store.WriteItem{Update: &store.UpdateItem{
			Table: s.Table, Key: matchKey(event, id), Update: "SET #r = :result", Condition: "attribute_exists(PK)",
			Params: expr.Params{Names: map[string]string{"#r": "result"}, Values: attr.Item{":result": m.Result.value()}},
		}})
	}
	if c.State == Scored {
		if err := s.setState(tx, &c.Event, "SET scoring = :yes", attr.Item{":yes": attr.Bool(true)}); err != nil {
			return c, err
		}
	}
	return c, transact(tx, items)
}

func notLocked() error {
	return fault.New(fault.Conflict, "event_upcoming", "The event is not locked yet.")
}

// Missing are the matches without a result that keep an event from being scored; nil: the error is another one.
func Missing(err error) []string {
	if e, ok := errors.AsType[*MissingError](err); ok {
		return e.Matches
	}
	return nil
}

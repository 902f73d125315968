package pickem

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/actions"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// crowded creates an event whose card two nodes, each cut off, have filled, so that it has twice as many matches as one may have.
func (r *rig) crowded(date string, users ...string) (id string, matches []string) {
	r.t.Helper()
	id, _ = r.card(date, nil, users...)
	r.must(func(tx *store.Tx) error {
		p := r.plan(tx)
		for i := range 2 * MaxMatches {
			m := Match{ID: fmt.Sprintf("m%03d", i), Place: cardPlace(i/2 + 1), Details: Details{Name: fmt.Sprint("Match ", i), Points: 5, Teams: []Team{{Members: []string{"A"}}, {Members: []string{"B"}}}}}
			p.putMatch(id, &m, nil)
			matches = append(matches, m.ID)
		}
		return p.Err()
	})
	return id, matches
}

// No transaction grows with the data: each has a fixed bound on a card that two nodes have filled, with many users and events. The walk has all
// of them.
func TestTransactionsDoNotGrow(t *testing.T) {
	r := newRig(t)
	w := actions.On(t, r.Store)
	users := []string{}
	for i := range 120 {
		users = append(users, fmt.Sprintf("u%03d", i))
	}
	id, m := r.crowded("2024-03-03", users...)
	gone, _ := r.crowded("2024-04-04")
	w.Largest("filling two cards")
	all, fewer := map[string]*int{}, map[string]*int{}
	for i, match := range m {
		if all[match] = new(1); i%2 == 0 {
			fewer[match] = nil
		}
	}
	step := func(what string, do func(tx *store.Tx) error) {
		t.Helper()
		if err := r.try(do); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		w.Largest(what)
	}
	step("an order", func(tx *store.Tx) error {
		slices.Reverse(m)
		c, err := r.Order(tx, id, m)
		if err == nil && (c.Matches[0].ID != m[0] || r.whole(tx, id).Matches[197].ID != m[197]) {
			t.Error("the order is not as given")
		}
		return err
	})
	step("first picks", func(tx *store.Tx) error {
		_, err := r.Predict(tx, users[0], id, all)
		return err
	})
	r.merges(w, id, all)
	step("a change of all picks, of which some came late", func(tx *store.Tx) error {
		_, err := r.Predict(tx, users[0], id, fewer)
		return err
	})
	for _, u := range users[1:] {
		r.picks(u, id, m[5], 1)
	}
	step("a match deleted at the front", func(tx *store.Tx) error { return r.DeleteMatch(tx, id, m[0]) })
	step("other teams", func(tx *store.Tx) error {
		_, err := r.ChangeMatch(tx, id, m[1], func(d *Details) { d.Teams[0].Members = []string{"C"} })
		return err
	})
	step("another event", func(tx *store.Tx) error { return r.DeleteEvent(tx, gone) })
	if rows := read(r, func(tx *store.Tx) ([]attr.Item, error) {
		p := r.plan(tx)
		return table.Read(&p.Plan, tx.QueryAll(p.partition(prefixEvent+gone)), p.KeyOf), p.Err()
	}); len(rows) > 0 {
		t.Errorf("%d matches of a deleted event are left", len(rows))
	}
	step("a start and a lock", func(tx *store.Tx) error {
		if _, err := r.ChangeEvent(tx, id, NewEvent{Name: "Other"}); err != nil {
			return err
		}
		r.now = start
		return nil
	})
	if _, err := r.Maintain(t.Context()); err != nil {
		t.Error(err)
	}
	w.Largest("the lock")
	step("a name", func(tx *store.Tx) error {
		_, err := r.ChangeMatch(tx, id, m[2], func(d *Details) { d.Name = "Other" })
		return err
	})
	c := read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "") })
	results := map[string]*int{}
	for i := range c.Matches {
		results[c.Matches[i].ID] = new(1)
	}
	step("the results", func(tx *store.Tx) error { _, err := r.SetResults(tx, id, results); return err })
	r.score(id)
	w.Largest("a scoring")
	for i := range 60 { // many events of the year, each a condition of its standings
		other, om := r.card(fmt.Sprintf("2024-%02d-%02d", 5+i/28, 1+i%28), []int{5})
		r.picks(users[1], other, om[0], 1)
		r.results(other, 1)
		r.score(other)
	}
	w.Largest("the scoring of the last of many events")
	step("users", func(tx *store.Tx) error {
		if _, err := r.Invite(tx, "last", "Last"); err != nil {
			return err
		}
		if _, err := r.ChangeUser(tx, "last", new("Other"), new(false)); err != nil {
			return err
		}
		return r.DeleteUser(tx, "last")
	})
	empty, _ := r.card("2025-01-01", nil)
	step("an event without matches", func(tx *store.Tx) error { return r.DeleteEvent(tx, empty) })
	w.Covers(".", "Maintain") // Run calls it
}

func (r *rig) whole(tx *store.Tx, id string) Card {
	c, err := r.load(tx, id, everybody)
	if err != nil {
		r.t.Error(err)
	}
	return c
}

// merges walks the merge rules with all picks of a crowded card: they were refused because of another node's row, or because they came late.
func (r *rig) merges(w *actions.Watch, id string, picks map[string]*int) {
	r.t.Helper()
	r.must(func(tx *store.Tx) error {
		k := predictionKey("u000", id)
		first := r.first("u000", id, picks, r.now)
		theirs := with(first.Put.Item, "predictions", attr.M(attr.Item{}))
		open := func(attr.Item) (attr.Item, error) { return (&Event{ID: id, State: Upcoming}).row(), nil }
		for what, refused := range map[string]table.Refused{
			"two first rows": {Key: k, View: first.Put.Item, Remote: with(theirs, "updatedAt", attr.S(r.now.Add(-time.Hour).Format(stamp))), Again: []store.WriteItem{first}},
			"late picks":     {Key: k, View: first.Put.Item, Late: true, Again: []store.WriteItem{first}},
		} {
			writes, ok := r.Merge([]table.Refused{refused}, nil, open)
			if w.Bounded(what, writes); !ok && what == "late picks" {
				r.t.Errorf("%s: left to a person", what)
			}
			for _, item := range writes {
				if err := table.Commit(tx, item); err != nil && !fault.Is(err, fault.Conflict) {
					r.t.Errorf("%s: %v", what, err)
				}
			}
		}
		return nil
	})
	w.Largest("merges")
}

// What is left of a deleted event's matches is deleted only while the event is gone: if the cloud refuses the event's deletion, it keeps all of
// its matches.
func TestMatchesStayWithTheirEvent(t *testing.T) {
	r := newRig(t)
	id, _ := r.crowded("2024-03-03")
	var sent [][]store.WriteItem
	r.Store.Replicate(recorder(func(writes []store.Write) {
		var items []store.WriteItem
		for i := range writes {
			req, k := writes[i].Request, writes[i].Key
			if writes[i].Op == 0 {
				items = append(items, store.WriteItem{Check: &store.ConditionCheck{Table: tableName, Key: k, Condition: req.Condition, Params: req.Params}})
			} else {
				items = append(items, store.WriteItem{Delete: &store.DeleteItem{Table: tableName, Key: k, Condition: req.Condition, Params: req.Params}})
			}
		}
		sent = append(sent, items)
	}))
	cancel := fault.New(fault.Conflict, "cancel", "rolled back")
	if err := r.try(func(tx *store.Tx) error {
		if err := r.DeleteEvent(tx, id); err != nil {
			return err
		}
		return cancel
	}); !fault.Is(err, fault.Conflict) || len(sent) < 3 {
		t.Fatalf("%d transactions, %v", len(sent), err)
	}
	r.Store.Replicate(recorder(func([]store.Write) {}))
	for i, items := range sent[1:] { // the first was refused: the event is there
		if err := r.try(func(tx *store.Tx) error { return table.Commit(tx, items...) }); !fault.Is(err, fault.Conflict) {
			t.Errorf("transaction %d of a deletion whose first was refused: %v", i+2, err)
		}
	}
}

// recorder is a store.Replicator that passes on the writes of transactions.
type recorder func(writes []store.Write)

func (r recorder) Compile(_ *store.Tx, writes []store.Write) error { r(writes); return nil }

func (r recorder) Expire(*store.Tx, *store.TableSpec, attr.Item) (bool, error) { return true, nil }

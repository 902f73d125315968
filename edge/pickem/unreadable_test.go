package pickem

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// put writes a row without conditions, as another program does.
func (r *rig) put(row attr.Item) {
	r.t.Helper()
	r.must(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: tableName, Item: row}); return err })
}

// with returns a copy of a row with another value of an attribute; the zero value removes it.
func with(row attr.Item, name string, v attr.Value) attr.Item {
	row = maps.Clone(row)
	if row[name] = v; v.IsZero() {
		delete(row, name)
	}
	return row
}

// named returns the rows that the store names as unreadable, each with the reason.
func (r *rig) named() (all []string) {
	r.t.Helper()
	rows, _, err := r.Store.UnreadableItems(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, u := range rows {
		all = append(all, fmt.Sprintf("%s %s: %s", u.Key["PK"].Str(), u.Key["SK"].Str(), u.Why))
	}
	return all
}

// all reads every list.
func (r *rig) all(tx *store.Tx) error {
	_, _, err := r.Events(tx, "max", 100, nil)
	for _, read := range []func(tx *store.Tx) error{
		func(tx *store.Tx) error { _, err := r.Users(tx); return err },
		func(tx *store.Tx) error { _, err := r.Standings(tx, "2024"); return err },
		func(tx *store.Tx) error { _, err := r.PlacesClimbed(tx, "2024"); return err },
		func(tx *store.Tx) error { _, err := r.Cards(tx, nil); return err },
		func(tx *store.Tx) error { _, err := r.Picks(tx, nil); return err },
		func(tx *store.Tx) error { _, err := r.Profile(tx, "max", "max"); return err },
	} {
		if err == nil {
			err = read(tx)
		}
	}
	return err
}

// A row of whatever kind that cannot be decoded stops no list: it is left out and named, with the reason. Once it is mended it is named no more.
func TestUnreadableRowIsNamed(t *testing.T) {
	r := newRig(t)
	id, m := r.card("2024-03-03", []int{5, 5}, "sam", "max")
	r.picks("sam", id, m[0], 1)
	r.picks("max", id, m[0], 1)
	r.results(id, 1, 1)
	r.score(id)
	for _, tt := range []struct {
		key       attr.Item
		attribute string
		bad       attr.Value
		why       string
	}{
		{eventKey(id), "state", attr.S("over"), "attribute state is none of upcoming, broadcast and scored"},
		{eventKey(id), "date", attr.Int(1), "attribute date is not a day such as 2024/03/03"},
		{eventKey(id), "startsAt", attr.S("noon"), "attribute startsAt is not a time such as 2024-03-03T19:00:00Z"},
		{eventKey(id), "edition", attr.S("1"), "attribute edition has a wrong type"},
		{eventKey(id), "GSI_PK", attr.Value{}, "it is not in the index under EVENT#" + id},
		{matchKey(id, m[0]), "points", attr.S("5"), "attribute points: it is a text, where a whole number belongs"},
		{matchKey(id, m[0]), "teams", attr.L(), "attribute teams has fewer than two teams"},
		{matchKey(id, m[0]), "result", attr.S("A"), "attribute result is not the number of a team"},
		{matchKey(id, m[0]), "result", attr.Int(2), "attribute result is not the number of a team"},
		{matchKey(id, m[0]), "id", attr.S("other"), "attribute id is not the one in its key"},
		{matchKey(id, m[0]), "type", attr.Value{}, "attribute type is not match"},
		{predictionKey("sam", id), "predictions", attr.L(), "attribute predictions: it is a list, where an object belongs"},
		{predictionKey("sam", id), "type", attr.S("x"), "attribute type is not prediction"},
		{predictionKey("max", id), "GSI_SK", attr.Value{}, "it is not in the index under EVENT#" + id},
		{standingsKey("sam", "2024"), "points", attr.S("many"), "attribute points: it is a text, where a whole number belongs"},
		{userKey("sam"), "name", attr.Int(1), "attribute name is not a text"},
		{userKey("sam"), "active", attr.S("yes"), "attribute active is not yes or no"},
	} {
		good := r.item(tt.key)
		what := fmt.Sprintf("%s %s: %s", tt.key["PK"].Str(), tt.key["SK"].Str(), tt.why)
		r.put(with(good, tt.attribute, tt.bad))
		if err := r.Store.View(t.Context(), r.all); err != nil {
			t.Errorf("%s: a list: %v", what, err)
		}
		if got := r.named(); !slices.Equal(got, []string{what}) {
			t.Errorf("named are %q, want %q", got, what)
		}
		r.put(good)
		if got := r.named(); len(got) > 0 {
			t.Errorf("mended, and still named: %q", got)
		}
	}
}

// A request for the very row is answered with an error that says so, and writes nothing. What is unreadable does not count as absent.
func TestUnreadableSubject(t *testing.T) {
	for name, tt := range map[string]struct {
		key       func(id, match string) attr.Item
		attribute string
		do        func(r *rig, tx *store.Tx, id, match string) error
		want      fault.Kind
	}{
		"the event": {func(id, _ string) attr.Item { return eventKey(id) }, "date",
			func(r *rig, tx *store.Tx, id, _ string) error { _, err := r.Event(tx, id, "sam"); return err }, fault.Unreadable},
		"a pick over picks": {func(id, _ string) attr.Item { return predictionKey("sam", id) }, "predictions",
			func(r *rig, tx *store.Tx, id, match string) error {
				_, err := r.Predict(tx, "sam", id, map[string]*int{match: new(0)})
				return err
			}, fault.Unreadable},
		"a pick for the match": {matchKey, "teams",
			func(r *rig, tx *store.Tx, id, match string) error {
				_, err := r.Predict(tx, "sam", id, map[string]*int{match: new(0)})
				return err
			}, fault.Unreadable},
		"the match": {matchKey, "teams", func(r *rig, tx *store.Tx, id, match string) error { return r.DeleteMatch(tx, id, match) }, fault.Unreadable},
		"the user": {func(_, _ string) attr.Item { return userKey("sam") }, "active",
			func(r *rig, tx *store.Tx, _, _ string) error { return r.CheckInvited(tx, "sam") }, fault.Unreadable},
		"an event with predictions": {func(id, _ string) attr.Item { return predictionKey("sam", id) }, "predictions",
			func(r *rig, tx *store.Tx, id, _ string) error { return r.DeleteEvent(tx, id) }, fault.Conflict},
		"a user with predictions": {func(id, _ string) attr.Item { return predictionKey("sam", id) }, "predictions",
			func(r *rig, tx *store.Tx, _, _ string) error { return r.DeleteUser(tx, "sam") }, fault.Conflict},
	} {
		r := newRig(t)
		id, m := r.card("2024-03-03", []int{5}, "sam")
		r.picks("sam", id, m[0], 1)
		r.put(with(r.item(tt.key(id, m[0])), tt.attribute, attr.Int(1)))
		seq := r.Store.Seq()
		if err := r.try(func(tx *store.Tx) error { return tt.do(r, tx, id, m[0]) }); !fault.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if r.Store.Seq() != seq {
			t.Errorf("%s: something was written", name)
		}
	}
}

// An event with a row that cannot be decoded is neither scored nor counted again, and neither are the standings of its year: they would be
// counted from less than there is. Another year's go on. Once the row is mended, everything is counted.
func TestCountingWaitsForUnreadableRows(t *testing.T) {
	for name, tt := range map[string]struct {
		key func(id, match string) attr.Item
		bad string
	}{
		"a match":      {matchKey, "teams"},
		"a prediction": {func(id, _ string) attr.Item { return predictionKey("max", id) }, "predictions"},
	} {
		r := newRig(t)
		id, m := r.card("2024-03-03", []int{5, 9}, "sam", "max")
		other, om := r.card("2025-05-05", []int{7})
		r.picks("sam", id, m[1], 1)
		r.picks("max", id, m[0], 1)
		r.picks("sam", other, om[0], 1)
		r.results(id, 1, 1)
		r.results(other, 1)
		good := r.item(tt.key(id, m[0]))
		r.put(with(good, tt.bad, attr.Int(1)))
		seq := r.Store.Seq()
		_, err := r.Score(t.Context(), id)
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "Counting waits for rows of AEW Revolution that cannot be read") {
			t.Errorf("%s: scored: %v", name, err)
		}
		if r.Store.Seq() != seq {
			t.Errorf("%s: a scoring that waits has written", name)
		}
		r.score(other)
		r.put(good)
		r.score(id)

		r.put(with(good, tt.bad, attr.Int(1))) // after it was scored
		r.must(func(tx *store.Tx) error {      // and a result is corrected
			_, err := r.SetResults(tx, id, map[string]*int{m[1]: new(0)})
			return err
		})
		seq = r.Store.Seq()
		if _, err := r.Maintain(t.Context()); err != nil {
			t.Errorf("%s: the job: %v", name, err)
		}
		waits := 0
		for _, rule := range r.DerivedRules() {
			for _, unit := range read(r, func(tx *store.Tx) ([]string, error) { return rule.Units(tx, nil) }) {
				out, err := rule.SettleIdle(t.Context(), r.Store, unit)
				if err != nil || len(out.Others) > 0 {
					t.Errorf("%s: %s of %s: %+v, %v", name, rule.Name, unit, out, err)
				}
				if len(out.Unread) > 0 {
					waits++
				}
			}
		}
		if r.Store.Seq() != seq || waits != 2 {
			t.Errorf("%s: %d units wait, want the event and its year; %d rows were written", name, waits, r.Store.Seq()-seq)
		}
		r.put(good)
		if _, err := r.Maintain(t.Context()); err != nil {
			t.Errorf("%s: the job: %v", name, err)
		}
		r.derive(0, 0)
		r.recounted("2024")
		if st := r.item(standingsKey("sam", "2024")); number(st["points"]) != 0 {
			t.Errorf("%s: mended, sam's standing: %v", name, st)
		}
	}
}

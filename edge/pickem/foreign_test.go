package pickem

import (
	"errors"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// A row of another program that is not a valid event, such as one missing from the index, does not keep events from being locked, scored or
// listed. Whether it counts in its year is not known, so the standings of that year wait until it is mended or gone.
func TestForeignEventStopsNothing(t *testing.T) {
	r := newRig(t)
	id, matches := r.card("2024-03-03", []int{5}, "sam")
	r.picks("sam", id, matches[0], 1)
	bare := map[string]string{"EVENT#2024-01-01-bare": "scored", "EVENT#2024-01-02-open": "upcoming"}
	for sk, state := range bare {
		row := attr.Item{"PK": attr.S("EVENT"), "SK": attr.S(sk), "state": attr.S(state), "date": attr.S("2024/01/01")}
		r.must(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: tableName, Item: row}); return err })
	}
	r.now = start
	if _, err := r.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.results(id, 1)
	out, err := r.Score(t.Context(), id)
	if err != nil || out.Predictions != 1 || out.Standings != 0 || len(out.Waits) != 1 || out.Waits[0] != "Counting waits for events of 2024 that cannot be read: 2." {
		t.Errorf("%+v, %v", out, err)
	}
	for sk := range bare {
		r.must(func(tx *store.Tx) error { return table.Commit(tx, r.Drop(key(pkEvents, sk))) })
	}
	r.derive(0, 0)
	r.recounted("2024")
	if all := read(r, func(tx *store.Tx) ([]Listed, error) { all, _, err := r.Events(tx, "sam", 20, nil); return all, err }); len(all) != 1 || all[0].State != Scored {
		t.Errorf("%+v", all)
	}
}

// An event that cannot be scored, such as one that another program marked without results, does not keep others from being scored.
func TestEventThatCannotBeScoredStopsNoOther(t *testing.T) {
	r := newRig(t)
	r.card("2024-05-05", []int{5}) // the newest comes first
	id, matches := r.card("2024-03-03", []int{5}, "sam")
	r.picks("sam", id, matches[0], 1)
	r.results(id, 1)
	for _, event := range []string{"2024-05-05-aew-revolution", id} {
		r.must(func(tx *store.Tx) error {
			it, err := tx.Get(tableName, eventKey(event))
			it["scoring"], it["state"] = attr.Bool(true), attr.S(string(Broadcast))
			if err == nil {
				_, err = tx.Put(store.PutItem{Table: tableName, Item: it})
			}
			return err
		})
	}
	_, err := r.Maintain(t.Context())
	if _, missing := errors.AsType[*MissingError](err); !missing {
		t.Errorf("error of the event that cannot be scored: %v", err)
	}
	if state := State(r.item(eventKey(id))["state"].Str()); state != Scored {
		t.Errorf("the other event is %s", state)
	}
	r.recounted("2024")
}

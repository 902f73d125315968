package pickem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
)

// One user, numbers of users around a batch, and many are scored completely. Scoring again writes nothing.
func TestScoreForManyUsers(t *testing.T) {
	for _, n := range []int{1, 44, 45, 46, 300} {
		r := newRig(t)
		var users []string
		for i := range n {
			users = append(users, fmt.Sprintf("u%03d", i))
		}
		id, matches := r.card("2024-03-03", []int{5, 25}, users...)
		for i, u := range users {
			r.picks(u, id, matches[i%2], 1)
		}
		r.results(id, 1, 1)
		out, err := r.Score(t.Context(), id)
		if err != nil || out.Predictions != n || out.Standings != n {
			t.Fatalf("%d users: %+v, %v", n, out, err)
		}
		r.recounted("2024")
		if again, err := r.Score(t.Context(), id); err != nil || again.Predictions+again.Standings != 0 {
			t.Errorf("%d users, again: %+v, %v", n, again, err)
		}
	}
}

// A scoring interrupted after any of its transactions is completed by the next Maintain, with the same rows.
func TestScoreSurvivesACrashBehindEachStep(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 9
	}
	for steps := 0; ; steps += stride {
		r := newRig(t)
		var users []string
		for i := range 100 {
			users = append(users, fmt.Sprintf("u%03d", i))
		}
		id, matches := r.card("2024-03-03", []int{5}, users...)
		for _, u := range users {
			r.picks(u, id, matches[0], 1)
		}
		r.results(id, 1)
		_, err := r.Score(&dying{Context: t.Context(), left: steps}, id)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		done := err == nil
		before := read(r, func(tx *store.Tx) (Card, error) { return r.load(tx, id, everybody) })
		if _, err := r.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := read(r, func(tx *store.Tx) (Card, error) { return r.load(tx, id, everybody) }); before.scoring && (c.State != Scored || c.scoring) {
			t.Fatalf("interrupted after %d steps, the event is %s", steps, c.State)
		}
		r.score(id)
		if got := read(r, func(tx *store.Tx) ([]Standing, error) { return r.Standings(tx, "2024") }); len(got) != 100 || got[99].Points != 5 || got[99].Rank != 1 {
			t.Fatalf("interrupted after %d steps: %d standings", steps, len(got))
		}
		if done {
			if steps < 8 {
				t.Errorf("100 users took %d steps", steps)
			}
			return
		}
	}
}

// dying is a context that ends after a number of calls to Err.
type dying struct {
	context.Context //nolint:containedctx // it wraps one
	left            int
}

func (d *dying) Err() error {
	if d.left--; d.left < 0 {
		return context.Canceled
	}
	return nil
}

// The original's example: ten right picks, 140 points, and the keys of the rows.
func TestSeedsExample(t *testing.T) {
	r := newRig(t)
	points := []int{5, 5, 10, 10, 10, 20, 10, 20, 25, 25, 25}
	id, matches := r.card("2024-03-03", points, "sam")
	results := make([]int, len(points))
	for i, m := range matches {
		r.picks("sam", id, m, 0)
		if i == 8 {
			results[i] = 1
		}
	}
	r.results(id, results...)
	r.score(id)
	p, st := r.item(predictionKey("sam", id)), r.item(standingsKey("sam", "2024"))
	if p["GSI_SK"].Str() != "SCORE#140#sam" || number(p["mcorrect"]) != 10 || p["belongsto"].Str() != "USER#sam" || p["GSI_PK"].Str() != "EVENT#"+id {
		t.Errorf("the prediction: %v", p)
	}
	if st["GSI_SK"].Str() != "SCORE#00140#sam" || number(st["points"]) != 140 || number(st["eplayed"]) != 1 || st["GSI_PK"].Str() != "STANDINGS#2024" {
		t.Errorf("the standing: %v", st)
	}
}

// For any picks, results and corrections, the rows of points and standings match a recount. A no contest gives no points.
func TestStandingsAreARecount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		users := []string{"a", "b", "c", "d"}
		first, m1 := r.card("2024-03-03", []int{9, 10, 100}, users...)
		second, m2 := r.card("2024-05-05", []int{99, 1})
		for id, matches := range map[string][]string{first: m1, second: m2} {
			for _, m := range matches {
				for _, u := range users {
					if pick := rapid.IntRange(-1, 1).Draw(rt, "pick"); pick >= 0 {
						r.picks(u, id, m, pick)
					}
				}
			}
		}
		for range rapid.IntRange(1, 4).Draw(rt, "scorings") {
			id, n := first, len(m1)
			if rapid.Bool().Draw(rt, "second") {
				id, n = second, len(m2)
			}
			r.results(id, rapid.SliceOfN(rapid.IntRange(NoContest, 1), n, n).Draw(rt, "results")...)
			r.score(id)
		}
	})
}

// Points of one to three digits sort as numbers, and equal points share a rank.
func TestRanksAreByNumber(t *testing.T) {
	r := newRig(t)
	id, matches := r.card("2024-03-03", []int{9, 1, 90}, "nine", "ten", "hundred", "ninetynine", "tie")
	for user, teams := range map[string][3]int{"nine": {1, 0, 0}, "ten": {1, 1, 0}, "hundred": {1, 1, 1}, "ninetynine": {1, 0, 1}, "tie": {1, 0, 0}} {
		for i, team := range teams {
			r.picks(user, id, matches[i], team)
		}
	}
	r.results(id, 1, 1, 1)
	r.score(id)
	var got []string
	for _, p := range read(r, func(tx *store.Tx) (Card, error) { return r.Event(tx, id, "nine") }).Predictions {
		got = append(got, fmt.Sprint(p.Rank, " ", p.User))
	}
	if want := []string{"1 hundred", "2 ninetynine", "3 ten", "4 nine", "4 tie"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A user who joins late has standings for the events that they have played, and no others.
func TestLateJoiner(t *testing.T) {
	r := newRig(t)
	first, m1 := r.card("2024-03-03", []int{5}, "sam")
	r.picks("sam", first, m1[0], 1)
	r.results(first, 1)
	r.score(first)
	second, m2 := r.card("2024-05-05", []int{25}, "late")
	r.picks("late", second, m2[0], 1)
	r.results(second, 1)
	r.score(second)
	got := read(r, func(tx *store.Tx) ([]Standing, error) { return r.Standings(tx, "2024") })
	if len(got) != 2 || got[0] != (Standing{Placed{1, "late", "late", 25, 1}, 1}) || got[1] != (Standing{Placed{2, "sam", "sam", 5, 1}, 1}) {
		t.Errorf("%+v", got)
	}
	if up := read(r, func(tx *store.Tx) (map[string]int, error) { return r.PlacesClimbed(tx, "2024") }); up["late"] != 0 || up["sam"] != -1 {
		t.Errorf("since the last event: %v", up)
	}
}

// Points and standings computed from older results, or from other standings, are refused when they arrive.
func TestOlderScoringDoesNotHold(t *testing.T) {
	for name, change := range map[string]func(r *rig, id string){
		"a result was corrected": func(r *rig, id string) { r.results(id, 0) },
		"it was scored again":    func(r *rig, id string) { r.results(id, 0); r.score(id) },
	} {
		r := newRig(t)
		id, matches := r.card("2024-03-03", []int{5}, "sam")
		r.picks("sam", id, matches[0], 1)
		r.results(id, 1)
		if err := r.step(t.Context(), id, (*plan).mark); err != nil {
			t.Fatal(err)
		}
		older := map[string]derived.Unit{}
		r.must(func(tx *store.Tx) (err error) {
			if older["points"], err = r.readPoints(tx, id); err == nil {
				older["standings"], err = r.readStandings(tx, "2024")
			}
			return err
		})
		change(r, id)
		for of, u := range older {
			if len(u.Rows) != 1 || len(u.Checks) != 1 {
				t.Fatalf("%s, %s: %+v", name, of, u)
			}
			err := r.try(func(tx *store.Tx) error { return table.Commit(tx, u.Checks...) })
			if !fault.Is(err, fault.Conflict) {
				t.Errorf("%s, %s: %v", name, of, err)
			}
		}
	}
}

// A node that knows that results were set, but not which, does not score.
func TestScoringWaitsForResults(t *testing.T) {
	r := newRig(t)
	id, matches := r.card("2024-03-03", []int{5}, "sam")
	r.picks("sam", id, matches[0], 1)
	r.results(id, 1)
	set := func(by int64) {
		r.must(func(tx *store.Tx) error {
			_, err := tx.Update(store.UpdateItem{
				Table: tableName, Key: eventKey(id), Update: "ADD edition :n SET scoring = :yes",
				Params: expr.Params{Values: attr.Item{":n": attr.Int(by), ":yes": attr.Bool(true)}},
			})
			return err
		})
	}
	set(1)
	if _, err := r.Score(t.Context(), id); !fault.Is(err, fault.Unavailable) {
		t.Errorf("scored: %v", err)
	}
	state := func() State {
		if _, err := r.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		return State(r.item(eventKey(id))["state"].Str())
	}
	if got := state(); got != Broadcast {
		t.Errorf("without all results the event is %s", got)
	}
	set(-1)
	if got := state(); got != Scored {
		t.Errorf("with all results the event is %s", got)
	}
}

// Rows that another program has written stay as they are, and with them the standings that depend on them, until a person has them
// recounted. A prediction that is read late counts.
func TestRowsOfOthersStay(t *testing.T) {
	r := newRig(t)
	id, matches := r.card("2024-03-03", []int{5}, "sam", "max", "kim")
	r.picks("sam", id, matches[0], 1)
	r.picks("kim", id, matches[0], 0)
	r.results(id, 1)
	r.score(id)
	put := func(row attr.Item) {
		t.Helper()
		r.must(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: tableName, Item: row}); return err })
	}
	put(r.first("max", id, map[string]*int{matches[0]: new(1)}, r.now).Put.Item)
	r.derive(0, 0)
	r.recounted("2024")
	if got := r.item(predictionKey("max", id)); number(got["points"]) != 5 {
		t.Errorf("the late prediction: %v", got)
	}
	nobodys := (&Standing{Placed: Placed{User: "zoe", Points: 25}}).row("2024")
	sams := (&Standing{Placed: Placed{User: "sam", Points: 140}}).row("2024")
	put(nobodys)
	put(sams)
	r.derive(0, 2)
	for _, want := range []attr.Item{nobodys, sams} {
		if got := r.item(r.KeyOf(want)); !attr.EqualItems(got, want) {
			t.Errorf("%v, was %v", got, want)
		}
	}
	points := r.item(predictionKey("sam", id))
	points["points"], points["GSI_SK"] = attr.Int(140), attr.S(eventScore(140, "sam"))
	put(points)
	if held := r.derive(1, 0); len(held) != 1 || !strings.Contains(held[0], "points of AEW Revolution") {
		t.Errorf("standings, while points are in doubt: %q", held)
	}
	r.adopt(r.points, id, 1)
	r.derive(0, 2)
	r.adopt(r.tables, "2024", 2)
	r.derive(0, 0)
	r.recounted("2024")
}

// The original has scored an event of the year, and standings have its points. An event scored here changes no row of the original's.
func TestStandingsOfTheOriginalStay(t *testing.T) {
	r := newRig(t)
	old, m1 := r.card("2024-05-05", []int{5}, "sam", "max")
	r.picks("sam", old, m1[0], 1)
	id, m2 := r.card("2024-06-06", []int{25})
	r.picks("sam", id, m2[0], 1)
	r.picks("max", id, m2[0], 1)
	r.must(func(tx *store.Tx) error { // as the original leaves it: 140 points, of matches that are not in the table
		for k, u := range map[string]string{
			eventKey(old)["SK"].Str():             "SET #state = :scored",
			matchKey(old, m1[0])["SK"].Str():      "SET #result = :one",
			predictionKey("sam", old)["PK"].Str(): "SET GSI_SK = :key, points = :points, mcorrect = :ten REMOVE updatedAt",
		} {
			key := map[string]attr.Item{eventKey(old)["SK"].Str(): eventKey(old), matchKey(old, m1[0])["SK"].Str(): matchKey(old, m1[0]), "USER#sam": predictionKey("sam", old)}[k]
			values := attr.Item{":scored": attr.S(string(Scored)), ":one": attr.Int(1), ":key": attr.S("SCORE#140#sam"), ":points": attr.Int(140), ":ten": attr.Int(10)}
			for name := range values {
				if !strings.Contains(u, name) {
					delete(values, name)
				}
			}
			if err := table.Commit(tx, r.Update(key, u, table.IfTrue("", values))); err != nil {
				return err
			}
		}
		return table.Commit(tx, r.Create((&Standing{Placed{User: "sam", Points: 140, Correct: 10}, 1}).row("2024")))
	})
	r.results(id, 1)
	out, err := r.Score(t.Context(), id)
	if err != nil || out.Predictions != 2 || out.Standings != 0 || len(out.Waits) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if got := r.item(standingsKey("sam", "2024")); number(got["points"]) != 140 {
		t.Errorf("standing: %v", got)
	}
	r.adopt(r.points, old, 1)
	r.derive(0, 1)
	r.adopt(r.tables, "2024", 1)
	r.recounted("2024")
}

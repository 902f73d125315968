package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func local(spec store.TableSpec) store.TableSpec {
	spec.Policy = store.PolicyLocal
	return spec
}

// After a reset the tables are as they were created, empty; with tables there are none.
func TestReset(t *testing.T) {
	s := storetest.Open(t, local(storetest.Matches()))
	settings := store.TableSettings{Protected: true, Stream: store.ViewBoth, Tags: map[string]string{"of": "a test"}}
	if err := s.CreateTable(t.Context(), local(storetest.Balls()), settings); err != nil {
		t.Fatal(err)
	}
	fillBalls(t, s, 2000)
	add := updateBall(1, "ADD runs :n", ":n", 4)
	if err := withToken(t, s, "a", add); err != nil {
		t.Fatal(err)
	}
	was, commits := s.Tables(), s.Stats().Commits
	before, err := s.Describe("balls")
	if err != nil {
		t.Fatal(err)
	}
	names, err := s.Reset(t.Context(), false)
	if diff := cmp.Diff([]string{"balls", "matches"}, names); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if n := s.Stats().Commits - commits; n != 1 {
		t.Errorf("%d commits", n)
	}
	if diff := cmp.Diff(was, s.Tables()); diff != "" {
		t.Errorf("the tables (-before +after):\n%s", diff)
	}
	after, err := s.Describe("balls")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Settings, after.Settings); diff != "" || before.ID == after.ID {
		t.Errorf("id %s, before %s; settings (-before +after):\n%s", after.ID, before.ID, diff)
	}
	for _, index := range []string{"", "bowler-index", "wicket-index"} {
		if n := countIn(t, s, "balls", index); n != 0 {
			t.Errorf("%d items in balls %s", n, index)
		}
	}
	if err := withToken(t, s, "a", add); err != nil { // the token is not remembered: it is done again
		t.Fatal(err)
	}
	if n := countIn(t, s, "balls", ""); n != 1 {
		t.Errorf("%d items", n)
	}
	housekeep(t, s)
	storetest.Check(t, s)

	if _, err := s.Reset(t.Context(), true); err != nil || len(s.Tables()) != 0 {
		t.Errorf("%v and tables %v", err, s.Tables())
	}
	if names, err := s.Reset(t.Context(), true); err != nil || len(names) != 0 {
		t.Errorf("a reset of nothing: %v, %v", names, err)
	}
	housekeep(t, s)
}

// Tables that send to the cloud are not emptied behind its back.
func TestResetRefusesTablesThatSend(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), local(storetest.Matches()))
	fillBalls(t, s, 3)
	_, err := s.Reset(t.Context(), false)
	storetest.WantFault(t, err, fault.Conflict, "table_sends")
	if n := countIn(t, s, "balls", ""); n != 3 {
		t.Errorf("%d items are left", n)
	}
}

package store_test

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// clocked opens a store whose clock the test moves.
func clocked(t *testing.T, now *time.Time) *store.Store {
	return storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"),
		store.Options{NoSync: true, Now: func() time.Time { return *now }}, storetest.Balls(), storetest.Matches())
}

func withToken(t testing.TB, s *store.Store, token string, items ...store.WriteItem) (err error) {
	t.Helper()
	storetest.Update(t, s, func(tx *store.Tx) error {
		err = tx.TransactWrite(store.TransactWrite{Items: items, Token: token})
		return nil
	})
	return err
}

func TestTokenRepeatedChangesNothing(t *testing.T) {
	now := time.Unix(1_563_096_600, 0)
	s := clocked(t, &now)
	add := func(n int) store.WriteItem { return updateBall(1, "ADD runs :n", ":n", n) }
	for range 2 {
		if err := withToken(t, s, "a", add(4)); err != nil {
			t.Fatal(err)
		}
	}
	if len(storetest.Journal(t, s, 0)) != 1 {
		t.Error("the journal has the repetition")
	}
	err := withToken(t, s, "a", add(6))
	storetest.WantFault(t, err, fault.Conflict, "idempotent_parameter_mismatch")
	if err == nil || err.Error() != "DynamoDB rejected the request because you retried a request with a different payload "+
		"but with an idempotent token that was already used." {
		t.Error(err)
	}
	now = now.Add(10*time.Minute - 1)
	if err := withToken(t, s, "a", add(4)); err != nil {
		t.Error(err)
	}
	storetest.WantItem(t, "once", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), storetest.Ball("final", 1, "runs", 4))
	now = now.Add(1)
	if err := withToken(t, s, "a", add(6)); err != nil {
		t.Error(err)
	}
	storetest.WantItem(t, "ten minutes later", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), storetest.Ball("final", 1, "runs", 10))
	now = now.Add(time.Minute)
	storetest.WantFault(t, withToken(t, s, "a", add(4)), fault.Conflict, "idempotent_parameter_mismatch")
}

// TestTokenTellsRequestsApart: every part of a request is in the hash, and the order of maps is not.
func TestTokenTellsRequestsApart(t *testing.T) {
	others := storetest.Balls()
	others.Name = "others"
	s := storetest.Open(t, storetest.Balls(), others)
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1))
	named := func(table string, key attr.Item, name, condition string, v any) store.WriteItem {
		return store.WriteItem{Update: &store.UpdateItem{
			Table: table, Key: key, Update: "SET #n = :v", Condition: condition,
			Params: expr.Params{Names: map[string]string{"#n": name}, Values: storetest.Item(":v", v)},
		}}
	}
	requests := [][]store.WriteItem{
		{named("balls", storetest.Ball("final", 1), "x", "", 1)},
		{named("balls", storetest.Ball("final", 2), "x", "", 1)},
		{named("balls", storetest.Ball("final", 1), "y", "", 1)},
		{named("balls", storetest.Ball("final", 1), "x", "attribute_exists(runs)", 1)},
		{named("balls", storetest.Ball("final", 1), "x", "", "1")},
		{named("others", storetest.Ball("final", 1), "x", "", 1)},
		{named("balls", storetest.Ball("final", 1), "x", "", 1), deleteBall(9)},
		{named("balls", storetest.Ball("final", 1), "x", "", 1), checkBall(9, "attribute_not_exists(ball)")},
		{putBall(1), deleteBall(2)},
		{putBall(2), deleteBall(1)},
	}
	for i, first := range requests {
		token := strconv.Itoa(i)
		if err := withToken(t, s, token, first...); err != nil {
			t.Fatal(i, err)
		}
		for j, again := range requests {
			err := withToken(t, s, token, again...)
			if (err == nil) != (i == j) {
				t.Errorf("request %d with the token of %d: %v", j, i, err)
			}
		}
	}
	up := &store.UpdateItem{
		Table: "balls", Key: storetest.Ball("final", 1), Update: "SET a = :a, b = :b, c = :c, d = :d",
		Params: storetest.Values(":a", 1, ":b", 2, ":c", 3, ":d", 4),
	}
	for range 20 {
		if err := withToken(t, s, "maps", store.WriteItem{Update: up}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTokensThatAreNotKept(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	err := withToken(t, s, strings.Repeat("ü", 37), putBall(1))
	storetest.WantFault(t, err, fault.Invalid, "validation")
	if err == nil || err.Error() != "1 validation error detected: Value at 'ClientRequestToken' failed to satisfy "+
		"constraint: Member must have length less than or equal to 36" {
		t.Error(err)
	}
	if err := withToken(t, s, strings.Repeat("ü", 36), putBall(1)); err != nil {
		t.Error(err)
	}
	absent := onlyIf(updateBall(2, "ADD runs :n", ":n", 1), "attribute_not_exists(runs)")
	storetest.Put(t, s, "balls", storetest.Ball("final", 2, "runs", 1))
	wantReasons(t, "before", withToken(t, s, "t", absent), store.ReasonConditionFailed)
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 2)})
		return err
	})
	if err := withToken(t, s, "t", absent); err != nil {
		t.Errorf("a canceled transaction has left its token: %v", err)
	}
	storetest.WantItem(t, "item", storetest.Get(t, s, "balls", storetest.Ball("final", 2)), storetest.Ball("final", 2, "runs", 1))
	if err := withToken(t, s, "t", absent); err != nil {
		t.Errorf("the repetition is judged again: %v", err)
	}
	before := s.Seq()
	checks := checkBall(2, "attribute_exists(runs)")
	if err := errors.Join(withToken(t, s, "checks", checks), withToken(t, s, "checks", checks)); err != nil || s.Seq() != before {
		t.Errorf("%v", err)
	}
	storetest.WantFault(t, withToken(t, s, "checks", deleteBall(2)), fault.Conflict, "idempotent_parameter_mismatch")
}

func TestTokensOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := store.Open(path, store.Options{NoSync: true})
	if err == nil {
		err = s.Define(t.Context(), storetest.Balls())
	}
	if err == nil {
		err = errors.Join(withToken(t, s, "t", updateBall(1, "ADD runs :n", ":n", 4)), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, path, store.Options{NoSync: true}, storetest.Balls())
	if err := withToken(t, s, "t", updateBall(1, "ADD runs :n", ":n", 4)); err != nil {
		t.Error(err)
	}
	storetest.WantItem(t, "item", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), storetest.Ball("final", 1, "runs", 4))
}

package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// The four actions of a transaction, on balls of one match.

func putBall(n int, more ...any) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", n, more...)}}
}

func updateBall(n int, update string, pairs ...any) store.WriteItem {
	return store.WriteItem{Update: &store.UpdateItem{
		Table: "balls", Key: storetest.Ball("final", n), Update: update, Params: params(pairs),
	}}
}

func deleteBall(n int) store.WriteItem {
	return store.WriteItem{Delete: &store.DeleteItem{Table: "balls", Key: storetest.Ball("final", n)}}
}

func checkBall(n int, condition string, pairs ...any) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{
		Table: "balls", Key: storetest.Ball("final", n), Condition: condition, Params: params(pairs),
	}}
}

// params returns the parameters of an expression, with nil values if there are none.
func params(pairs []any) expr.Params {
	if len(pairs) == 0 {
		return expr.Params{}
	}
	return storetest.Values(pairs...)
}

// onlyIf adds a condition to an action.
func onlyIf(it store.WriteItem, condition string) store.WriteItem {
	switch {
	case it.Put != nil:
		it.Put.Condition = condition
	case it.Update != nil:
		it.Update.Condition = condition
	default:
		it.Delete.Condition = condition
	}
	return it
}

// transact runs one TransactWrite in a closure that continues whatever the result.
func transact(t testing.TB, s *store.Store, items ...store.WriteItem) (err error) {
	t.Helper()
	storetest.Update(t, s, func(tx *store.Tx) error {
		err = tx.TransactWrite(store.TransactWrite{Items: items})
		return nil
	})
	return err
}

// wantReasons compares the codes of a canceled transaction, and returns its reasons.
func wantReasons(t testing.TB, name string, err error, codes ...string) []store.CancellationReason {
	t.Helper()
	canceled, ok := errors.AsType[*store.TransactionCanceledError](err)
	if !ok || !fault.Is(err, fault.Conflict) {
		t.Fatalf("%s: got %v, want a canceled transaction", name, err)
	}
	want := "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]"
	if err.Error() != want || len(canceled.Reasons) != len(codes) {
		t.Errorf("%s: got %q, want %q", name, err, want)
	}
	return canceled.Reasons
}

func TestTransactWriteDoesAllOfIt(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1), storetest.Ball("final", 2))
	storetest.Put(t, s, "matches", storetest.Item("match", "final"))
	before := s.Seq()
	err := transact(t, s,
		onlyIf(updateBall(1, "ADD runs :n", ":n", 4), "attribute_exists(runs)"),
		onlyIf(deleteBall(2), "attribute_not_exists(runs)"),
		onlyIf(putBall(3, "bowler", "archer"), "attribute_not_exists(ball)"),
		store.WriteItem{Check: &store.ConditionCheck{
			Table: "matches", Key: storetest.Item("match", "final"), Condition: "attribute_exists(#m)",
			Params: expr.Params{Names: map[string]string{"#m": "match"}},
		}},
		deleteBall(4),
		checkBall(5, "attribute_not_exists(ball)"),
	)
	if err != nil {
		t.Fatal(err)
	}
	storetest.WantItem(t, "updated", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), storetest.Ball("final", 1, "runs", 5))
	storetest.WantItem(t, "deleted", storetest.Get(t, s, "balls", storetest.Ball("final", 2)), nil)
	storetest.WantItem(t, "put", storetest.Get(t, s, "balls", storetest.Ball("final", 3)), storetest.Ball("final", 3, "bowler", "archer"))
	records := storetest.Journal(t, s, before)
	if len(records) != 3 {
		t.Fatalf("%d records for three changes", len(records))
	}
	for i, op := range []store.Op{store.OpUpdate, store.OpDelete, store.OpPut} {
		if r := records[i]; r.Op != op || r.Txn != before+1 {
			t.Errorf("record %d: %v of transaction %d", i, r.Op, r.Txn)
		}
	}
	if r := records[0].Request; r.Update != "ADD runs :n" || r.Condition != "attribute_exists(runs)" {
		t.Errorf("the journal has lost the request: %+v", r)
	}
}

// TestTransactWriteRefused: faults of the request as a whole, with DynamoDB's texts.
func TestTransactWriteRefused(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1))
	many := make([]store.WriteItem, 101)
	for i := range many {
		many[i] = putBall(i)
	}
	var large []store.WriteItem
	for i := range 11 {
		large = append(large, putBall(i, "t", strings.Repeat("x", 400_000)))
	}
	deep := attr.S("x")
	for range 32 {
		deep = attr.L(deep)
	}
	const atItems = "1 validation error detected: Value at 'TransactItems' failed to satisfy constraint: "
	cases := map[string]struct {
		items []store.WriteItem
		says  string
	}{
		"none":      {nil, atItems + "Member must have length greater than or equal to 1"},
		"too many":  {many, atItems + "Member must have length less than or equal to 100"},
		"too large": {large, "Transaction payload size cannot exceed 4MB. Payload Size: 4400186"},
		"empty item": {
			[]store.WriteItem{putBall(1), {}},
			"action 1 of a transaction must be one of Put, Update, Delete and Check, a Check with a condition",
		},
		"two in one": {
			[]store.WriteItem{{Put: putBall(1).Put, Delete: deleteBall(1).Delete}},
			"action 0 of a transaction must be one of Put, Update, Delete and Check, a Check with a condition",
		},
		"one item twice": {
			[]store.WriteItem{putBall(1), deleteBall(1)},
			"Transaction request cannot include multiple operations on one item",
		},
		"a check and a write": {
			[]store.WriteItem{checkBall(1, "attribute_exists(runs)"), updateBall(1, "REMOVE runs")},
			"Transaction request cannot include multiple operations on one item",
		},
		"check without a condition": {
			[]store.WriteItem{putBall(2), checkBall(1, "")},
			"action 1 of a transaction must be one of Put, Update, Delete and Check, a Check with a condition",
		},
		"syntax ahead of the table": {
			[]store.WriteItem{
				{Delete: &store.DeleteItem{Table: "bowls", Key: storetest.Ball("final", 1)}}, checkBall(1, "attribute_exists("),
			},
			`Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`,
		},
		"unused value ahead of two on one item": {
			[]store.WriteItem{putBall(1), checkBall(1, "attribute_exists(runs)", ":v", 1)},
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
		},
		"item too large": {
			[]store.WriteItem{putBall(1, "t", strings.Repeat("x", 409_600))},
			"Item size has exceeded the maximum allowed size",
		},
		"item too deep": {
			[]store.WriteItem{putBall(1, "t", deep)},
			"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
		},
		"empty key": {
			[]store.WriteItem{{Delete: &store.DeleteItem{Table: "balls", Key: storetest.Ball("", 1)}}},
			"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty " +
				"string value. Key: match",
		},
		"empty index key": {
			[]store.WriteItem{putBall(1, "bowler", "")},
			"One or more parameter values are not valid. A value specified for a secondary index key is not supported. The " +
				"AttributeValue for a key attribute cannot contain an empty string value. IndexName: bowler-index, IndexKey: bowler",
		},
		"index key updated to nothing": {
			[]store.WriteItem{putBall(2), updateBall(1, "SET bowler = :b", ":b", "")},
			"One or more parameter values are not valid. The update expression attempted to update a secondary index key to a " +
				"value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.",
		},
	}
	before := s.Seq()
	for name, c := range cases {
		err := transact(t, s, c.items...)
		storetest.WantFault(t, err, fault.Invalid, "validation")
		if err != nil && err.Error() != c.says {
			t.Errorf("%s:\n%s, want\n%s", name, err, c.says)
		}
	}
	err := transact(t, s, putBall(1), store.WriteItem{Put: &store.PutItem{Table: "bowls", Item: storetest.Ball("final", 1)}})
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
	if s.Seq() != before {
		t.Error("a refused transaction has written")
	}
}

// TestTransactWriteCanceled: faults of one action and its item.
func TestTransactWriteCanceled(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	half := strings.Repeat("x", 300_000)
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1, "note", "one"), storetest.Ball("final", 2, "half", half))
	cases := map[string]struct {
		item store.WriteItem
		code string
		says string
	}{
		"condition": {onlyIf(putBall(1), "attribute_not_exists(runs)"), store.ReasonConditionFailed, "The conditional request failed"},
		"operand": {
			updateBall(1, "SET runs = note + :n", ":n", 1), store.ReasonValidation,
			"An operand in the update expression has an incorrect data type",
		},
		"missing operand": {
			updateBall(1, "SET runs = gone + :n", ":n", 1), store.ReasonValidation,
			"The provided expression refers to an attribute that does not exist in the item",
		},
		"path": {
			updateBall(1, "SET gone.x = :n", ":n", 1), store.ReasonValidation,
			"The document path provided in the update expression is invalid for update",
		},
		"grown too large": {
			updateBall(2, "SET more = half"), store.ReasonValidation,
			"Item size to update has exceeded the maximum allowed size",
		},
		"key attribute": {
			updateBall(1, "SET ball = :n", ":n", 1), store.ReasonValidation,
			"One or more parameter values were invalid: Cannot update attribute ball. This attribute is part of the key",
		},
		"index key put": {
			putBall(1, "bowler", 7), store.ReasonValidation,
			"One or more parameter values were invalid: Type mismatch for Index Key bowler Expected: S Actual: N " +
				"IndexName: bowler-index",
		},
		"index key before the condition": {
			onlyIf(putBall(1, "bowler", 7), "attribute_not_exists(runs)"), store.ReasonValidation,
			"One or more parameter values were invalid: Type mismatch for Index Key bowler Expected: S Actual: N " +
				"IndexName: bowler-index",
		},
		"index key updated": {
			updateBall(1, "SET bowler = :n", ":n", 7), store.ReasonValidation,
			"One or more parameter values were invalid: Type mismatch for Index Key bowler Expected: S Actual: N " +
				"IndexName: bowler-index",
		},
		"type of the key in an item": {
			store.WriteItem{Put: &store.PutItem{Table: "matches", Item: storetest.Item("match", 5)}}, store.ReasonValidation,
			"One or more parameter values were invalid: Type mismatch for key match expected: S actual: N",
		},
		"type of the key": {
			store.WriteItem{Delete: &store.DeleteItem{Table: "matches", Key: storetest.Item("match", 5)}}, store.ReasonValidation,
			"The provided key element does not match the schema",
		},
		"condition before the update": {
			onlyIf(updateBall(1, "SET runs = gone + :n", ":n", 1), "attribute_exists(gone)"), store.ReasonConditionFailed,
			"The conditional request failed",
		},
	}
	before := s.Seq()
	for name, c := range cases {
		reasons := wantReasons(t, name, transact(t, s, putBall(9), c.item), store.ReasonNone, c.code)
		if reasons[0].Message != "" || reasons[0].Item != nil || reasons[1].Message != c.says {
			t.Errorf("%s: %+v, want %s", name, reasons, c.says)
		}
	}
	if s.Seq() != before {
		t.Error("a canceled transaction has written")
	}
}

// TestTransactWriteCollectsReasons: every action is judged against the state before, and failed ones return their item.
func TestTransactWriteCollectsReasons(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1), storetest.Ball("final", 3, "runs", 3, "ttl", 1))
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 7)})
		if err != nil {
			return err
		}
		err = tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
			onlyIf(updateBall(1, "ADD runs :n", ":n", 1), "attribute_not_exists(runs)"),
			putBall(2),
			checkBall(3, "runs = :r", ":r", 4),
			updateBall(4, "SET runs = runs + :n", ":n", 1),
			onlyIf(deleteBall(5), "attribute_exists(runs)"),
			checkBall(7, "attribute_exists(ball)"),
		}})
		failed, invalid, none := store.ReasonConditionFailed, store.ReasonValidation, store.ReasonNone
		reasons := wantReasons(t, "all", err, failed, none, failed, invalid, none, none) // none after an invalid one
		storetest.WantItem(t, "first", reasons[0].Item, storetest.Ball("final", 1, "runs", 1))
		storetest.WantItem(t, "third", reasons[2].Item, storetest.Ball("final", 3, "runs", 3, "ttl", 1))
		storetest.WantItem(t, "not there", reasons[4].Item, nil)
		_, err = tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 8)})
		return err
	})
	for n, want := range map[int]bool{2: false, 4: false, 7: true, 8: true} {
		if it := storetest.Get(t, s, "balls", storetest.Ball("final", n)); (it != nil) != want {
			t.Errorf("ball %d: %s", n, storetest.Show(it))
		}
	}
}

// TestTransactWriteInAFailedUpdate: the changes of a transaction are rolled back with the closure around it.
func TestTransactWriteInAFailedUpdate(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	before := s.Seq()
	twice := store.TransactWrite{Items: []store.WriteItem{putBall(1)}, Token: "t"}
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.TransactWrite(twice); err != nil {
			t.Error(err)
		}
		return errMember
	})
	if !errors.Is(err, errMember) || s.Seq() != before {
		t.Errorf("%v, at %d", err, s.Seq()-before)
	}
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.TransactWrite(twice) })
	storetest.WantItem(t, "item", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), storetest.Ball("final", 1))
	err = s.View(context.Background(), func(tx *store.Tx) error { return tx.TransactWrite(twice) })
	storetest.WantFault(t, err, fault.Internal, "tx_read_only")
}

func TestTransactGet(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1), storetest.Ball("final", 2, "runs", 2, "ttl", int(time.Now().Unix())-10))
	storetest.Put(t, s, "matches", storetest.Item("match", "final", "m", attr.M(storetest.Item("x", 1, "y", 2))))
	ask := func(items ...store.GetItem) (out []attr.Item, err error) {
		storetest.View(t, s, func(tx *store.Tx) error {
			out, err = tx.TransactGet(items)
			return nil
		})
		return out, err
	}
	one := store.GetItem{Table: "balls", Key: storetest.Ball("final", 1)}
	out, err := ask(one,
		store.GetItem{Table: "matches", Key: storetest.Item("match", "final"), Projection: "m.x"},
		store.GetItem{Table: "balls", Key: storetest.Ball("final", 2)},
		store.GetItem{Table: "balls", Key: storetest.Ball("final", 3)},
		store.GetItem{Table: "matches", Key: storetest.Item("match", "semi"), Projection: "gone"})
	if err != nil || len(out) != 5 {
		t.Fatalf("%v, %v", out, err)
	}
	storetest.WantItem(t, "whole", out[0], storetest.Ball("final", 1, "runs", 1))
	storetest.WantItem(t, "part", out[1], storetest.Item("m", attr.M(storetest.Item("x", 1))))
	for i, what := range []string{"expired", "not there", "nothing of what is not there"} {
		storetest.WantItem(t, what, out[2+i], nil)
	}
	_, err = ask(one, store.GetItem{Table: "matches", Key: storetest.Item("match", 5)})
	reasons := wantReasons(t, "key", err, store.ReasonNone, store.ReasonValidation)
	if reasons[1].Message != "The provided key element does not match the schema" {
		t.Errorf("%+v", reasons)
	}
	_, err = ask(store.GetItem{Table: "bowls", Key: storetest.Item("match", "x")})
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
	many := make([]store.GetItem, 101)
	const atItems = "1 validation error detected: Value at 'TransactItems' failed to satisfy constraint: "
	for says, items := range map[string][]store.GetItem{
		atItems + "Member must have length greater than or equal to 1":       nil,
		atItems + "Member must have length less than or equal to 100":        many,
		"Transaction request cannot include multiple operations on one item": {one, one},
		"ExpressionAttributeNames can only be specified when using expressions": {
			{Table: "balls", Key: one.Key, Params: expr.Params{Names: map[string]string{"#n": "n"}}},
		},
	} {
		_, err := ask(items...)
		storetest.WantFault(t, err, fault.Invalid, "validation")
		if err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

func TestTransactGetIsBounded(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	var keys []store.GetItem
	for i := range 11 {
		storetest.Put(t, s, "balls", storetest.Ball("final", i, "t", strings.Repeat("x", 409_000)))
		keys = append(keys, store.GetItem{Table: "balls", Key: storetest.Ball("final", i), Projection: "ball"})
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		out, err := tx.TransactGet(keys[:10])
		if len(out) != 10 {
			t.Errorf("%d items", len(out))
		}
		_, refused := tx.TransactGet(keys)
		storetest.WantFault(t, refused, fault.Invalid, "validation")
		if refused == nil || !strings.HasPrefix(refused.Error(), "Payload in response is too large.4499") {
			t.Error(refused)
		}
		return err
	})
}

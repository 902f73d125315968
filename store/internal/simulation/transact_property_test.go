package simulation_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// drawCondition draws a condition on a ball that holds about half of the time.
func drawCondition(rt *rapid.T) (string, attr.Item) {
	switch rapid.IntRange(0, 3).Draw(rt, "condition") {
	case 0:
		return "attribute_exists(runs)", nil
	case 1:
		return "attribute_not_exists(bowler)", nil
	default:
		return "runs < :max OR attribute_not_exists(ball)", storetest.Item(":max", rapid.IntRange(0, 6).Draw(rt, "max"))
	}
}

// drawAction draws an action on a given ball. One update in two does not fit an item without runs.
func drawAction(rt *rapid.T, n int) store.WriteItem {
	var condition string
	var vals attr.Item
	op := rapid.IntRange(0, 3).Draw(rt, "action")
	if op == 3 || rapid.IntRange(0, 3).Draw(rt, "conditional") == 0 {
		condition, vals = drawCondition(rt)
	}
	p := expr.Params{Values: vals}
	key := storetest.Ball("final", n)
	switch op {
	case 0:
		it := storetest.Ball("final", n, "bowler", rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "bowler"))
		if rapid.Bool().Draw(rt, "has runs") {
			it["runs"] = attr.Int(rapid.Int64Range(0, 6).Draw(rt, "runs"))
		}
		return store.WriteItem{Put: &store.PutItem{Table: "balls", Item: it, Condition: condition, Params: p}}
	case 1:
		text := rapid.SampledFrom([]string{"ADD runs :n REMOVE bowler", "SET runs = runs + :n"}).Draw(rt, "update")
		if p.Values == nil {
			p.Values = attr.Item{}
		}
		p.Values[":n"] = attr.Int(1)
		return store.WriteItem{Update: &store.UpdateItem{Table: "balls", Key: key, Update: text, Condition: condition, Params: p}}
	case 2:
		return store.WriteItem{Delete: &store.DeleteItem{Table: "balls", Key: key, Condition: condition, Params: p}}
	}
	return store.WriteItem{Check: &store.ConditionCheck{Table: "balls", Key: key, Condition: condition, Params: p}}
}

// drawTransaction draws actions on different balls.
func drawTransaction(rt *rapid.T) (items []store.WriteItem) {
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(1, 8), 1, 5, rapid.ID[int]).Draw(rt, "balls") {
		items = append(items, drawAction(rt, n))
	}
	return items
}

// single does one action by itself. A check is an empty update, which is undone.
func single(tx *store.Tx, it store.WriteItem) (err error) {
	switch {
	case it.Put != nil:
		_, err = tx.Put(*it.Put)
	case it.Update != nil:
		_, err = tx.Update(*it.Update)
	case it.Delete != nil:
		_, err = tx.Delete(*it.Delete)
	default:
		err = judged(tx, it.Check)
	}
	return err
}

// judged returns the verdict of a check, using only Put and Delete.
func judged(tx *store.Tx, c *store.ConditionCheck) error {
	old, err := tx.Delete(store.DeleteItem{Table: c.Table, Key: c.Key, Condition: c.Condition, Params: c.Params})
	if err == nil && old != nil {
		_, err = tx.Put(store.PutItem{Table: c.Table, Item: old})
	}
	return err
}

// contents returns a whole table as text.
func contents(t testing.TB, s *store.Store) (all string) {
	t.Helper()
	storetest.View(t, s, func(tx *store.Tx) error {
		page, err := tx.Scan(store.Scan{Table: "balls"})
		for _, it := range page.Items {
			all += storetest.Show(it) + "\n"
		}
		return err
	})
	return all
}

// codes returns for each action the code that TransactWrite should report, by doing each of them alone. After the first invalid one it
// reports none.
func codes(t testing.TB, s *store.Store, items []store.WriteItem) (out []string, fine bool) {
	t.Helper()
	fine = true
	for _, it := range items {
		code := store.ReasonNone
		err := s.Update(t.Context(), func(tx *store.Tx) error { return errors.Join(single(tx, it), errMember) })
		switch _, failed := errors.AsType[*store.ConditionFailedError](err); {
		case failed:
			code = store.ReasonConditionFailed
		case fault.Is(err, fault.Invalid):
			code = store.ReasonValidation
		}
		if slices.Contains(out, store.ReasonValidation) {
			code = store.ReasonNone
		}
		fine = fine && code == store.ReasonNone
		out = append(out, code)
	}
	return out, fine
}

// TestTransactWriteIsItsParts: a transaction does what its actions do one after the other if each of them can be done, and nothing
// otherwise; for each it returns the reason with which the action alone would fail.
func TestTransactWriteIsItsParts(t *testing.T) {
	whole, parts := storetest.Open(t, storetest.Balls()), storetest.Open(t, storetest.Balls())
	rapid.Check(t, func(rt *rapid.T) {
		items := drawTransaction(rt)
		want, fine := codes(t, whole, items)
		before, seq := contents(t, whole), whole.Seq()
		err := transact(t, whole, items...)
		if !fine {
			canceled, ok := errors.AsType[*store.TransactionCanceledError](err)
			if !ok || contents(t, whole) != before || whole.Seq() != seq {
				rt.Fatalf("%v, at %d from %d", err, whole.Seq(), seq)
			}
			got := make([]string, len(canceled.Reasons))
			for i, r := range canceled.Reasons {
				got[i] = r.Code
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("reasons %v, want %v", got, want)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		storetest.Update(t, parts, func(tx *store.Tx) error {
			for _, it := range items {
				if it.Check != nil {
					continue
				}
				if err := single(tx, it); err != nil {
					return err
				}
			}
			return nil
		})
		if a, b := contents(t, whole), contents(t, parts); a != b || whole.Seq() != parts.Seq() {
			rt.Fatalf("as a whole at %d:\n%s\nin parts at %d:\n%s", whole.Seq(), a, parts.Seq(), b)
		}
		sameRecords(t, rt, whole, parts, seq)
	})
}

// sameRecords compares the records after a sequence, which belong to one transaction.
func sameRecords(t *testing.T, rt *rapid.T, whole, parts *store.Store, after uint64) {
	a, b := storetest.Journal(t, whole, after), storetest.Journal(t, parts, after)
	if len(a) != len(b) {
		rt.Fatalf("%d records, want %d", len(a), len(b))
	}
	for i := range a {
		x, y := a[i], b[i]
		if x.Txn != after+1 || x.Op != y.Op || !storetest.SameItem(x.Old, y.Old) || !storetest.SameItem(x.New, y.New) ||
			x.Request.Update != y.Request.Update || x.Request.Condition != y.Request.Condition {
			rt.Fatalf("record %d: %+v, want %+v", i, x, y)
		}
	}
}

// TestTokenRepeatedChangesNothingWhateverItWas: neither at once nor after others have written.
func TestTokenRepeatedChangesNothingWhateverItWas(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		token := fmt.Sprint("token ", n)
		items := drawTransaction(rt)
		first := withToken(t, s, token, items...)
		for range rapid.IntRange(0, 2).Draw(rt, "others") {
			_ = transact(t, s, drawTransaction(rt)...)
		}
		before, seq := contents(t, s), s.Seq()
		if first != nil {
			return // nothing was done: the token is free
		}
		if err := withToken(t, s, token, items...); err != nil || s.Seq() != seq || contents(t, s) != before {
			rt.Fatalf("%v, at %d from %d", err, s.Seq(), seq)
		}
	})
}

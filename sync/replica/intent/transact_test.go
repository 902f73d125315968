package intent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

func (n *node) mustTransact(ops ...op) []*Entry {
	n.w.t.Helper()
	entries, err := n.transact(ops...)
	if err != nil {
		n.w.t.Fatal(err)
	}
	return entries
}

func (n *node) results(entries []*Entry, r Result, code Code) {
	n.w.t.Helper()
	for _, e := range entries {
		n.result(e, r, code)
	}
}

func TestTransactionAnswerLostAnItemDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	txn := a.mustTransact(put("t", "i", "attribute_not_exists(pk)", "x", 1), put("t", "j", "attribute_not_exists(pk)", "x", 1))
	a.step(loseAnswer)
	b.learn("t", "i")
	b.write(remove("t", "i", ""))
	b.drain()
	a.drain()
	a.results(txn, OutApplied, "")
	w.want("t", "i", "nothing")
	w.want("t", "j", `{"x":{"N":"1"}}`)
	if got := show(a.view("t", "j")); got != `{"x":{"N":"1"}}` {
		t.Errorf("the view is %s", got)
	}
}

func TestTransactionLostBeforeArrivalAnItemDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	w.made("b", "i", "a")
	w.made("b", "j", "a")
	txn := a.mustTransact(update("t", "i", "SET x = :x", "", ":x", 1), update("t", "j", "SET x = :x", "", ":x", 1))
	a.step(delay)
	b.write(remove("t", "i", ""))
	b.drain()
	a.drain()
	a.results(txn, OutConflict, CodeDeleted)
	w.deliver()
	w.want("t", "i", "nothing")
	w.want("t", "j", `{"x":{"N":"0"}}`)
}

func TestTransactionIsClosedBeforeItsConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	w.made("a", "j")
	txn := a.mustTransact(update("t", "i", "SET x = :y", "x = :x", ":x", 0, ":y", 1), update("t", "j", "SET x = :x", "", ":x", 1))
	a.step(delay)
	w.foreignSet("t", "i", "x", 9)
	a.drain()
	a.results(txn, OutConflict, CodeCondition)
	w.foreignSet("t", "i", "x", 0)
	w.deliver()
	w.want("t", "i", `{"x":{"N":"0"}}`)
	w.want("t", "j", `{"x":{"N":"0"}}`)
}

func TestTransactionOfDeletesOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	w.made("a", "i", "b")
	w.foreignPut("t", "j", "x", 0)
	a.learn("t", "j")
	txn := a.mustTransact(remove("t", "i", ""), remove("t", "j", ""))
	a.step(loseAnswer)
	b.known = map[string]Known{}
	b.write(put("t", "i", "", "x", 5))
	b.drain()
	w.foreignPut("t", "j", "x", 6)
	a.drain()
	a.results(txn, OutApplied, "")
	w.want("t", "i", `{"x":{"N":"5"}}`)
	w.want("t", "j", `{"x":{"N":"6"}}`)
}

func TestSixtyCreatesInOneTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	var ops []op
	for i := range 60 {
		ops = append(ops, put("t", fmt.Sprint(i), "attribute_not_exists(pk)", "x", i))
	}
	txn := a.mustTransact(ops...)
	a.step(loseAnswer)
	a.crash()
	a.drain()
	a.results(txn, OutApplied, "")
	if got := w.cloud.effects[WriteID("a", txn[59].Seq)]; got != 1 {
		t.Errorf("it was applied %d times", got)
	}
}

func TestTransactionMovesToTheLifeThatIsThere(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{arrive, loseRequest, delay} {
		w := newWorld(t)
		a := w.node("a")
		w.made("b", "i")
		txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), remove("t", "j", ""), put("t", "k", "", "x", 1))
		a.step(f)
		a.drain()
		w.deliver()
		a.results(txn, OutApplied, "")
		w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)
		w.want("t", "k", `{"x":{"N":"1"}}`)
	}
}

func TestTransactionWhoseDeleteHasNothingLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	w.made("b", "i", "a")
	txn := a.mustTransact(remove("t", "i", ""), put("t", "k", "", "x", 1))
	b.write(remove("t", "i", ""))
	b.drain()
	a.drain()
	a.results(txn, OutApplied, "")
	w.want("t", "k", `{"x":{"N":"1"}}`)
}

func TestTransactionCondition(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{arrive, loseRequest, loseAnswer} {
		w := newWorld(t)
		a := w.node("a")
		w.made("b", "i", "a")
		txn := a.mustTransact(put("t", "k", "", "x", 1), check("t", "i", "x = :x", ":x", 0))
		w.foreignSet("t", "i", "x", 1)
		a.step(f)
		a.drain()
		a.results(txn, OutConflict, CodeCondition)
		w.want("t", "k", "nothing")
	}
}

func TestTransactionTransientReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	txn := a.mustTransact(update("t", "i", "SET x = :y", "x = :x", ":x", 0, ":y", 1), put("t", "k", "", "x", 1))
	o := a.refuse(&Error{Class: Canceled, Reasons: []Reason{{Class: ConditionFailed, Old: w.cloud.items[at("t", key("i"))]}, {Class: Throttled}, {Class: Applied}}})
	if o.Result != OutThrottled || txn[0].Unsure {
		t.Errorf("it means %+v", o)
	}
	a.drain()
	a.results(txn, OutApplied, "")
}

func TestTransactionOfAnotherHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	txn := a.mustTransact(put("t", "i", "", "x", 1), put("t", "k", "", "x", 1))
	w.cloud.write(proofCall(txn[0], false, a.env()))
	if o := a.refuse(w.cloud.transact(a.batch().calls(a.bases(a.batch()), a.env()))); o.Result != OutTimeline {
		t.Errorf("it means %+v", o)
	}
}

func TestWhatATransactionTakes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 50_000)
	many := func(n int, table string, text string) (ops []op) {
		for i := range n {
			ops = append(ops, put(table, fmt.Sprint(i), "", "x", text))
		}
		return ops
	}
	for _, c := range []struct {
		name         string
		ops          []op
		transactions bool
		want         string
	}{
		{"99 items", many(99, "t", ""), true, ""},
		{"100 items", many(100, "t", ""), true, "Member must have length less than or equal to 99"},
		{"4 MB", many(90, "t", long), true, "Transaction payload size cannot exceed 4MB"},
		{"two classes", append(many(1, "t", ""), many(1, "newest", "")...), true, "policies intent and newest"},
		{"no transactions", many(2, "t", ""), false, "has no transactions"},
		{"one item, no transactions", many(1, "t", ""), false, ""},
		{"one item and one that stays here, no transactions", append(many(1, "t", ""), many(1, "local", "")...), false, ""},
	} {
		w := newWorld(t)
		w.transactions = c.transactions
		_, err := w.node("a").transact(c.ops...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestTransactionIsSplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	got := a.mustTransact(
		put("state", "1", "", "s", 1, "_f", 5), put("t", "i", "", "x", 1), put("local", "i", "", "x", 1), put("u", "i", "", "x", 1),
		check("t", "c", "attribute_not_exists(pk)"), check("local", "c", "attribute_not_exists(pk)"),
		remove("t", "nothing", "attribute_not_exists(pk)"), remove("t", "nothing2", ""),
	)
	if len(got) != 3 {
		t.Fatalf("%d entries", len(got))
	}
	t1, u1, state := got[0], got[1], got[2]
	if t1.Table != "t" || u1.Table != "u" || t1.Txn != t1.Seq || u1.Txn != t1.Seq || state.Txn != 0 || state.Table != "state" {
		t.Errorf("entries %+v %+v %+v", t1, u1, state)
	}
	if len(t1.Checks) != 2 || t1.Checks[1].Table != "t" || !attr.EqualItems(t1.Checks[1].Key, key("nothing")) || len(u1.Checks) != 0 {
		t.Errorf("checks %+v", t1.Checks)
	}
}

// The proof row can be lost with its table, or have expired: the mark on one item proves the transaction too, whatever others have
// done to the other items.
func TestTransactionWhoseProofIsGone(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		w.made("a", "i")
		txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), put("t", "k", "", "x", 1))
		a.step(loseAnswer)
		for k, it := range w.cloud.items {
			if strings.HasPrefix(k, "touchline-sync") && strings.HasPrefix(it[SyncKey].Str(), "txn#") {
				delete(w.cloud.items, k)
			}
		}
		if deleted {
			b.learn("t", "k")
			b.write(remove("t", "k", ""))
			b.drain()
		}
		a.crash()
		a.drain()
		a.results(txn, OutApplied, "")
		w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)
		if there := w.item("t", "k") != nil; there == deleted {
			t.Errorf("deleted %v, and it is there %v", deleted, there)
		}
	}
}

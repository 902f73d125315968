package intent

import (
	"testing"

	"github.com/touchline/touchline/store/attr"
)

// replayed makes an entry of the node wait again, as after a restore of the cloud.
func (n *node) replayed(e *Entry, before bool) {
	e.replay, e.Unsure, e.before, e.again, e.Dead = true, true, before, 7, false
	e.step, e.met = stepSend, met{}
	n.queue = append(n.queue, e)
}

// A create settled before the restore point whose life is missing may have been deleted or replaced before that point: it is recorded
// and not repeated, and the item that is there is not touched.
func TestCreateFromBeforeTheRestorePoint(t *testing.T) {
	t.Parallel()
	for _, transactions := range []bool{true, false} {
		w := newWorld(t)
		w.transactions = transactions
		a := w.node("a")
		create := func() *Entry {
			e := a.write(put("t", "i", "", "x", 1))
			a.drain()
			return e
		}
		e := create()
		a.replayed(e, true)
		a.drain()
		a.result(e, OutApplied, "") // the restored cloud still has it

		w.foreignDelete("t", "i")
		a.learn("t", "i")
		a.replayed(e, true)
		a.drain()
		a.result(e, OutConflict, CodeRestored)
		if it := w.cloud.items[at("t", key("i"))]; it != nil {
			t.Errorf("the deleted item is there again: %v", it)
		}

		w.made("b", "i")
		was := w.cloud.items[at("t", key("i"))]
		a.learn("t", "i")
		a.replayed(e, true)
		a.drain()
		a.result(e, OutConflict, CodeRestored)
		if it := w.cloud.items[at("t", key("i"))]; !attr.EqualItems(it, was) {
			t.Errorf("another's item was %v and is %v", was, it)
		}
	}
}

// A create that the restored cloud has lost is repeated. If the item was created by another since, that one is the newer.
func TestCreateFromAfterTheRestorePoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	e := a.write(put("t", "i", "", "x", 1))
	a.drain()
	w.foreignDelete("t", "i")
	a.learn("t", "i")
	a.replayed(e, false)
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", `{"x":{"N":"1"}}`)

	w.foreignDelete("t", "i")
	w.made("b", "i")
	a.learn("t", "i")
	a.replayed(e, false)
	a.drain()
	a.result(e, OutConflict, CodeRestored)
	w.want("t", "i", `{"x":{"N":"0"}}`)
}

// A delete sent while a restored cloud is being replayed leaves a tombstone, however long its life has been settled: the life may be
// created again after it.
func TestDeleteInAReplayLeavesATombstone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("b", "i")
	life := sidecar(w, "i").Life
	a.learn("t", "i")
	e := a.write(remove("t", "i", ""))
	a.drain()
	dead := at("touchline-sync", row(DeadID(life), a.env()).Key)
	delete(w.cloud.items, dead)
	a.replayed(e, false)
	a.drain()
	a.result(e, OutApplied, "")
	if w.cloud.items[dead] == nil {
		t.Error("a replayed delete leaves no tombstone")
	}
}

// The proof of a transaction that was applied proves nothing about tables that were restored since.
func TestTransactionIsReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	was := w.cloud.items[at("t", key("i"))]
	txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), put("t", "k", "", "x", 1))
	a.drain()
	restores := int64(7)
	again := func(before bool) {
		restores++
		for _, e := range txn {
			a.replayed(e, before)
			e.again, e.Closed = restores, false
		}
	}
	again(false)
	a.drain()
	a.results(txn, OutApplied, "") // the restored cloud still has it
	w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)

	lose := func() {
		w.cloud.items[at("t", key("i"))] = was
		w.foreignDelete("t", "k")
		a.learn("t", "i")
		a.learn("t", "k")
	}
	lose()
	again(false)
	a.step(arrive)     // the read
	a.step(loseAnswer) // the transaction
	a.drain()
	a.results(txn, OutApplied, "")
	w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)
	w.want("t", "k", `{"x":{"N":"1"}}`)

	w.foreignDelete("t", "k") // only one half is there
	a.learn("t", "k")
	again(false)
	a.drain()
	a.results(txn, OutConflict, CodeHalf)
	w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)

	lose()
	again(true) // with an item deleted before the restore point
	a.drain()
	a.results(txn, OutConflict, CodeRestored)
}

// A transaction's condition on another row may no longer hold in the restored cloud: then it is refused, once.
func TestReplayedTransactionIsRefusedByItsCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	txn := a.mustTransact(put("t", "k", "", "x", 1), put("t", "l", "", "x", 1), check("t", "i", "attribute_not_exists(pk)"))
	a.drain()
	for _, id := range []string{"k", "l"} { // lost in the restore
		w.foreignDelete("t", id)
		a.learn("t", id)
	}
	w.foreignPut("t", "i", "x", 1)
	for _, e := range txn {
		a.replayed(e, false)
		e.again, e.Closed = 8, false
	}
	a.drain()
	a.results(txn, OutConflict, CodeCondition)
	for _, id := range []string{"k", "l"} {
		if w.cloud.items[at("t", key(id))] != nil {
			t.Errorf("%s was created although the check fails", id)
		}
	}
}

package intent

import "testing"

// What is behind the fork and was never sent takes new sequences without a question; what may have been sent does not.
func TestBehindTheForkNothingIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	e := a.write(put("t", "i", "", "x", 1))
	e.Lost = true
	txn := a.mustTransact(put("t", "j", "", "x", 1), put("t", "k", "", "x", 1))
	txn[0].Lost, txn[1].Lost = true, true
	for _, u := range []*Unit{{Entries: []*Entry{e}}, {Entries: txn}} {
		env, known := a.env(), make([]Known, len(u.Entries))
		env.Fork = e.Seq - 1
		act := u.Next(known, env)
		if act.Kind != ActSettle || act.Outcome.Result != OutRenumber || len(act.Outcome.Known) != len(u.Entries) {
			t.Errorf("behind the fork: %+v", act)
		}
		env.Fork = txn[1].Seq
		if act := u.Next(known, env); act.Kind != ActRead {
			t.Errorf("before the fork: %+v", act)
		}
		env.Fork = e.Seq - 1
		u.Entries[0].Sent = 1
		if act := u.Next(known, env); act.Kind != ActRead {
			t.Errorf("it may have been sent: %+v", act)
		}
	}
}

// A transaction of a lost timeline that has no proof, on an item with a greater mark of ours, can never apply: it is
// recorded, and does not have the node leave its history again and again.
func TestTransactionOutdoneInALostTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), put("t", "k", "", "x", 1))
	w.cloud.items[at("t", key("i"))][AttrMark+"a"] = (&Entry{Seq: txn[1].Seq + 1, Digits: 1}).Mark()
	txn[0].Lost, txn[1].Lost = true, true
	a.drain()
	a.results(txn, OutConflict, CodeLost)
	if w.cloud.items[at("touchline-sync", row(TxnID(WriteID("a", txn[0].Seq)), a.env()).Key)] == nil {
		t.Error("its proof is not closed: a late copy could apply")
	}
}

// A queued entry that another timeline has sent by itself is not sent once more within a later one that has taken it in.
func TestFoldedInALostTimeline(t *testing.T) {
	t.Parallel()
	for _, sent := range []bool{true, false} {
		w := newWorld(t)
		a := w.node("a")
		w.made("a", "i")
		one := a.write(update("t", "i", "ADD n :n", "", ":n", 5))
		two := a.write(update("t", "i", "ADD n :n", "", ":n", 3))
		both, ok := Coalesce(one, two, true, w.cloud.cache)
		if !ok {
			t.Fatal("they are not folded")
		}
		a.queue = []*Entry{one}
		if sent { // by a clone
			a.drain()
		}
		both.Lost = true
		a.queue = []*Entry{both}
		env := a.env()
		env.Fork = one.Seq
		u := &Unit{Entries: a.queue}
		act := u.Next(a.bases(u), env)
		if act.Kind != ActRead {
			t.Fatalf("it is not looked for: %+v", act)
		}
		o := u.Take(act, w.cloud.ask(act), a.bases(u), env)
		want := OutRenumber
		if sent {
			want = OutConflict
		}
		if o.Result != want {
			t.Errorf("sent %t: it became %d %q", sent, o.Result, o.Code)
		}
	}
}

package intent

import "testing"

// found drives a batch of a lost timeline until its outcome is known.
func (n *node) found(u *Batch, env Env) (o Outcome) {
	for range 5 {
		act := u.Next(n.bases(u), env)
		if o = u.SettleAnswer(act, n.w.cloud.ask(act), n.bases(u), env); o.Result != OutAgain {
			break
		}
	}
	return o
}

// Another copy of the node sends an entry under its old number while this one looks for it and renumbers it: whichever request comes
// first, the entry applies once. A crash after the old mark was closed does not lose it.
func TestCopyThatSendsWhatIsRenumbered(t *testing.T) {
	t.Parallel()
	for copied := range 4 { // how many steps come before the copy's request
		for _, crash := range []bool{false, true} {
			w := newWorld(t)
			a := w.node("a")
			w.made("a", "i")
			e := a.write(update("t", "i", "ADD n :n", "", ":n", 5))
			other := *e
			e.lost = true
			for k := range 4 {
				if k == copied {
					u := &Batch{Entries: []*Entry{&other}}
					w.cloud.ask(u.Next(a.bases(u), a.env()))
				}
				if crash {
					a.crash()
				}
				a.step(arrive)
			}
			a.drain()
			if n, _ := w.item("t", "i")["n"].Int(); n != 5 {
				t.Errorf("copy before step %d, crash %v: n is %d", copied, crash, n)
			}
		}
	}
}

// A batch after the fork that was never sent is renumbered without asking the cloud; one that may have been sent is not.
func TestBehindTheForkNothingIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	e := a.write(put("t", "i", "", "x", 1))
	e.lost = true
	txn := a.mustTransact(put("t", "j", "", "x", 1), put("t", "k", "", "x", 1))
	txn[0].lost, txn[1].lost = true, true
	for _, u := range []*Batch{{Entries: []*Entry{e}}, {Entries: txn}} {
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

// A transaction of a lost timeline without a proof, on an item with a greater mark of ours, can never apply: it is recorded, and does
// not make the node leave its history again and again.
func TestTransactionOutdoneInALostTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), put("t", "k", "", "x", 1))
	w.cloud.items[at("t", key("i"))][AttrMark+"a"] = (&Entry{Write: Write{Seq: txn[1].Seq + 1, Digits: 1}}).Mark()
	txn[0].lost, txn[1].lost = true, true
	a.drain()
	a.results(txn, OutConflict, CodeLost)
	if w.cloud.items[at("touchline-sync", row(TxnID(WriteID("a", txn[0].Seq)), a.env()).Key)] == nil {
		t.Error("its proof is not closed: a late copy could apply")
	}
}

// A queued entry that another timeline has sent by itself is not sent again as part of a later entry that it was folded into.
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
		both.lost = true
		a.queue = []*Entry{both}
		env := a.env()
		env.Fork = one.Seq
		u := &Batch{Entries: a.queue}
		if act := u.Next(a.bases(u), env); act.Kind != ActRead {
			t.Fatalf("it is not looked for: %+v", act)
		}
		o := a.found(u, env)
		want := OutRenumber
		if sent {
			want = OutConflict
		}
		if o.Result != want {
			t.Errorf("sent %t: it became %d %q", sent, o.Result, o.Code)
		}
	}
}

// A create that moved to another life in the lost timeline is not repeated, although the end of that life has removed its mark.
func TestMovedInALostTimeline(t *testing.T) {
	t.Parallel()
	for _, foreign := range []bool{true, false} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		a.unreported = true
		one := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
		queued := *one // in the snapshot
		if foreign {
			w.foreignPut("t", "i", "y", 2)
		} else {
			b.write(put("t", "i", "", "y", 2))
			b.drain()
		}
		a.drain()
		a.result(one, OutApplied, "")
		a.write(remove("t", "i", ""))
		a.drain()
		w.want("t", "i", "nothing")
		queued.lost = true
		a.queue, a.known = []*Entry{&queued}, map[string]Known{}
		a.drain()
		a.result(&queued, OutConflict, CodeLost)
		w.want("t", "i", "nothing")
	}
}

// A create is known by the first of the writes folded into it: a timeline that went on folding gave the life that it began the
// same name.
func TestFoldedOnInALostTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.older = true
	a, b := w.node("a"), w.node("b")
	fold := func() *Entry {
		n := len(a.queue) - 2
		f, ok := Coalesce(a.queue[n], a.queue[n+1], true, w.cloud.cache)
		if !ok {
			t.Fatal("they are not folded")
		}
		a.queue = append(a.queue[:n], f)
		return f
	}
	a.write(put("t", "i", "", "x", 1))
	a.write(update("t", "i", "SET x = :x", "", ":x", 2))
	queued := *fold() // in the snapshot
	a.write(update("t", "i", "SET x = :x", "", ":x", 3))
	fold()
	a.drain()
	w.want("t", "i", `{"x":{"N":"3"}}`)
	b.learn("t", "i")
	b.write(remove("t", "i", ""))
	a.unreported = true
	a.queue = []*Entry{&queued} // all that waits has the lower number: nothing is reported settled
	b.drain()
	w.want("t", "i", "nothing")
	queued.lost = true
	a.known = map[string]Known{}
	a.crash()
	a.drain()
	a.result(&queued, OutSuperseded, CodeTombstone)
	w.want("t", "i", "nothing")
}

// A number that an earlier history may have given to another write proves nothing, and nothing is sent under it: if the life is still
// the entry's, it is sent under a new number; otherwise it is recorded.
func TestNumberOfAnotherWriteProvesNothing(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		w := newWorld(t)
		a := w.node("a")
		w.made("a", "i")
		w.made("a", "j")
		one := a.write(update("t", "i", "ADD n :n", "", ":n", 5))
		txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), update("t", "j", "ADD n :n", "", ":n", 1))
		w.cloud.items[at("touchline-sync", row(TxnID(WriteID("a", txn[0].Seq)), a.env()).Key)] = row(TxnID(WriteID("a", txn[0].Seq)), a.env()).Key
		want := OutRenumber
		if gone {
			want = OutConflict
			delete(w.cloud.items, at("t", key("i")))
		}
		for _, u := range []*Batch{{Entries: []*Entry{one}}, {Entries: txn}} {
			env := a.env()
			env.Fork, env.Twice = txn[1].Seq, func(seq uint64) bool { return seq >= one.Seq }
			for _, e := range u.Entries {
				e.lost = true
			}
			if o := a.found(u, env); o.Result != want || gone && o.Code != CodeLost {
				t.Errorf("gone %v: it became %d %q", gone, o.Result, o.Code)
			}
		}
	}
}

// A number given twice proves nothing, but the exact mark does, because its digits belong to one write. A transaction that the lost
// timeline has sent is not sent again under another number, even if only one of its items has its mark.
func TestMarkOfADivergedNumberProvesATransaction(t *testing.T) {
	t.Parallel()
	for _, foreign := range []bool{false, true} {
		w := newWorld(t)
		a := w.node("a")
		w.made("a", "i")
		w.made("a", "j")
		txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), update("t", "j", "ADD n :n", "", ":n", 1))
		one, other := *txn[0], *txn[1] // in the snapshot
		a.drain()
		if foreign {
			w.foreignPut("t", "i", "n", 9)
		}
		one.lost, other.lost = true, true
		u := &Batch{Entries: []*Entry{&one, &other}}
		env := a.env()
		env.Fork, env.Twice = other.Seq, func(seq uint64) bool { return seq >= one.Seq }
		if o := a.found(u, env); o.Result != OutApplied || o.Known[1] == nil {
			t.Errorf("foreign %v: it became %d %q", foreign, o.Result, o.Code)
		}
	}
}

// Entries that carry the effect of a rejected one are taken along even if the rejected one was renumbered and now has a greater
// number. Otherwise its effect would arrive with them.
func TestTailOfARenumberedEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	a.write(put("t", "i", "", "version", 1, "score", 0))
	a.drain()
	first := a.write(update("t", "i", "SET score = :s", "version = :v", ":s", 10, ":v", 1))
	tail := a.write(put("t", "i", "", "version", 1, "score", 10))
	first.lost, tail.lost = true, true
	for first.lost {
		if !a.step(arrive) {
			t.Fatal("it waits")
		}
	}
	w.foreignSet("t", "i", "version", 2)
	a.drain()
	a.result(first, OutConflict, CodeCondition)
	a.result(tail, OutConflict, CodeCondition)
	w.want("t", "i", `{"score":{"N":"0"},"version":{"N":"2"}}`)
}

// A transaction whose number was given twice, and which the lost timeline reported settled, was sent there under another number.
// Nothing shows that once others have removed its mark. It is recorded, and not sent again.
func TestDivergedTransactionThatWasSettled(t *testing.T) {
	t.Parallel()
	for settled, want := range map[bool]Result{true: OutConflict, false: OutRenumber} {
		w := newWorld(t)
		a := w.node("a")
		w.made("a", "i")
		w.made("a", "j")
		txn := a.mustTransact(update("t", "i", "ADD n :n", "", ":n", 1), update("t", "j", "ADD n :n", "", ":n", 1))
		txn[0].lost, txn[1].lost = true, true
		env := a.env()
		env.Fork, env.Twice = txn[1].Seq, func(seq uint64) bool { return seq >= txn[0].Seq }
		if settled {
			env.Lost = txn[1].Seq
		}
		if o := a.found(&Batch{Entries: txn}, env); o.Result != want || settled && (o.Code != CodeLost || o.Known[1] == nil) {
			t.Errorf("settled %v: it became %d %q", settled, o.Result, o.Code)
		}
	}
}

// A write that only this history has had, as far as the node's row shows, is looked for. Without a trace of its own it is renumbered, also
// under a later mark, which another history has left; its own trace decides.
func TestOnlyHereAsFarAsTheRowShows(t *testing.T) {
	t.Parallel()
	const nothing, sent, outdone, foreign = "nothing", "it was sent", "another history's mark", "the mark of its fold"
	for what, want := range map[string]Result{nothing: OutRenumber, sent: OutApplied, outdone: OutRenumber, foreign: OutConflict} {
		w := newWorld(t)
		a := w.node("a")
		w.made("a", "i")
		e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
		copied := *e
		if what == foreign {
			copied.Folds = []uint64{e.Seq}
			copied.Seq += 7
		}
		if what == sent || what == foreign {
			a.drain()
		}
		if what == outdone {
			a.queue = nil
			a.seq += 100
			a.write(update("t", "i", "ADD n :n", "", ":n", 1))
			a.drain()
		}
		copied.lost = true
		env := a.env()
		env.Fork, env.Parted = copied.Seq, e.Seq-1
		if o := a.found(&Batch{Entries: []*Entry{&copied}}, env); o.Result != want {
			t.Errorf("%s: it became %d %q", what, o.Result, o.Code)
		}
	}
}

// The same of a transaction. Its proof without its marks may be that of another write with its number.
func TestTransactionOnlyHereAsFarAsTheRowShows(t *testing.T) {
	t.Parallel()
	const nothing, sent, outdone, proof = "nothing", "it was sent", "another history's marks", "a proof alone"
	for what, want := range map[string]Result{nothing: OutRenumber, sent: OutApplied, outdone: OutRenumber, proof: OutConflict} {
		w := newWorld(t)
		a := w.node("a")
		w.made("a", "i")
		w.made("a", "j")
		both := []op{update("t", "i", "ADD n :n", "", ":n", 1), update("t", "j", "ADD n :n", "", ":n", 1)}
		txn := a.mustTransact(both...)
		one, other := *txn[0], *txn[1]
		if what == sent || what == proof {
			a.drain()
		}
		if what == outdone || what == proof {
			a.queue = nil
			a.seq += 100
			a.mustTransact(both...)
			a.drain()
		}
		one.lost, other.lost = true, true
		env := a.env()
		env.Fork, env.Parted, env.Twice = other.Seq, one.Seq-1, func(uint64) bool { return true }
		if o := a.found(&Batch{Entries: []*Entry{&one, &other}}, env); o.Result != want {
			t.Errorf("%s: it became %d %q", what, o.Result, o.Code)
		}
	}
}

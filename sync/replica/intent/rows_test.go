package intent

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// refuse answers a batch's next action with an error, and returns the outcome.
func (n *node) refuse(err *Error) Outcome {
	n.w.t.Helper()
	u := n.batch()
	known := n.bases(u)
	a := u.Next(known, n.env())
	if a.Kind != ActSend {
		n.w.t.Fatalf("the batch does not send, it does %d (%s)", a.Kind, a.Why)
	}
	u.Attempt(&a)
	o := u.SettleAnswer(a, Answer{Err: err}, known, n.env())
	n.settle(u, o)
	return o
}

// item makes an item in the cloud that node has created and that all nodes know.
func (w *world) made(maker, id string, nodes ...string) {
	n := w.node(maker)
	n.write(put("t", id, "", "x", 0))
	n.drain()
	for _, name := range nodes {
		w.node(name).learn("t", id)
	}
}

// The rows of the first table of DESIGN.md.
func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	row := func(name string, f func(t *testing.T, w *world, a *node)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f(t, w, w.node("a"))
		})
	}
	row("success", func(t *testing.T, w *world, a *node) {
		e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
		a.step(arrive)
		a.result(e, OutApplied, "")
		k := a.known[at("t", key("i"))]
		if k.Side.Life != WriteID("a", e.Seq) || k.Side.Count != 1 || !k.Side.Marks["a"].Equal(e.Mark()) || len(k.Item) != 2 {
			t.Errorf("the base is %+v", k)
		}
	})
	row("our mark exactly equal, an earlier send unanswered", func(t *testing.T, w *world, a *node) {
		w.made("a", "i")
		e := a.write(update("t", "i", "ADD n :n", "attribute_not_exists(n)", ":n", 1))
		a.step(loseAnswer)
		w.foreignSet("t", "i", "z", 1)
		a.drain()
		a.result(e, OutApplied, "")
		w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"},"z":{"N":"1"}}`)
	})
	row("our mark greater", func(t *testing.T, w *world, a *node) {
		w.made("a", "i")
		e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
		w.cloud.items[at("t", e.Key)][AttrMark+"a"] = (&Entry{Write: Write{Seq: e.Seq + 5, Digits: 7}}).Mark()
		if o := a.refuse(refusal(w, "i")); o.Result != OutTimeline || o.Alarm == "" {
			t.Errorf("it means %+v", o)
		}
	})
	row("our mark equal on a first send", func(t *testing.T, w *world, a *node) {
		w.made("a", "i")
		e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
		w.cloud.items[at("t", e.Key)][AttrMark+"a"] = e.Mark()
		if o := a.refuse(refusal(w, "i")); o.Result != OutTimeline {
			t.Errorf("it means %+v", o)
		}
	})
	row("fence higher, an event", func(t *testing.T, w *world, a *node) {
		e := a.write(put("events", "w1", "attribute_not_exists(pk)", "match", "1", "_f", 5))
		w.foreignPut("events", "w1", "match", "1", "_f", 6)
		a.step(arrive)
		a.result(e, OutSuperseded, CodeFencedOff)
	})
	row("fence higher, state", func(t *testing.T, w *world, a *node) {
		w.foreignPut("state", "1", "s", 1, "_f", 5)
		a.learn("state", "1")
		e := a.write(put("state", "1", "", "s", 2, "_f", 5))
		w.foreignPut("state", "1", "s", 3, "_f", 6)
		a.drain()
		a.result(e, OutConflict, CodeFencedOff)
		if o := a.done[e.Seq]; o.Lock != "match:1" || o.Fence != 6 {
			t.Errorf("the lock is %q, its fence %d", o.Lock, o.Fence)
		} else if !strings.Contains(o.Text, "the fence in the cloud is higher") { // and not because its own node set it aside
			t.Errorf("it says %q", o.Text)
		}
		w.want("state", "1", `{"_f":{"N":"6"},"s":{"N":"3"}}`)
	})
	row("condition failed otherwise", func(t *testing.T, w *world, a *node) {
		w.made("a", "i")
		e := a.write(update("t", "i", "SET x = :y", "x = :x", ":x", 0, ":y", 1))
		w.foreignSet("t", "i", "x", 9)
		a.step(arrive)
		a.result(e, OutConflict, CodeCondition)
	})
	row("condition failed otherwise, after an unanswered send", func(t *testing.T, w *world, a *node) {
		w.made("a", "i")
		e := a.write(update("t", "i", "SET x = :y", "x = :x", ":x", 0, ":y", 1))
		a.step(delay)
		w.foreignSet("t", "i", "x", 9)
		a.drain()
		a.result(e, OutConflict, CodeCondition)
		w.foreignSet("t", "i", "x", 0)
		w.deliver()
		w.want("t", "i", `{"x":{"N":"0"}}`)
	})
	classes := []struct {
		name  string
		class Class
		want  Result
		again bool // it stays as if never sent
	}{
		{"timeout, 5xx, EOF after send, TransactionInProgress, token mismatch", Unknown, OutUnknown, false},
		{"throttled, TransactionConflict", Throttled, OutThrottled, true},
		{"DNS, refused, TLS, no route", Offline, OutOffline, true},
		{"expired or wrong signature", Credentials, OutRefresh, true},
		{"item too large", TooLarge, OutQuarantine, true},
		{"table missing", NoTable, OutStopTable, true},
		{"access denied on a table", Denied, OutStopTable, true},
	}
	for _, c := range classes {
		row(c.name, func(t *testing.T, w *world, a *node) {
			w.made("a", "i")
			e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
			o := a.refuse(&Error{Class: c.class})
			if o.Result != c.want || e.Unsure == c.again || e.Sent != 1 {
				t.Errorf("it means %+v; unanswered %v, sent %d", o, e.Unsure, e.Sent)
			}
			if c.want == OutStopTable && o.Table != "t" {
				t.Errorf("table %q is stopped", o.Table)
			}
			if c.class == Unknown {
				folded, ok := Coalesce(e, a.write(update("t", "i", "SET x = :x", "", ":x", 2)), true, nil)
				if ok {
					t.Errorf("an entry that was sent is coalesced: %+v", folded)
				}
			}
		})
	}
	row("validation, of the item", func(t *testing.T, w *world, a *node) {
		w.foreignPut("t", "i", "m", map[string]int{"a": 1}, "n", 1, "s", 1)
		a.learn("t", "i")
		one := a.write(update("t", "i", "SET m.a = :v", "", ":v", 1))
		w.foreignPut("t", "i", "n", 1)
		a.step(arrive)
		a.step(arrive)
		a.result(one, OutConflict, CodeUnfit)
	})
	row("validation, of the request", func(t *testing.T, w *world, a *node) {
		w.made("a", "i")
		w.made("a", "j")
		e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
		behind := a.write(update("t", "i", "SET y = :x", "", ":x", 1))
		other := a.write(update("t", "j", "SET y = :x", "", ":x", 1))
		for range 2 { // the second time only the request remains
			a.refuse(&Error{Class: Validation})
			a.step(arrive)
		}
		a.result(e, OutQuarantine, CodeInvalid)
		a.result(behind, OutQuarantine, CodeInvalid)
		a.drain()
		a.result(other, OutApplied, "")
		if got := show(a.view("t", "i")); got != `{"x":{"N":"0"}}` {
			t.Errorf("a quarantined write shows: %s", got)
		}
	})
}

func refusal(w *world, id string) *Error {
	return &Error{Class: ConditionFailed, Old: w.cloud.items[at("t", key(id))]}
}

// guardRow is a row of the second table: the entry, and what the cloud has when it arrives again.
type guardRow struct {
	name   string
	before func(w *world, a, b *node) // a knows the item that it leaves
	write  op
	then   func(w *world, a, b *node)
	code   Code   // the code if no answer was lost; empty: applied
	lost   Code   // the code if an earlier answer was lost
	cloud  string // in the end, if none was lost
	kept   string // in the end, if one was lost; empty: as cloud
	fate   fate   // of the unanswered send; 0: loseRequest
}

// The rows of "only guards failed, and there is no mark of ours", each without and with an unanswered send.
func TestOnlyGuardsFailed(t *testing.T) {
	t.Parallel()
	ours := func(w *world, a, b *node) { w.made("b", "i", "a") }
	others := func(w *world, a, b *node) { w.foreignPut("t", "i", "x", 0); a.learn("t", "i"); b.learn("t", "i") }
	none := func(*world, *node, *node) {}
	change := update("t", "i", "SET y = :y", "", ":y", 1)
	replace := put("t", "i", "", "y", 1)
	erase := remove("t", "i", "")
	deletes := func(w *world, a, b *node) { b.write(erase); b.drain() }
	anew := func(w *world, a, b *node) {
		deletes(w, a, b)
		b.write(put("t", "i", "", "x", 5))
		b.drain()
	}
	label := func(w *world, a, b *node) { b.write(update("t", "i", "SET z = :z", "", ":z", 7)); b.drain() }
	foreignPut := func(w *world, a, b *node) { w.foreignPut("t", "i", "x", 9) }
	rows := []guardRow{
		{name: "the entry's life", before: ours, write: replace, then: label, cloud: `{"y":{"N":"1"}}`},
		{name: "nothing, a delete", before: ours, write: erase, then: deletes, cloud: "nothing"},
		{name: "nothing, an update", before: ours, write: change, then: deletes, code: CodeDeleted, lost: CodeGone, cloud: "nothing"},
		{name: "nothing, a put", before: ours, write: replace, then: deletes, code: CodeDeleted, lost: CodeGone, cloud: "nothing"},
		{name: "nothing, a create", before: none, write: change, then: none, cloud: `{"y":{"N":"1"}}`},
		{
			name: "nothing, a create that was made and deleted", before: none, write: change, fate: loseAnswer,
			then: func(w *world, a, b *node) {
				if len(a.queue) > 0 && a.queue[0].Unsure {
					b.learn("t", "i")
					deletes(w, a, b)
				}
			},
			cloud: `{"y":{"N":"1"}}`, lost: CodeTombstone, kept: "nothing",
		},
		{name: "a label, on the foreign life", before: others, write: change, then: label, cloud: `{"x":{"N":"0"},"y":{"N":"1"},"z":{"N":"7"}}`},
		{
			name: "a label, on the foreign life, a touched path has changed", before: others, write: change,
			then: func(w *world, a, b *node) { w.foreignSet("t", "i", "y", 8); label(w, a, b) },
			lost: CodeUnknown, cloud: `{"x":{"N":"0"},"y":{"N":"1"},"z":{"N":"7"}}`, kept: `{"x":{"N":"0"},"y":{"N":"8"},"z":{"N":"7"}}`,
		},
		{
			name: "the unnamed foreign life, a touched path has changed", before: others, write: change,
			then: func(w *world, a, b *node) { w.foreignPut("t", "i", "y", 8) },
			lost: CodeUnknown, cloud: `{"y":{"N":"1"}}`, kept: `{"y":{"N":"8"}}`,
		},
		{name: "a delete of a foreign item that got a label", before: others, write: erase, then: label, cloud: "nothing"},
		{
			name: "a foreign put over a life of ours", before: ours, write: change, then: foreignPut,
			lost: CodeOverwritten, cloud: `{"x":{"N":"9"},"y":{"N":"1"}}`, kept: `{"x":{"N":"9"}}`,
		},
		{
			name: "a foreign put over a life of ours, labelled", before: ours, write: change,
			then: func(w *world, a, b *node) { foreignPut(w, a, b); b.learn("t", "i"); label(w, a, b) },
			lost: CodeOverwritten, cloud: `{"x":{"N":"9"},"y":{"N":"1"},"z":{"N":"7"}}`, kept: `{"x":{"N":"9"},"z":{"N":"7"}}`,
		},
		{
			name: "a foreign put after a delete", before: ours, write: erase, fate: loseAnswer, then: foreignPut,
			lost: CodeOverwritten, cloud: "nothing", kept: `{"x":{"N":"9"}}`,
		},
		{
			name: "another life, an entry on none", before: none, write: change,
			then:  func(w *world, a, b *node) { w.made("b", "i") },
			cloud: `{"x":{"N":"0"},"y":{"N":"1"}}`,
		},
		{
			name: "another life, a create that was made and deleted", before: none, write: change, fate: loseAnswer,
			then: func(w *world, a, b *node) {
				b.learn("t", "i")
				anew(w, a, b)
			},
			cloud: `{"x":{"N":"5"},"y":{"N":"1"}}`, lost: CodeTombstone, kept: `{"x":{"N":"5"}}`,
		},
		{name: "another life, a delete", before: ours, write: erase, then: anew, cloud: `{"x":{"N":"5"}}`},
		{name: "another life, an update", before: ours, write: change, then: anew, code: CodeDeleted, lost: CodeGone, cloud: `{"x":{"N":"5"}}`},
	}
	for _, r := range rows {
		for _, w := range []world{{transactions: true}, {transactions: true, older: true}, {}} {
			t.Run(r.name, func(t *testing.T) { t.Parallel(); r.run(t, false, &w) })
			t.Run(r.name+", a send unanswered", func(t *testing.T) { t.Parallel(); r.run(t, true, &w) })
		}
	}
}

func (r guardRow) run(t *testing.T, lost bool, in *world) {
	t.Helper()
	w := newWorld(t)
	w.transactions, w.older = in.transactions, in.older
	a, b := w.node("a"), w.node("b")
	r.before(w, a, b)
	e := a.write(r.write)
	code, cloud := r.code, r.cloud
	if lost {
		if code = r.lost; code == CodeTombstone && w.transactions && !w.older {
			code = "" // it has a proof
		}
		if r.kept != "" {
			cloud = r.kept
		}
		f := r.fate
		if f == arrive {
			f = loseRequest
		}
		for e.Sent == 0 { // a label or a tombstone goes first
			if !a.step(map[bool]fate{true: f, false: arrive}[e.Op != store.OpDelete || e.Label != "" || e.Life.Kind == LifeOurs && (e.Dead || !e.needsDead(a.env()))]) {
				t.Fatal("the write is not sent")
			}
		}
	}
	r.then(w, a, b)
	a.drain()
	want := OutApplied
	switch code {
	case "":
	case CodeTombstone:
		want = OutSuperseded
	default:
		want = OutConflict
	}
	a.result(e, want, code)
	w.want("t", "i", cloud)
	if n := w.cloud.effects[WriteID("a", e.Seq)]; n > 1 {
		t.Errorf("it was applied %d times", n)
	}
	w.late = nil
}

func TestHoldParksADelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.older = true
	a, b := w.node("a"), w.node("b")
	e := a.write(put("t", "i", "", "x", 1))
	a.step(loseRequest)
	a.drain() // the repeated create holds deletes back
	a.result(e, OutApplied, "")
	b.learn("t", "i")
	d := b.write(remove("t", "i", ""))
	u := b.batch()
	if act := u.Next(b.bases(u), b.env()); act.Kind != ActPark || act.Why != WhyHold || act.Until.Before(w.now.Add(14*time.Minute)) {
		t.Errorf("the delete does %+v", act)
	}
	b.known[at("t", key("i"))] = Known{Item: b.view("t", "i"), Side: Sidecar{Life: e.writeID("a")}} // as if it had not heard of the hold
	d.Life = Life{Kind: LifeOurs, ID: e.writeID("a")}
	if b.write(update("t", "j", "SET x = :x", "", ":x", 1)) == nil {
		t.Fatal("no other write")
	}
	for b.step(arrive) && d.NotBefore.IsZero() {
	}
	if !d.NotBefore.After(w.now.Add(14 * time.Minute)) {
		t.Errorf("the cloud's hold parks it until %s", d.NotBefore)
	}
	b.drain()
	b.result(d, OutApplied, "")
}

// Writers that ignore turns make the Put fail to the end: the item rests.
func TestCountGuardParks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("b", "i", "a")
	e := a.write(put("t", "i", "", "y", 1))
	for i := range countTries {
		w.foreignSet("t", "i", AttrCount, 10*i+10)
		a.step(arrive)
		if parked := !e.NotBefore.IsZero(); parked != (i == countTries-1) || e.Refused != i+1 {
			t.Errorf("after %d refusals: parked %v", e.Refused, parked)
		}
		if i == turnTries-1 {
			a.step(arrive) // asks for its turn
		}
	}
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", `{"y":{"N":"1"}}`)
	if side := sidecar(w, "i"); len(side.Marks) != 2 || side.Count != 10*countTries+2 || !side.Turn.IsZero() {
		t.Errorf("the put left the sidecar %+v", side)
	}
}

// A Put that moved to another life is not computed from the base of the earlier one, even if the counts are equal: it would claim that
// what others did there is here.
func TestPutFromTheBaseOfAnotherLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	w.made("b", "i", "a")
	old := a.known[at("t", key("i"))]
	w.foreignPut("t", "i", "x", 7)
	b.learn("t", "i")
	b.write(update("t", "i", "SET z = :z", "", ":z", 1)) // which names the life, and has the base's count
	b.drain()
	named := sidecar(w, "i")
	e := a.write(put("t", "i", "", "y", 1))
	a.step(arrive)
	a.known[at("t", key("i"))] = old // another image came meanwhile, in an unknown order
	a.step(arrive)
	if got := sidecar(w, "i"); named.Count != old.Side.Count || !got.Marks["b"].Equal(named.Marks["b"]) {
		t.Errorf("the item had %+v and has %+v, the base was of %+v", named, got, old.Side)
	}
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", `{"y":{"N":"1"}}`)
}

func sidecar(w *world, id string) Sidecar {
	_, side := Split(w.cloud.items[at("t", key(id))])
	return side
}

func TestMarksStayBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.made("n0", "i")
	for i := range 40 {
		n := w.node("n" + attr.Int(int64(i)).Str())
		n.learn("t", "i")
		e := n.write(update("t", "i", "ADD n :n", "", ":n", 1))
		n.drain()
		n.result(e, OutApplied, "")
		if got := len(sidecar(w, "i").Marks); got > ManyMarks+1 {
			t.Fatalf("%d marks after %d nodes", got, i+1)
		}
	}
	// Others write in between: it is sent again without taking marks away.
	a := w.node("a")
	a.learn("t", "i")
	e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	n := w.node("n1")
	n.learn("t", "i")
	for range 10 - len(sidecar(w, "i").Marks) {
		w.cloud.items[at("t", key("i"))][AttrMark+"x"+attr.Int(int64(len(sidecar(w, "i").Marks))).Str()] = attr.Int(1)
	}
	a.learn("t", "i")
	n.write(update("t", "i", "ADD n :n", "", ":n", 1))
	n.drain()
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", `{"n":{"N":"42"},"x":{"N":"0"}}`)
}

// An update that only removes does nothing without an item, here or in the cloud: it is sent as the delete of a missing item, and moves
// to the item that the cloud has.
func TestRemovingFromNoItem(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{false, true} {
		w := newWorld(t)
		a := w.node("a")
		s, _ := a.prepare(update("t", "i", "REMOVE x", ""), a.seq+1, false)
		if s.Write.Seq != 0 {
			t.Fatal("the store would have a record of it")
		}
		s.Write.Seq, s.Write.Txn = a.seq+1, a.seq+1 // as for a write through to the cloud
		e, err := Compile(s.Write, s.Known, s.Pending, a.env())
		if err != nil || e.Life.Kind != LifeNone || e.creates() {
			t.Fatalf("%+v, %v", e, err)
		}
		a.seq++
		a.queue = append(a.queue, e)
		if there {
			w.made("b", "i", "a")
		}
		a.step(loseAnswer)
		a.drain()
		a.result(e, OutApplied, "")
		item, _ := Split(w.cloud.items[at("t", key("i"))])
		if !there && item != nil {
			t.Errorf("the cloud has %v", item)
		}
		if has := !item["x"].IsZero(); there && (item == nil || has) {
			t.Errorf("left of the item that was there: %v", item)
		}
	}
}

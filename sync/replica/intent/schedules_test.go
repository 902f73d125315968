package intent

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// The schedules that broke earlier versions of the protocol, as far as one item or transaction can show them.

func TestFollowUnfollowLateAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		transactions, older bool
		result              Result
		code                Code
	}{
		{true, false, OutApplied, ""}, {true, true, OutSuperseded, CodeTombstone}, {false, false, OutSuperseded, CodeTombstone},
	} {
		w := newWorld(t)
		w.transactions, w.older = c.transactions, c.older
		a, b := w.node("a"), w.node("b")
		e := a.write(put("t", "f", "attribute_not_exists(pk)", "on", true))
		a.step(loseAnswer)
		b.learn("t", "f")
		b.write(remove("t", "f", ""))
		b.drain()
		a.drain()
		a.result(e, c.result, c.code)
		w.want("t", "f", "nothing")
	}
}

func TestNoSkeletonOfADeletedItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	w.made("b", "i", "a")
	e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	b.write(remove("t", "i", ""))
	b.drain()
	a.drain()
	a.result(e, OutConflict, CodeDeleted)
	w.want("t", "i", "nothing")
}

func TestTwoPutsOffline(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{false, true} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		if there {
			w.made("a", "i", "b")
		}
		one := a.write(put("t", "i", "", "x", 1, "y", 2))
		two := b.write(put("t", "i", "", "x", 3, "z", 4))
		a.drain()
		b.drain()
		a.result(one, OutApplied, "")
		b.result(two, OutApplied, "")
		w.want("t", "i", `{"x":{"N":"3"},"z":{"N":"4"}}`)
	}
}

func TestTailOfTheRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	a.write(put("t", "i", "", "version", 1, "score", 0))
	a.drain()
	first := a.write(update("t", "i", "SET score = :s", "version = :v", ":s", 10, ":v", 1))
	tail := a.write(put("t", "i", "", "version", 1, "score", 10))
	read := a.write(update("t", "i", "SET copied = :s", "", ":s", 10).reading())
	blind := a.write(update("t", "i", "SET note = :s", "", ":s", "x"))
	adds := a.write(update("t", "i", "ADD n :n", "", ":n", 1).reading())
	own := a.write(update("t", "i", "SET w = :s", "version > :s", ":s", 0).reading())
	w.foreignSet("t", "i", "version", 2)
	a.drain()
	for _, e := range []*Entry{first, tail, read} {
		a.result(e, OutConflict, CodeCondition)
	}
	for _, e := range []*Entry{blind, adds, own} {
		a.result(e, OutApplied, "")
	}
	w.want("t", "i", `{"n":{"N":"1"},"note":{"S":"x"},"score":{"N":"0"},"version":{"N":"2"},"w":{"N":"0"}}`)
}

func TestTailTakesTransactionsAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	w.made("a", "j")
	first := a.write(update("t", "i", "SET x = :y", "x = :x", ":x", 0, ":y", 1))
	txn, err := a.transact(put("t", "i", "", "x", 2), put("t", "j", "", "x", 2))
	if err != nil {
		t.Fatal(err)
	}
	behind := a.write(remove("t", "j", ""))
	w.foreignSet("t", "i", "x", 9)
	a.drain()
	for _, e := range append(txn, first, behind) {
		a.result(e, OutConflict, CodeCondition)
	}
	w.want("t", "j", `{"x":{"N":"0"}}`)
}

func TestMarkProvesTooMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	e5 := a.write(update("t", "i", "SET x = :y", "x = :x", ":x", 0, ":y", 1))
	e6 := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	w.foreignSet("t", "i", "x", 9)
	a.drain()
	a.result(e5, OutConflict, CodeCondition)
	a.result(e6, OutApplied, "")
	// A file restored at an earlier sequence writes the same numbers with other digits.
	old := *e6
	old.Seq, old.Digits, old.Sent, old.Unsure = e5.Seq, e5.Digits/2+1, 0, false
	a.queue = append(a.queue, &old)
	if a.step(arrive); len(a.queue) != 1 {
		t.Fatalf("the other history's entry left")
	}
	if old.IsProvedBy(sidecar(w, "i"), "a") {
		t.Error("another history's mark proves it")
	}
}

func TestForeignPutInTheWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	a.step(loseAnswer)
	w.foreignPut("t", "i", "n", 1, "x", 0)
	a.drain()
	a.result(e, OutConflict, CodeOverwritten)
	w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)
}

func TestFenceKeepsTheFormerHolderOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	lock := func(fence int) {
		w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", fence)
	}
	for _, transactions := range []bool{true, false} {
		w.transactions = transactions
		lock(5)
		fencedOff := a.write(put("state", "1", "", "s", 1, "_f", 5)) // its first image, queued while it is cut off
		lock(6)
		one := b.write(put("state", "1", "", "s", 2, "_f", 6))
		b.drain()
		b.result(one, OutApplied, "")
		gone := b.write(remove("state", "1", ""))
		b.drain()
		b.result(gone, OutApplied, "")
		a.drain()
		a.result(fencedOff, OutConflict, CodeFencedOff)
		w.want("state", "1", "nothing")
		delete(a.known, at("state", key("1")))
	}
}

func TestUpdateOfAnExpiredRowByTheFencedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", 5)
	a.write(put("state", "1", "", "s", 1, "_f", 5, "ttl", epoch.Unix()+60))
	a.drain()
	w.now = w.now.Add(time.Hour)
	e := a.write(put("state", "1", "", "s", 2, "_f", 5, "ttl", w.now.Unix()+60)) // in the place of the expired row
	if !e.ReplacesExpired {
		t.Fatalf("it is an entry like any other: %+v", e)
	}
	w.foreignDelete("state", "1")
	w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", 6)
	a.drain()
	a.result(e, OutConflict, CodeFencedOff)
	w.want("state", "1", "nothing")
}

// The same of one that was sent and not answered, without transactions, where the expired row is still there.
func TestUnansweredUpdateOfAnExpiredRowByTheFencedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.transactions = false
	a := w.node("a")
	w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", 5)
	a.write(put("state", "1", "", "s", 1, "_f", 5, "ttl", epoch.Unix()+60))
	a.drain()
	w.now = w.now.Add(time.Hour)
	e := a.write(put("state", "1", "", "s", 2, "_f", 5, "ttl", w.now.Unix()+60))
	a.step(arrive) // its lock
	a.step(delay)
	if !e.ReplacesExpired || !e.Unsure {
		t.Fatalf("it was not sent in place of the expired row: %+v", e)
	}
	w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", 6)
	a.drain()
	a.result(e, OutConflict, CodeFencedOff)
	w.deliver()
	w.want("state", "1", fmt.Sprintf(`{"_f":{"N":"5"},"s":{"N":"1"},"ttl":{"N":"%d"}}`, epoch.Unix()+60))
}

func TestStateWaitsForItsEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	a.events = false
	w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", 5)
	e := a.write(put("state", "1", "", "s", 1, "_f", 5))
	if a.step(arrive) || e.Sent > 0 {
		t.Fatal("state is sent before its events")
	}
	a.events = true
	a.drain()
	a.result(e, OutApplied, "")
}

func TestStateWhoseBaseIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.cloud.items[at("locks", attr.Item{"lockKey": attr.S("match:1")})] = values("lockKey", "match:1", "fence", 5)
	a.write(put("state", "1", "", "s", 1, "_f", 5))
	a.drain()
	e := a.write(update("state", "1", "SET s = :s", "", ":s", 2))
	w.foreignDelete("state", "1")
	a.drain()
	a.result(e, OutSuperseded, CodeDeleted)
	w.want("state", "1", "nothing")
}

func TestStateDependentValidation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ update, remote string }{
		{"SET a.b = :v", "a"}, {"SET n = n + :v", "n"}, {"ADD s :v", "s"},
	} {
		w := newWorld(t)
		a := w.node("a")
		a.write(put("t", "i", "", "a", map[string]int{"b": 0}, "n", 1, "s", 1))
		a.drain()
		e := a.write(update("t", "i", c.update, "", ":v", 1))
		it := w.cloud.items[at("t", key("i"))]
		if c.remote == "s" {
			it["s"] = attr.S("text")
		} else {
			delete(it, c.remote)
		}
		a.drain()
		a.result(e, OutConflict, CodeUnfit)
	}
}

func TestExpiredHereAliveThere(t *testing.T) {
	t.Parallel()
	begin := func() (*world, *node, *node) {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		a.write(put("t", "i", "", "x", 1, "ttl", w.now.Unix()+60))
		a.drain()
		b.learn("t", "i")
		w.now = w.now.Add(time.Hour)
		return w, a, b
	}
	later := epoch.Unix() + 1e5
	t.Run("under attribute_not_exists", func(t *testing.T) {
		_, a, _ := begin()
		if e := a.write(put("t", "i", "attribute_not_exists(pk)", "x", 2)); e != nil {
			t.Errorf("conditions do not see the expired item: %+v", e)
		}
	})
	t.Run("an upsert, the expired item is there", func(t *testing.T) {
		w, a, _ := begin()
		e := a.write(update("t", "i", "SET y = :y, #t = :t", "", ":y", 2, ":t", later).named("#t", "ttl"))
		behind := a.write(update("t", "i", "SET z = :z", "", ":z", 3))
		a.drain()
		a.result(e, OutApplied, "")
		a.result(behind, OutApplied, "")
		w.want("t", "i", fmt.Sprintf(`{"ttl":{"N":"%d"},"x":{"N":"1"},"y":{"N":"2"},"z":{"N":"3"}}`, later))
		if got := sidecar(w, "i").Life; got != WriteID("a", e.Seq) {
			t.Errorf("the life is %q", got)
		}
	})
	t.Run("an upsert, the expired item is gone", func(t *testing.T) {
		w, a, _ := begin()
		e := a.write(update("t", "i", "SET y = :y, #t = :t", "", ":y", 2, ":t", later).named("#t", "ttl"))
		w.foreignDelete("t", "i")
		a.step(loseAnswer)
		a.drain()
		a.result(e, OutApplied, "")
		w.want("t", "i", fmt.Sprintf(`{"ttl":{"N":"%d"},"x":{"N":"1"},"y":{"N":"2"}}`, later))
	})
	t.Run("an upsert, unanswered, without transactions", func(t *testing.T) { // what is read before it is sent again refuses nothing
		w, a, _ := begin()
		w.transactions = false
		e := a.write(update("t", "i", "SET y = :y, #t = :t", "", ":y", 2, ":t", later).named("#t", "ttl"))
		a.step(loseRequest)
		a.drain()
		a.result(e, OutApplied, "")
		if e.Sent != 2 || e.Refused != 0 {
			t.Errorf("sent %d times, refused %d times", e.Sent, e.Refused)
		}
		w.want("t", "i", fmt.Sprintf(`{"ttl":{"N":"%d"},"x":{"N":"1"},"y":{"N":"2"}}`, later))
	})
	t.Run("an upsert, somebody has given it time", func(t *testing.T) {
		w, a, b := begin()
		w.now = epoch
		b.write(update("t", "i", "SET #t = :t, b = :y", "", ":y", 1, ":t", later+1).named("#t", "ttl"))
		w.now = w.now.Add(time.Hour)
		e := a.write(update("t", "i", "SET y = :y, #t = :t", "", ":y", 2, ":t", later).named("#t", "ttl"))
		b.drain()
		a.drain()
		a.result(e, OutApplied, "")
		w.want("t", "i", fmt.Sprintf(`{"b":{"N":"1"},"ttl":{"N":"%d"},"x":{"N":"1"},"y":{"N":"2"}}`, later))
	})
	for _, byFeed := range []bool{true, false} {
		t.Run(fmt.Sprintf("the base ends under an update, shown by the feed %v", byFeed), func(t *testing.T) {
			w := newWorld(t)
			a := w.node("a")
			a.write(put("t", "i", "", "x", 1, "ttl", w.now.Unix()+60))
			a.drain()
			e := a.write(update("t", "i", "SET y = :y, #t = :t", "attribute_exists(pk)", ":y", 2, ":t", later).named("#t", "ttl"))
			behind := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
			w.now = w.now.Add(time.Hour)
			w.foreignDelete("t", "i")
			if byFeed {
				a.learn("t", "i")
				if got := show(a.view("t", "i")); got != fmt.Sprintf(`{"n":{"N":"1"},"ttl":{"N":"%d"},"x":{"N":"1"},"y":{"N":"2"}}`, later) {
					t.Errorf("the view is %s", got)
				}
			}
			a.drain()
			a.result(e, OutApplied, "")
			a.result(behind, OutApplied, "")
			w.want("t", "i", fmt.Sprintf(`{"n":{"N":"1"},"ttl":{"N":"%d"},"x":{"N":"1"},"y":{"N":"2"}}`, later))
		})
	}
}

func (o op) named(placeholder, name string) op {
	o.names = map[string]string{placeholder: name}
	return o
}

func TestDeleteAgainstUpdateOfNewest(t *testing.T) {
	t.Parallel()
	for _, deleteFirst := range []bool{true, false} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		a.write(put("newest", "i", "", "x", 1))
		a.drain()
		b.learn("newest", "i")
		w.now = w.now.Add(5 * time.Second)
		d := a.write(remove("newest", "i", ""))
		w.now = w.now.Add(5 * time.Second)
		e := b.write(update("newest", "i", "SET x = :x", "", ":x", 2))
		if deleteFirst {
			a.drain()
			b.drain()
			b.result(e, OutSuperseded, CodeDeleted)
		} else {
			b.drain()
			a.drain()
			b.result(e, OutApplied, "")
		}
		a.result(d, OutApplied, "")
		w.want("newest", "i", "nothing")
	}
}

func TestLifeOfTheEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	w.made("b", "i", "a")
	e := a.write(update("t", "i", "SET x = :x", "", ":x", 9))
	d := w.node("c")
	d.learn("t", "i")
	erase := d.write(remove("t", "i", ""))
	b.write(remove("t", "i", ""))
	b.write(put("t", "i", "", "x", 5))
	b.drain()
	a.learn("t", "i") // the feed brings the other life before it is sent
	d.learn("t", "i")
	if _, doubtful := View(a.known[at("t", key("i"))], a.queue, a.env()); len(doubtful) != 1 {
		t.Errorf("doubtful are %d", len(doubtful))
	}
	a.drain()
	d.drain()
	a.result(e, OutConflict, CodeDeleted)
	d.result(erase, OutApplied, "")
	w.want("t", "i", `{"x":{"N":"5"}}`)
}

// A write on top of a doubtful delete is on the life that its view shows: whatever becomes of the delete, the write does not create an
// item of its few attributes.
func TestWriteBehindADoubtfulDelete(t *testing.T) {
	t.Parallel()
	for _, foreign := range []bool{false, true} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		w.made("a", "i", "b")
		erase := a.write(remove("t", "i", ""))
		b.write(remove("t", "i", ""))
		b.write(put("t", "i", "", "x", 5))
		b.drain()
		a.learn("t", "i")
		if got := show(a.view("t", "i")); got != `{"x":{"N":"5"}}` {
			t.Fatalf("the view is %s", got)
		}
		e := a.write(update("t", "i", "SET y = :y", "", ":y", 1))
		if foreign { // the delete moves to it
			w.foreignPut("t", "i", "x", 6)
		}
		a.drain()
		a.result(erase, OutApplied, "")
		if foreign {
			a.result(e, OutConflict, CodeDeleted)
			w.want("t", "i", "nothing")
			continue
		}
		a.result(e, OutApplied, "")
		w.want("t", "i", `{"x":{"N":"5"},"y":{"N":"1"}}`)
	}
}

func TestLostBeforeArrival(t *testing.T) {
	t.Parallel()
	for _, transactions := range []bool{true, false} {
		for _, one := range []op{update("t", "i", "ADD n :n", "", ":n", 1), put("t", "i", "", "n", 1)} {
			w := newWorld(t)
			w.transactions = transactions
			a := w.node("a")
			w.made("b", "i")
			e := a.write(one)
			a.step(loseAnswer) // of the refusal
			a.drain()
			a.result(e, OutApplied, "")
			if got := w.cloud.effects[WriteID("a", e.Seq)]; got != 1 {
				t.Errorf("it was applied %d times", got)
			}
		}
	}
}

func TestSnapshotWithAQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	snapshot, err := DecodeEntry(e.Encode())
	if err != nil {
		t.Fatal(err)
	}
	a.drain()
	snapshot.lost = true
	a.queue = append(a.queue, snapshot)
	a.drain()
	a.result(snapshot, OutApplied, "")
	w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)

	// One that was never applied goes out under a new sequence.
	unsent := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	unsent.lost = true
	before := unsent.Seq
	a.drain()
	if unsent.Seq == before {
		t.Error("it kept its sequence")
	}
	w.want("t", "i", `{"n":{"N":"2"},"x":{"N":"0"}}`)

	// One that the lost timeline had settled, whatever became of it, is recorded.
	settled := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	settled.lost, a.lost = true, settled.Seq
	a.drain()
	a.result(settled, OutConflict, CodeLost)
	a.lost = 0

	// A greater mark of ours says that its history was another.
	stale := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	stale.lost, stale.Seq = true, before-1
	a.drain()
	a.result(stale, OutConflict, CodeLost)
}

func TestDeleteBetweenLabelAndDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.foreignPut("t", "i", "status", "idle")
	a.learn("t", "i")
	e := a.write(remove("t", "i", "#s = :s", ":s", "idle").named("#s", "status"))
	a.step(arrive)
	if !e.labels(sidecar(w, "i").Life, "a") || len(sidecar(w, "i").Marks) > 0 || sidecar(w, "i").Count > 0 {
		t.Fatalf("the label left %+v", sidecar(w, "i"))
	}
	w.foreignSet("t", "i", "status", "busy")
	a.drain()
	a.result(e, OutConflict, CodeCondition)
	w.want("t", "i", `{"status":{"S":"busy"}}`)
}

func TestSidecarWrittenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	image := w.cloud.items[at("t", key("i"))] // as read by a foreign program
	d := a.write(remove("t", "i", ""))
	a.drain()
	a.result(d, OutApplied, "")
	w.cloud.items[at("t", key("i"))] = image
	a.learn("t", "i")
	e := a.write(update("t", "i", "SET y = :y", "", ":y", 1))
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", `{"x":{"N":"0"},"y":{"N":"1"}}`)
}

// An item that others write all the time accepts a Put within seconds, at the cost of few requests.
func TestHotItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	w.made("b", "i", "a")
	a.random = 5
	e := a.write(put("t", "i", "", "y", 1))
	began := w.now
	for a.done[e.Seq].Result == 0 && w.now.Sub(began) < time.Minute { // b is faster whenever it may
		b.write(update("t", "i", "ADD n :n", "", ":n", 1))
		b.step(arrive)
		a.step(arrive)
		w.now = w.now.Add(200 * time.Millisecond)
	}
	if wait := w.now.Sub(began); wait > 2*time.Second || a.asked > 6 {
		t.Errorf("it was sent after %s, asked %d times", wait, a.asked)
	}
	a.result(e, OutApplied, "")
	b.drain()
}

// The answer to an update on a life without a name is lost. A foreign Put replaces the item by one that does not satisfy the condition:
// the mark is gone, and what the update touched looks as before. Nobody knows whether the update had been applied, and the label that
// closing gives to this life is not the one that the send gave to the former.
func TestUnnamedLifeProvesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.foreignPut("t", "i", "status", "idle")
	a.learn("t", "i")
	e := a.write(update("t", "i", "REMOVE x", "attribute_exists(#s)").named("#s", "status"))
	a.step(loseAnswer)
	former := sidecar(w, "i").Life
	if !e.labels(former, "a") {
		t.Fatalf("the send has named the life %q", former)
	}
	w.foreignPut("t", "i", "other", "item")
	w.now = w.now.Add(time.Second)
	a.drain()
	a.result(e, OutConflict, CodeUnknown)
	if life := sidecar(w, "i").Life; life == former {
		t.Errorf("two lives have the name %q", life)
	}
}

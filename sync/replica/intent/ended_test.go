package intent

import (
	"fmt"
	"testing"
	"time"
)

// A write that replaces an item past its TTL ends a life, as a delete does: the node that created the item, and whose answer was
// lost, does not create it again.
func TestReplacingAnExpiredItemEndsALifeThatItsMakerDoesNotKnowOf(t *testing.T) {
	t.Parallel()
	far := epoch.Unix() + 1e5
	for _, gone := range []bool{false, true} { // the cloud has let the old item go already
		w := newWorld(t)
		w.older = true
		a, b := w.node("a"), w.node("b")
		e := a.write(update("t", "i", "SET x = :x, #t = :t", "", ":x", 1, ":t", far).named("#t", "ttl"))
		a.step(loseAnswer)
		b.learn("t", "i")
		b.write(update("t", "i", "SET #t = :t", "", ":t", w.now.Unix()+60).named("#t", "ttl"))
		b.drain()
		w.now = w.now.Add(time.Hour)
		revived := b.write(put("t", "i", "", "y", 2, "ttl", far))
		if !revived.ReplacesExpired {
			t.Fatal("the test needs an item past its TTL")
		}
		if gone {
			w.foreignDelete("t", "i")
		}
		b.drain()
		b.result(revived, OutApplied, "")
		a.drain()
		a.result(e, OutSuperseded, CodeTombstone)
		w.want("t", "i", fmt.Sprintf(`{"ttl":{"N":"%d"},"y":{"N":"2"}}`, far))
		if n := w.cloud.effects[WriteID("a", e.Seq)]; n != 1 {
			t.Errorf("gone %v: it had %d effects", gone, n)
		}
	}
}

// A create with earlier writes folded into it begins a life named by the first of them. A node that deletes this life leaves no
// tombstone if its maker has reported the first write settled: a maker put back to where the create waits knows it by that.
func TestFoldedCreateSettledInALostTimeline(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} { // who deletes
		w := newWorld(t)
		w.older = true
		a, b := w.node("a"), w.node("b")
		first := a.write(put("t", "i", "", "x", 1))
		between := a.write(put("t", "j", "", "x", 1)) // its table is missing: it waits
		f, ok := Coalesce(first, a.write(update("t", "i", "SET x = :x", "", ":x", 2)), true, w.cloud.cache)
		if !ok {
			t.Fatal("they are not folded")
		}
		queued := *f // in the snapshot
		a.queue = []*Entry{f}
		a.drain()
		between.Held = HoldTable
		a.queue = []*Entry{between}
		deletes := b
		if own {
			deletes = a
			a.write(remove("t", "i", ""))
		} else {
			b.learn("t", "i")
			b.write(remove("t", "i", ""))
		}
		for len(deletes.Item("t", key("i"))) > 0 {
			deletes.step(arrive)
		}
		w.want("t", "i", "nothing")

		a.lost = w.settledUpTo("a")
		if a.lost < first.Seq || a.lost >= queued.Seq {
			t.Fatalf("the test needs a settled number between %d and %d, not %d", first.Seq, queued.Seq, a.lost)
		}
		queued.lost = true
		a.queue, a.known = []*Entry{&queued}, map[string]Known{}
		a.drain()
		a.result(&queued, OutConflict, CodeLost)
		w.want("t", "i", "nothing")
	}
}

// Images of state are folded too, and the life that the first of them begins has its name in every timeline.
func TestFoldedStateIsKnownByItsFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	first := a.write(put("state", "1", "", "s", 1, "_f", 5))
	f, ok := Coalesce(first, a.write(put("state", "1", "", "s", 2, "_f", 5)), true, w.cloud.cache)
	if !ok {
		t.Fatal("they are not folded")
	}
	if got := f.lifeID("a"); got != WriteID("a", first.Seq) {
		t.Errorf("its life is %s", got)
	}
}

// A create that had moved to another life when the snapshot was made, and was sent there in the lost timeline, is not repeated once
// that life has ended. One that was not sent there is.
func TestMovedBeforeTheLostTimeline(t *testing.T) {
	t.Parallel()
	for _, sent := range []bool{true, false} {
		w := newWorld(t)
		w.older = true
		a, b := w.node("a"), w.node("b")
		a.unreported = true
		e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
		a.step(loseRequest)
		b.write(put("t", "i", "", "y", 2))
		b.drain()
		for !e.Moved {
			if !a.step(arrive) {
				t.Fatal("it waits")
			}
		}
		queued := *e // in the snapshot
		if sent {
			a.drain()
			a.result(e, OutApplied, "")
		}
		b.write(remove("t", "i", ""))
		b.drain()
		w.want("t", "i", "nothing")
		queued.lost = true
		a.queue, a.known = []*Entry{&queued}, map[string]Known{}
		a.crash()
		queue := a.queue[0]
		a.drain()
		if sent {
			a.result(queue, OutConflict, CodeLost)
			w.want("t", "i", "nothing")
			continue
		}
		a.result(queue, OutApplied, "")
		w.want("t", "i", `{"x":{"N":"1"}}`)
	}
}

// A create that moved to another life, was sent there without an answer, and finds that life ended is not repeated: it is recorded
// once no copy of its first send can arrive any more. A copy that arrives earlier is recognized by its mark.
func TestMovedAndUnansweredWhereTheLifeHasEnded(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} { // to the life that ends
		w := newWorld(t)
		w.older = true
		a, b := w.node("a"), w.node("b")
		e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
		a.step(delay)
		b.write(put("t", "i", "", "y", 2))
		b.drain()
		for !e.Moved || !e.Dead {
			if !a.step(arrive) {
				t.Fatal("it waits")
			}
		}
		if applied {
			a.step(loseAnswer)
			w.want("t", "i", `{"x":{"N":"1"},"y":{"N":"2"}}`)
			w.now = w.now.Add(SignedFor + time.Second)
			b.learn("t", "i")
			b.write(remove("t", "i", ""))
			b.drain()
		} else {
			a.step(loseRequest)
			w.foreignDelete("t", "i")
		}
		w.want("t", "i", "nothing")
		for a.step(arrive) { // until it is parked
		}
		w.deliver()
		if len(a.queue) > 0 {
			a.crash()
			e = a.queue[0]
		}
		a.drain()
		if n := w.cloud.effects[WriteID("a", e.Seq)]; n != 1 {
			t.Errorf("applied %v: it had %d effects", applied, n)
		}
		if applied {
			a.result(e, OutConflict, CodeGone)
			w.want("t", "i", "nothing")
			continue
		}
		a.result(e, OutApplied, "")
		w.want("t", "i", `{"x":{"N":"1"}}`)
	}
}

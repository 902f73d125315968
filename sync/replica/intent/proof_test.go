package intent

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// A copy of a create that moved to another life, but has not recorded that yet, creates the item once that life has ended. Then the
// create was applied, and is not sent again.
func TestCopyOfAMovedCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	a.step(delay)
	b.write(put("t", "i", "", "y", 2))
	b.drain()
	for !e.Moved {
		if !a.step(arrive) {
			t.Fatal("it waits")
		}
	}
	b.write(remove("t", "i", ""))
	b.drain()
	w.deliver()
	w.want("t", "i", `{"n":{"N":"1"}}`)
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", `{"n":{"N":"1"}}`)
	if n := w.cloud.effects[WriteID("a", e.Seq)]; n != 1 {
		t.Errorf("the create had %d effects", n)
	}
}

// A process that ends after its create has recorded its move in the cloud, but before it is stored as moved here, goes on to the life
// that is there. If there is none any more, the item that it was to write was deleted.
func TestMovedCreateThatWasForgotten(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
		a.step(delay)
		stored := e.Encode()
		b.write(put("t", "i", "", "y", 2))
		b.drain()
		for !e.Moved || !e.Dead {
			if !a.step(arrive) {
				t.Fatal("it waits")
			}
		}
		if gone {
			b.write(remove("t", "i", ""))
			b.drain()
		}
		e, err := DecodeEntry(stored)
		if err != nil {
			t.Fatal(err)
		}
		a.queue, a.known = []*Entry{e}, map[string]Known{}
		w.deliver()
		a.drain()
		if gone {
			a.result(e, OutConflict, CodeDeleted)
			w.want("t", "i", "nothing")
			continue
		}
		a.result(e, OutApplied, "")
		w.want("t", "i", `{"n":{"N":"1"},"y":{"N":"2"}}`)
	}
}

// So does one that was to replace an item past its TTL, if the item got a new expiry meanwhile.
func TestMovedReplacementThatWasForgotten(t *testing.T) {
	t.Parallel()
	far := epoch.Unix() + 1e5
	for name, write := range map[string]func() op{
		"a put":     func() op { return put("t", "i", "", "y", 2, "ttl", far) },
		"an update": func() op { return update("t", "i", "SET y = :y, #t = :t", "", ":y", 2, ":t", far).named("#t", "ttl") },
	} {
		for _, gone := range []bool{false, true} {
			w := newWorld(t)
			a, b := w.node("a"), w.node("b")
			a.write(put("t", "i", "", "x", 1, "ttl", w.now.Unix()+60))
			a.drain()
			b.learn("t", "i")
			b.write(update("t", "i", "SET #t = :t, b = :y", "", ":y", 1, ":t", far+1).named("#t", "ttl"))
			w.now = w.now.Add(time.Hour)
			e := a.write(write())
			if !e.ReplacesExpired {
				t.Fatal("the test needs an item past its TTL")
			}
			a.step(delay)
			stored := e.Encode()
			b.drain()
			for !e.Moved || !e.Dead {
				if !a.step(arrive) {
					t.Fatal("it waits")
				}
			}
			if gone {
				w.foreignDelete("t", "i")
			}
			e, err := DecodeEntry(stored)
			if err != nil {
				t.Fatal(err)
			}
			a.queue, a.known = []*Entry{e}, map[string]Known{}
			a.drain()
			if gone {
				a.result(e, OutConflict, CodeDeleted)
				w.want("t", "i", "nothing")
				continue
			}
			a.result(e, OutApplied, "")
			want := fmt.Sprintf(`{"ttl":{"N":"%d"},"y":{"N":"2"}}`, far)
			if name == "an update" {
				want = fmt.Sprintf(`{"b":{"N":"1"},"ttl":{"N":"%d"},"x":{"N":"1"},"y":{"N":"2"}}`, far)
			}
			w.want("t", "i", want)
		}
	}
}

// No copy of a refused create can apply: its proof is closed, and found again after a crash.
func TestRefusedCreateClosesItsProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	e := a.write(put("t", "i", "attribute_not_exists(pk)", "x", 1))
	a.step(delay)
	b.write(put("t", "i", "", "y", 2))
	b.drain()
	for e.step != stepClose {
		if !a.step(arrive) {
			t.Fatal("it waits")
		}
	}
	a.step(loseAnswer)
	a.crash()
	w.foreignDelete("t", "i")
	w.deliver()
	e = a.queue[0]
	a.drain()
	a.result(e, OutConflict, CodeCondition)
	w.want("t", "i", "nothing")
}

// A write unanswered for 29 days is looked for and not sent again: a single create, one of an older version, a transaction. An instant
// from before the clock was set is no age.
func TestUnansweredForLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		older, together, unset bool
		fate                   fate
		result                 Result
		code                   Code
	}{
		"a create, applied":                          {fate: loseAnswer, result: OutApplied},
		"a create, lost":                             {fate: loseRequest, result: OutConflict, code: CodeUnknown},
		"a create of an older version, lost":         {older: true, fate: loseRequest, result: OutConflict, code: CodeUnknown},
		"a transaction, applied":                     {together: true, fate: loseAnswer, result: OutApplied},
		"a transaction, lost":                        {together: true, fate: loseRequest, result: OutConflict, code: CodeUnknown},
		"a create, lost, when nobody knew the time":  {unset: true, fate: loseRequest, result: OutApplied},
		"a create of an older version, time unknown": {older: true, unset: true, fate: loseRequest, result: OutApplied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.older = c.older
			a := w.node("a")
			if c.unset {
				w.now = time.Unix(60, 0)
			}
			if c.together {
				a.mustTransact(put("t", "i", "", "x", 1), put("u", "i", "", "x", 1))
			} else {
				a.write(put("t", "i", "", "x", 1))
			}
			a.step(c.fate)
			if c.older { // which did not store when it left
				a.queue[0].Since = time.Time{}
			}
			if c.fate == loseAnswer {
				w.foreignDelete("t", "i")
			}
			w.now = epoch.Add(29*24*time.Hour + time.Hour)
			a.crash()
			e := a.queue[0]
			a.drain()
			a.result(e, c.result, c.code)
			if n := w.cloud.made[WriteID("a", e.Seq)]; n != map[bool]int{true: 1}[c.result == OutApplied] {
				t.Errorf("it was made %d times", n)
			}
		})
	}
}

// A snapshot has a create in its queue that the lost timeline applied, and whose item a foreign writer deleted: it finds the proof. The
// proof of an entry that was folded differently there is another entry's.
func TestProofOfALostTimeline(t *testing.T) {
	t.Parallel()
	for _, folded := range []bool{false, true} {
		w := newWorld(t)
		a := w.node("a")
		e := a.write(put("t", "i", "", "x", 1))
		queued := *e
		if folded {
			f, ok := Coalesce(e, a.write(update("t", "i", "SET x = :x", "", ":x", 2)), true, w.cloud.cache)
			if !ok {
				t.Fatal("they are not folded")
			}
			a.queue = []*Entry{f}
		}
		a.drain()
		w.foreignDelete("t", "i")
		queued.lost = true
		a.queue, a.known = []*Entry{&queued}, map[string]Known{}
		a.drain()
		if folded {
			a.result(&queued, OutConflict, CodeLost)
		} else {
			a.result(&queued, OutApplied, "")
		}
		w.want("t", "i", "nothing")
	}
}

// A write behind a create, alone or in a transaction, is on the life that the create began, whoever has created the item again by the
// time the proof is read.
func TestBehindACreateThatWasMadeAgain(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{false, true} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		var e *Entry
		if together {
			e = a.mustTransact(put("t", "i", "", "x", 1), put("u", "i", "", "x", 1))[0]
		} else {
			e = a.write(put("t", "i", "", "x", 1))
		}
		later := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
		a.step(loseAnswer)
		w.foreignDelete("t", "i")
		b.write(put("t", "i", "", "y", 2))
		b.drain()
		a.drain()
		a.result(e, OutApplied, "")
		a.result(later, OutConflict, CodeDeleted)
		w.want("t", "i", `{"y":{"N":"2"}}`)
	}
}

// The proof of another write under the same number, of another history of this node, proves nothing about this one.
func TestProofOfAnotherHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	e := a.write(put("t", "i", "", "x", 1))
	row := madeCall(e, false, false, a.env())
	row.Item[syncMark] = attr.Int(7)
	w.cloud.do(row, row.Item)
	a.drain()
	a.result(e, OutConflict, CodeLost)
	w.want("t", "i", "nothing")
}

// A create whose first send was lost and that the cloud can never accept is quarantined without reading its proof.
func TestUnansweredAndTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	e := a.write(put("t", "i", "", "x", 1))
	a.step(loseRequest)
	u := a.batch()
	act := u.Next(a.bases(u), a.env())
	u.Attempt(&act)
	tooLarge := &Error{Class: Canceled, Reasons: []Reason{{Class: TooLarge}, {Class: Applied}}}
	if o := u.SettleAnswer(act, Answer{Err: tooLarge}, a.bases(u), a.env()); o.Result != OutQuarantine || e.step != stepSend {
		t.Errorf("it became %d %s", o.Result, o.Code)
	}
}

// A create that an older version queued and sent without an answer has no proof: it is repeated as that version did.
func TestCreateOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	const stored = "018804818080808020baa8a4450001740108010102706b01016901001a286174747269627574655f6e6f745f65786973747328706b2929000082" +
		"80d4c3bdcff9b431000000010d010202706b0101690178020131"
	b, err := hex.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	e, err := DecodeEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	a := w.node("a")
	a.queue = []*Entry{e}
	u := a.batch()
	act := u.Next(a.bases(u), a.env())
	if len(act.Calls) != 2 || act.Calls[1].Op != 0 || act.Calls[0].Item[AttrHold].IsZero() {
		t.Errorf("it is sent as %+v", act.Calls)
	}
	a.drain()
	a.result(e, OutApplied, "")
}

package intent

import (
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

func TestPutOverAForeignItemAnswerLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.foreignPut("t", "i", "x", 0)
	a.learn("t", "i")
	e := a.write(put("t", "i", "", "y", 1))
	a.step(arrive) // the label
	a.step(loseAnswer)
	w.foreignPut("t", "i", "x", 9)
	a.drain()
	a.result(e, OutConflict, CodeOverwritten)
	w.want("t", "i", `{"x":{"N":"9"}}`)
}

func TestRefusedWhereAnotherLifeIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		made   bool
		write  op
		result Result
		code   Code
	}{
		{"an update", true, update("t", "i", "SET y = :y", "x = :x", ":y", 1, ":x", 0), OutConflict, CodeGone},
		{"a create", false, put("t", "i", "attribute_not_exists(pk)", "x", 0), OutApplied, ""},
		{"a delete", true, remove("t", "i", "x = :x", ":x", 0), OutApplied, ""},
	} {
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		if c.made {
			w.made("b", "i", "a")
		}
		e := a.write(c.write)
		for e.Sent == 0 {
			if e.needsDead(a.env()) {
				a.step(arrive)
			} else {
				a.step(loseAnswer)
			}
		}
		b.learn("t", "i")
		b.write(remove("t", "i", ""))
		b.write(put("t", "i", "", "x", 5))
		b.drain()
		a.drain()
		a.result(e, c.result, c.code)
		w.want("t", "i", `{"x":{"N":"5"}}`)
	}
}

func TestAppliedWhileTheMarkIsClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	e := a.write(update("t", "i", "SET y = :y", "x = :x", ":y", 1, ":x", 0))
	a.step(delay)
	w.foreignSet("t", "i", "x", 9)
	a.step(arrive) // refused: the mark is to be closed
	w.foreignSet("t", "i", "x", 0)
	w.deliver()
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", `{"x":{"N":"0"},"y":{"N":"1"}}`)
}

func TestClosingForgottenByACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	e := a.write(update("t", "i", "SET y = :y", "x = :x", ":y", 1, ":x", 0))
	a.step(loseRequest)
	w.foreignSet("t", "i", "x", 9)
	a.step(arrive)
	a.step(loseAnswer) // of the closing
	a.crash()
	w.foreignSet("t", "i", "x", 0)
	a.drain()
	a.result(e, OutConflict, CodeCondition)
}

// A create that was applied and whose item a foreign writer replaced is recorded as unknown, not as refused, even if the node crashes
// before it learns that the mark was closed.
func TestClosingOfACreateForgottenByACrash(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(w *world){
		"replaced":              func(w *world) { w.foreignPut("t", "i", "x", 9) },
		"deleted and made anew": func(w *world) { w.foreignDelete("t", "i"); w.foreignPut("t", "i", "x", 9) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.older = true // without a proof
			a := w.node("a")
			a.write(put("t", "i", "attribute_not_exists(pk)", "x", 1))
			a.step(loseAnswer)
			replace(w)
			for a.queue[0].step != stepClose {
				if !a.step(arrive) {
					t.Fatal("the create waits")
				}
			}
			a.step(loseAnswer)
			a.crash()
			e := a.queue[0]
			a.drain()
			a.result(e, OutConflict, CodeOverwritten)
			w.want("t", "i", `{"x":{"N":"9"}}`)
		})
	}
}

// A closed mark goes with its item. If the node did not learn of the closing, nothing shows that the create was decided: once the hold
// is over another node deletes the item in its way, and the create applies, as if it had been away all the time.
func TestClosingOfACreateGoesWithItsItem(t *testing.T) {
	t.Parallel()
	for _, crash := range []bool{false, true} {
		w := newWorld(t)
		w.older = true // without a proof
		a, b := w.node("a"), w.node("b")
		a.write(put("t", "i", "attribute_not_exists(pk)", "x", 1))
		a.step(loseRequest)
		w.foreignPut("t", "i", "x", 9)
		for a.queue[0].step != stepClose {
			if !a.step(arrive) {
				t.Fatal("the create waits")
			}
		}
		a.step(loseAnswer)
		if crash {
			a.crash()
		}
		b.learn("t", "i")
		began := w.now
		b.write(remove("t", "i", ""))
		b.drain()
		if w.now.Sub(began) < SignedFor {
			t.Errorf("it was deleted %v after the closing", w.now.Sub(began))
		}
		w.want("t", "i", "nothing")
		e := a.queue[0]
		a.drain()
		a.result(e, OutApplied, "")
		w.want("t", "i", `{"x":{"N":"1"}}`)
		if n := w.cloud.effects[WriteID("a", e.Seq)]; n != 1 {
			t.Errorf("crash %v: it had %d effects", crash, n)
		}
	}
}

// A write behind a create without a proof is on the life that the create began. If another node has deleted that life, the write is
// not applied to the item that is there now.
func TestBehindACreateThatWasDeleted(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"deleted": false, "deleted and made again": true} {
		for i, behind := range []op{update("t", "i", "SET y = :y", "", ":y", 1), put("t", "i", "", "y", 1)} {
			w := newWorld(t)
			w.transactions = false // and no proof
			a, b := w.node("a"), w.node("b")
			create := a.write(put("t", "i", "", "x", 1))
			later := a.write(behind)
			a.step(loseAnswer)
			b.learn("t", "i")
			b.write(remove("t", "i", ""))
			b.drain()
			want := "nothing"
			if again {
				b.write(put("t", "i", "", "z", 1))
				b.drain()
				want = `{"z":{"N":"1"}}`
			}
			a.drain()
			a.result(create, OutSuperseded, CodeTombstone)
			a.result(later, OutConflict, CodeDeleted)
			if t.Failed() {
				t.Logf("%s, write %d", name, i)
			}
			w.want("t", "i", want)
		}
	}
}

func TestEntriesBehindALabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.foreignPut("t", "i", "x", 0)
	a.learn("t", "i")
	for range 5 {
		a.write(update("t", "i", "ADD n :n", "", ":n", 1))
	}
	a.drain()
	w.want("t", "i", `{"n":{"N":"5"},"x":{"N":"0"}}`)
	if a.asked != 5 {
		t.Errorf("%d requests for five updates", a.asked)
	}
}

func TestConditionOfNewestBeforeATimeFarAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	a.write(put("newest", "i", "", "x", 0))
	a.drain()
	w.now = w.now.Add(time.Second)
	e := a.write(update("newest", "i", "SET y = :y", "x = :x", ":y", 1, ":x", 0))
	w.foreignSet("newest", "i", "x", 9, AttrTime, w.now.Add(24*time.Hour).UnixMicro())
	a.drain()
	a.result(e, OutConflict, CodeCondition)
}

func TestReplayAfterARestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	again := func(o op) *Entry {
		e := a.write(o)
		a.drain()
		e.replay, e.Unsure = true, true
		a.queue = append(a.queue, e)
		return e
	}
	e := again(update("t", "i", "ADD n :n", "", ":n", 1))
	a.drain()
	a.result(e, OutApplied, "") // the restored cloud still has it
	w.want("t", "i", `{"n":{"N":"1"},"x":{"N":"0"}}`)

	old := again(update("t", "i", "ADD n :n", "", ":n", 1))
	w.cloud.items[at("t", key("i"))][AttrMark+"a"] = (&Entry{Write: Write{Seq: old.Seq + 1, Digits: 1}}).Mark()
	a.drain()
	a.result(old, OutConflict, CodeRestored)

	absent := again(update("t", "j", "SET x = :x", "", ":x", 1))
	absent.Life, absent.Behind = Life{Kind: LifeOurs, ID: WriteID("b", 1<<40+1)}, 0
	w.foreignDelete("t", "j")
	u, env := &Batch{Entries: []*Entry{absent}}, a.env()
	env.Replaying = true
	act := u.Next([]Known{{}}, env)
	u.Attempt(&act)
	if o := u.SettleAnswer(act, w.cloud.ask(act), []Known{{}}, env); o.Result != OutParked || absent.Why != WhyReplay {
		t.Errorf("absence during the replay means %d %s", o.Result, o.Code)
	}
}

func TestUnnumberedMarkIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("b", "i", "a")
	w.cloud.items[at("t", key("i"))][AttrCount] = attr.S("not ours")
	a.learn("t", "i")
	if got := a.known[at("t", key("i"))]; got.Side.Count != 0 || len(got.Item) != 2 {
		t.Errorf("an invalid count is read as %+v", got)
	}
}

func TestAnUpsertUnderAForeignPut(t *testing.T) {
	t.Parallel()
	for _, older := range []bool{true, false} {
		w := newWorld(t)
		w.older = older
		a := w.node("a")
		e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
		a.step(loseAnswer)
		w.foreignPut("t", "i", "n", 1) // it has read our effect, and dropped what we keep
		a.drain()
		if older {
			a.result(e, OutConflict, CodeOverwritten)
		} else {
			a.result(e, OutApplied, "")
		}
		w.want("t", "i", `{"n":{"N":"1"}}`)
	}
}

func TestAStampTakenBackStaysInOrder(t *testing.T) {
	t.Parallel()
	first, second := &Entry{Write: Write{Seq: 1, Stamp: 500}}, &Entry{Write: Write{Seq: 2, Stamp: 400}}
	if changed := Follow(first, Outcome{Result: OutApplied}, Known{}, []*Entry{second}, Env{Node: "a"}); len(changed) != 1 || second.Stamp != 501 {
		t.Errorf("the later entry has the stamp %d", second.Stamp)
	}
}

// Writes behind a create that moved to a foreign item are on the life that its answer shows, even if another node ended that life and
// began another before the answer was taken.
func TestBehindAMovedCreateWhoseItemHasGone(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]Known{
		"made again": {Item: attr.Item{"id": attr.S("i")}, Side: Sidecar{Life: "b.1.7"}},
		"named anew": {Item: attr.Item{"id": attr.S("i")}, Side: Sidecar{Life: "~b.1.7.c2wf"}},
		"gone":       {},
	} {
		create := &Entry{Write: Write{Seq: 5, Digits: 1, Life: Life{Kind: LifeForeign}}, Progress: Progress{Moved: true, Sent: 2}}
		answer := Known{Item: attr.Item{"id": attr.S("i")}, Side: Sidecar{Life: "~a.1.5.c2wf", Marks: map[string]attr.Value{"a": create.Mark()}}}
		later := &Entry{Write: Write{Seq: 6, Life: Life{Kind: LifeOurs}, Behind: 5}}
		Follow(create, Outcome{Result: OutApplied, Known: []*Known{&answer}}, now, []*Entry{later}, Env{Node: "a"})
		if want := lifeOf(answer); later.Life != want || later.Behind != 0 {
			t.Errorf("%s: it is on %+v, want %+v", name, later.Life, want)
		}
	}
}

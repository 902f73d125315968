package intent

import (
	"strconv"
	"testing"
)

// A greater mark of ours proves nothing about an unanswered entry, which may have been refused before.
func TestGreaterMarkIsNoProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
	a.step(loseAnswer)
	w.cloud.items[at("t", e.Key)][AttrMark+"a"] = (&Entry{Write: Write{Seq: e.Seq + 5, Digits: 7}}).Mark()
	if o := a.refuse(refusal(w, "i")); o.Result != OutTimeline || o.Alarm == "" {
		t.Errorf("it means %+v", o)
	}
}

// After a restore of the cloud a node sends again what it had settled, under the same mark. Until all nodes have done so no settled mark
// is removed; otherwise a repeat after a lost answer would apply a second time.
func TestSettledMarksStayWhileTheyAreSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		then op
		want string
	}{
		{"before an update", update("t", "i", "SET y = :y", "", ":y", 1), `{"n":{"N":"10"},"x":{"N":"0"},"y":{"N":"1"}}`},
		{"before a put", put("t", "i", "", "n", 10), `{"n":{"N":"10"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.made("n0", "i")
			for i := range ManyMarks + 1 {
				n := w.node("n" + strconv.Itoa(i))
				n.learn("t", "i")
				n.write(update("t", "i", "ADD n :n", "", ":n", 1))
				n.drain()
			}
			a, b := w.node("a"), w.node("b")
			a.learn("t", "i")
			restored := w.cloud.items[at("t", key("i"))]
			e := a.write(update("t", "i", "ADD n :n", "", ":n", 1))
			a.drain()
			a.result(e, OutApplied, "")

			w.cloud.items[at("t", key("i"))], w.replaying = restored, true
			e.replay, e.Unsure = true, true
			a.queue = append(a.queue, e)
			a.step(loseAnswer)
			a.queue = nil // what others know of a node is what it had settled before the restore
			b.learn("t", "i")
			b.write(c.then)
			b.drain()
			a.queue = append(a.queue, e)
			a.drain()
			a.result(e, OutApplied, "")
			w.want("t", "i", c.want)
		})
	}
}

package intent

import "testing"

// A greater mark of ours proves nothing about an entry that was sent and not answered: it may have been refused before.
func TestGreaterMarkIsNoProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	w.made("a", "i")
	e := a.write(update("t", "i", "SET x = :x", "", ":x", 1))
	a.step(loseAnswer)
	w.cloud.items[at("t", e.Key)][AttrMark+"a"] = (&Entry{Seq: e.Seq + 5, Digits: 7}).Mark()
	if o := a.refuse(refusal(w, "i")); o.Result != OutTimeline || o.Alarm == "" {
		t.Errorf("it means %+v", o)
	}
}

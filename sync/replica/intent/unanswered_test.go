package intent

import (
	"fmt"
	"testing"
	"time"
)

// An update has no answer, and then its item's TTL ends the item. Whether the update was applied to it cannot be known any more: it does not
// make the item anew, and a person decides.
func TestUnansweredUpdateOfAnEndedItem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fate fate
	}{
		{"applied", loseAnswer},
		{"lost", loseRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.older = true
			a, b := w.node("a"), w.node("b")
			b.write(put("t", "i", "", "x", 1, "ttl", w.now.Unix()+60))
			b.drain()
			a.learn("t", "i")
			e := a.write(update("t", "i", "SET y = :y", "", ":y", 2))
			a.step(c.fate)
			w.now = w.now.Add(time.Hour)
			w.foreignDelete("t", "i") // as the TTL does
			a.drain()
			a.result(e, OutConflict, CodeGone)
			w.want("t", "i", "nothing")
		})
	}
}

// An item is deleted and created again by another node while an edit of its first life waits. An edit of the second life is not folded into
// it: the first one is refused, and the second one stands.
func TestNotFoldedIntoAnotherLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.older = true
	a, b := w.node("a"), w.node("b")
	b.write(put("t", "i", "", "x", 1))
	b.drain()
	a.learn("t", "i")
	first := a.write(update("t", "i", "SET y = :y", "", ":y", 2))
	b.write(remove("t", "i", ""))
	b.drain()
	b.write(put("t", "i", "", "x", 5))
	b.drain()
	a.learn("t", "i")
	second := a.write(update("t", "i", "SET z = :z", "", ":z", 3))
	if f, ok := Coalesce(first, second, true, nil); ok {
		t.Errorf("folded into %+v", f)
	}
	a.drain()
	a.result(first, OutConflict, CodeDeleted)
	a.result(second, OutApplied, "")
	w.want("t", "i", `{"x":{"N":"5"},"z":{"N":"3"}}`)
}

// Images of state written under two leases are not folded: the cloud refuses the first one's fence, and the second one's write stands.
func TestNotFoldedOverALease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.node("a")
	first := a.write(put("state", "1", "", "s", 1, "_f", 5))
	second := a.write(put("state", "1", "", "s", 2, "_f", 7))
	if f, ok := Coalesce(first, second, true, w.cloud.cache); ok {
		t.Errorf("folded into %+v", f)
	}
	third := a.write(put("state", "1", "", "s", 3, "_f", 7))
	if _, ok := Coalesce(second, third, false, w.cloud.cache); !ok {
		t.Error("two images under one lease are not folded: this test tests nothing")
	}
}

// An item was past its TTL when it was written here, and before that write is sent, a foreign writer extends its TTL. The item lives: the
// write changes it instead of replacing it.
func TestExtendedItemIsNotReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.older = true
	a, b := w.node("a"), w.node("b")
	b.write(put("t", "i", "", "x", 1, "ttl", w.now.Unix()+60))
	b.drain()
	a.learn("t", "i")
	w.now = w.now.Add(time.Hour)
	far := w.now.Unix() + 1e5
	e := a.write(update("t", "i", "SET y = :y, #t = :t", "", ":y", 2, ":t", far).named("#t", "ttl"))
	if !e.ReplacesExpired {
		t.Fatal("the test needs an item past its TTL")
	}
	w.foreignSet("t", "i", "x", 9, "ttl", far-5)
	a.drain()
	a.result(e, OutApplied, "")
	w.want("t", "i", fmt.Sprintf(`{"ttl":{"N":"%d"},"x":{"N":"9"},"y":{"N":"2"}}`, far))
}

// A node names a foreign life and changes it twice. Its next write has its effect, but no answer, and a foreign writer replaces the item. Then
// a late copy of the first change gives the replacement the same name. The count of sends there is lower than in the base, so it is another
// item: that the write's condition fails there does not show that it had no effect. Without the late copy, or if the count is as it was,
// the item shows what it showed before.
func TestTheNameOfAnEndedLifeComesBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		last   op
		copied bool
		code   Code
	}{
		{"a delete", remove("t", "i", "z = :z", ":z", 3), true, CodeOverwritten},
		{"an update", update("t", "i", "SET y = :y", "z = :z", ":y", 2, ":z", 3), true, CodeOverwritten},
		{"a delete, no replacement", remove("t", "i", "z = :z", ":z", 3), false, CodeCondition},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.node("a")
			w.foreignPut("t", "i", "x", 1)
			a.learn("t", "i")
			a.write(update("t", "i", "SET x = :x", "", ":x", 2))
			first := a.batch()
			copied := late{first.Next(a.bases(first), a.env()), w.now.Add(SignedFor)}
			a.drain()
			a.write(update("t", "i", "SET z = :z", "", ":z", 3))
			a.drain()
			e := a.write(c.last)
			if c.copied {
				a.step(loseAnswer)
				w.foreignDelete("t", "i")
				w.foreignPut("t", "i", "x", 9)
				w.late = append(w.late, copied)
				w.deliver()
			} else {
				a.step(loseRequest)
				w.foreignSet("t", "i", "z", 9)
			}
			a.drain()
			a.result(e, OutConflict, c.code)
		})
	}
}

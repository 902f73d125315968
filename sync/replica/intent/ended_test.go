package intent

import (
	"fmt"
	"testing"
	"time"
)

// Who takes the place of an item past its TTL ends a life, as a delete does: its maker, whose answer was lost, does not make
// it once more.
func TestGhostEndsALifeThatItsMakerDoesNotKnowOf(t *testing.T) {
	t.Parallel()
	far := epoch.Unix() + 1e5
	for _, gone := range []bool{false, true} { // the cloud has let the old item go already
		w := newWorld(t)
		a, b := w.node("a"), w.node("b")
		e := a.write(update("t", "i", "SET x = :x, #t = :t", "", ":x", 1, ":t", far).named("#t", "ttl"))
		a.step(loseAnswer)
		b.learn("t", "i")
		b.write(update("t", "i", "SET #t = :t", "", ":t", w.now.Unix()+60).named("#t", "ttl"))
		b.drain()
		w.now = w.now.Add(time.Hour)
		ghost := b.write(put("t", "i", "", "y", 2, "ttl", far))
		if !ghost.Ghost {
			t.Fatal("the test needs an item past its TTL")
		}
		if gone {
			w.foreignDelete("t", "i")
		}
		b.drain()
		b.result(ghost, OutApplied, "")
		a.drain()
		a.result(e, OutSuperseded, CodeTombstone)
		w.want("t", "i", fmt.Sprintf(`{"ttl":{"N":"%d"},"y":{"N":"2"}}`, far))
		if n := w.cloud.effects[WriteID("a", e.Seq)]; n != 1 {
			t.Errorf("gone %v: it had %d effects", gone, n)
		}
	}
}

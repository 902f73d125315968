package simulation_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica"
)

// A node that was told that a create is applied when the first copy was there has not been told of a second copy, which came after a
// foreign writer had ended that life: it may still read what was there in between.
func TestProvenByTheFirstCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := newScene(t, newSimStage(true))
		n := sc.node("n1")
		seq := n.put("items", row("x", "v", "mine"), "", expr.Params{})
		sc.round()
		if p, err := n.ProofOf(t.Context(), seq); err != nil || p != replica.ProofApplied {
			t.Fatalf("proved %v, %v", p, err)
		}
		s := &sim{TB: t}
		s.book = newBook(s)
		s.book.latest = 3 // earlier effects under the same number are from a lost timeline
		s.book.acknowledge(&act{node: "n1", seq: seq, table: "items", key: pk("x"), op: store.OpPut})
		life := &simLife{n: newSimNode(s, "n1"), store: n.store, rep: n.Replica}
		s.book.effects[fmt.Sprintf("n1 %d", seq)] = []effectAt{
			{n: 2, item: "items x"}, {n: 3, item: "items y"}, {n: 4, item: "items x"}, {n: 9, item: "items x"},
		}
		if got := s.book.proven(life, "items x"); got != 4 {
			t.Errorf("proven returned #%d, want #4", got)
		}
	})
}

package replica

import "testing"

// A create that waits here, and stands for an earlier write which the row of the node says is settled, shows that the row
// was written by a later state of the node.
func TestFoldedCreateWaitsBehindTheRow(t *testing.T) {
	n := openNode(t, newShelf(t), t.TempDir(), nil)
	first := n.put(t, "teams", team("x", 1))
	n.put(t, "teams", team("y", 1))
	n.put(t, "teams", team("x", 2))
	if got := n.waitingNow(t); got != 2 {
		t.Fatalf("%d units wait: the test needs the first to be folded", got)
	}
	for settled, want := range map[uint64]bool{first - 1: false, first: true} {
		behind, err := n.waitsBehind(t.Context(), settled)
		if err != nil || behind != want {
			t.Errorf("settled up to %d: %v %v", settled-first, behind, err)
		}
	}
}

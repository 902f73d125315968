package replica

import (
	"testing"

	"github.com/touchline/touchline/store/attr"
)

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
	n.online(t)
	for _, settled := range []uint64{first - 1, first} {
		row := n.cloud.nodeRow(t)
		row[attrSettled] = attr.Int(int64(settled))
		n.cloud.foreign(t, "touchline-sync", nil, row)
		n = n.again(t) // a crash: one incarnation more
		was := n.st.Incarnation()
		n.online(t)
		if behind := n.st.Incarnation() > was; behind != (settled == first) {
			t.Errorf("settled up to %d: a later state was there: %v", settled-first, behind)
		}
	}
}

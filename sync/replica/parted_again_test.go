package replica

import (
	"testing"
	"testing/synctest"
)

// A node that dies when the cloud has heard of a loss, before what waits has its flag, goes on with that loss: it is no second
// one, by which what this history alone has written would be taken for what the lost one may have sent.
func TestALossThatTheCloudKnowsIsOneLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.drained(t)
		n.put(t, "teams", team("l", 0))
		n.drained(t) // and it tells the cloud that this is settled

		n = n.backTo(t, snapshot)
		seq := n.put(t, "teams", team("new", 1))
		n.presents(t)
		if lost := n.stateNow().Lost; lost == nil || lost.Flagged || lost.Fork >= seq {
			t.Fatalf("the test needs a loss that is known and not flagged: %+v", lost)
		}
		r := n.again(t)
		r.drained(t)
		if lost := r.stateNow().Lost; lost.Fork >= seq || len(lost.Twice) > 0 {
			t.Errorf("it was noticed once more: %+v", lost)
		}
		r.cloudHas(t, teams{"new": 1, "x": 1})
	})
}

// presents has the cloud be told who is there: the first half of a connect.
func (n *feedNode) presents(t *testing.T) {
	t.Helper()
	row, err := n.getRow(t.Context(), "a")
	if err == nil {
		_, err = n.present(t.Context(), row)
	}
	if err != nil {
		t.Fatal(err)
	}
}

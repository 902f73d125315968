package replica

import (
	"testing"
	"testing/synctest"
	"time"
)

// What is withdrawn of a table that was made anew, and is absent there because of that, is withdrawn when all have sent again
// what they know: it does not wait for ever, and while it waits the status says why.
func TestDeletedFromATableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(20*time.Second))
		stop := n.run(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		letPass(time.Minute)
		c.makeAnew(t)
		n.remove(t, "teams", teamKey("theirs"))
		reasons := func(n *feedNode) {
			t.Helper()
			letPass(45 * time.Second)
			st := n.status(t)
			for i := range st.Lanes {
				for _, p := range st.Lanes[i].Parked {
					if p.Why == "" {
						t.Errorf("%s waits until %v, and does not say why", p.WriteID, p.Until)
					}
				}
			}
		}
		reasons(n)
		stop()
		n = n.again(t)
		defer n.run(t)()
		reasons(n)
		letPass(2 * time.Hour)
		n.waits(t, 0)
		if n.row(t, "teams", teamKey("theirs")) != nil || c.team(t, "theirs") != nil {
			t.Error("it is back")
		}
	})
}

package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
)

// What is withdrawn of a table that was made anew, and is absent there because of that, is withdrawn when all have sent again
// what they know: it does not wait for ever, and while it waits the status says why.
func TestDeletedFromATableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		n := openNode(t, c, dir, scanTeams(20*time.Second))
		stop := n.run(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		letPass(time.Minute)
		c.restore(t, "teams", nil, "teams-2", time.Time{})
		if err := n.st.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "teams", Key: teamKey("theirs")})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		reasons := func(n *feedNode) {
			t.Helper()
			letPass(45 * time.Second)
			st, err := n.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
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
		n.close(t)
		n = openNode(t, c, dir, scanTeams(20*time.Second))
		stop = n.run(t)
		defer stop()
		reasons(n)
		letPass(2 * time.Hour)
		if got := n.waitingNow(t); got != 0 {
			t.Errorf("%d writes wait", got)
		}
		if n.row(t, "teams", teamKey("theirs")) != nil || len(c.snapshot(t, "teams")) != 0 {
			t.Error("it is back")
		}
	})
}

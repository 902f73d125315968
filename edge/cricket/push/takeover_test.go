package push

import (
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
)

// TestBlipAndTakeover: the holder of a match sees a wicket while the cloud is away and Apple is not; another node takes the
// match over and finds it too. One alert, whose ever way to Apple is open, and whichever of the two is started anew
// meanwhile.
func TestBlipAndTakeover(t *testing.T) {
	for _, tt := range []struct {
		name    string
		away    time.Duration // Apple is, for the second node
		restart bool          // of the first, while it waits
	}{{"Apple there", 0, false}, {"Apple away", 40 * time.Second, false}, {"restarted", 0, true}} {
		t.Run(tt.name, func(t *testing.T) {
			first, second := newRig(t), newRig(t)
			claims, rightsOf := map[*rig]*verdicts{}, map[*rig]*rights{}
			for _, r := range []*rig{first, second} {
				claims[r], rightsOf[r] = newVerdicts(), &rights{has: map[string]bool{"7": r == first}, free: map[string]bool{}}
				r.proofs, r.rights = claims[r], rightsOf[r]
				r.ready(r.out)
				r.out.take()
			}
			const wicket = "WICKET! Guptill"
			first.score("7", 5, wicket)
			seq := first.last()
			first.pass(5 * time.Second)

			rightsOf[first].set("7", false) // its lease has run out
			if tt.restart {
				first.halt()
				first.run(first.out)
			}
			back := second.clk.Now().Add(tt.away)
			second.out.script(func(p sent) apns.Result {
				if second.clk.Now().Before(back) {
					return apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer}
				}
				return apns.Result{Action: apns.Accepted, Status: 200, ID: p.ID}
			})
			rightsOf[second].set("7", true)
			second.score("7", 5, wicket)
			claims[second].say(second.last(), replica.ProofApplied)
			second.pass(time.Minute)

			claims[first].say(seq, replica.ProofRefused) // the cloud is back, and has the other's row
			first.do(func(tx *store.Tx) error {
				item, err := attr.Marshal(cricket.Event{Key: "w:1:1", Type: cricket.EventWicket, Text: wicket, At: tx.Now(), Alert: true})
				if err != nil {
					return err
				}
				item["matchId"], item["node"] = attr.S("7"), attr.S("second")
				_, err = tx.Adopt(tables.Events, attr.Item{"matchId": attr.S("7"), "eventKey": attr.S("w:1:1")}, item)
				return err
			})
			first.pass(5 * time.Minute)
			for _, p := range first.out.take() {
				if p.Alert == wicket {
					t.Errorf("the first node told it: %+v", p)
				}
			}
			told := 0
			for _, p := range second.out.take() {
				if p.Alert == wicket && !p.At.Before(back) {
					told++
				}
			}
			if told != 1 {
				t.Errorf("the second told it %d times", told)
			}
		})
	}
}

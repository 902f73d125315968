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

// TestBlipAndTakeover: the holder of a match sees a wicket while it can reach Apple but not the cloud. Another node takes
// the match over and finds the wicket too. Only that node sends the alert, once, even if it cannot reach Apple at first or
// the old holder restarts meanwhile.
func TestBlipAndTakeover(t *testing.T) {
	for _, tt := range []struct {
		name    string
		away    time.Duration // how long the second node cannot reach Apple
		restart bool          // the first node restarts while its claim is pending
	}{{"Apple reachable", 0, false}, {"Apple unreachable", 40 * time.Second, false}, {"restarted", 0, true}} {
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

			rightsOf[first].set("7", false) // its lease has expired
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

			claims[first].say(seq, replica.ProofRefused) // the cloud is reachable again, and has the second node's row
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
					t.Errorf("the first node sent it: %+v", p)
				}
			}
			times := 0
			for _, p := range second.out.take() {
				if p.Alert == wicket && !p.At.Before(back) {
					times++
				}
			}
			if times != 1 {
				t.Errorf("the second node sent it %d times", times)
			}
		})
	}
}

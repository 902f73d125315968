//go:build long

package cricketapp

import (
	"testing"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/testrig/simcloud"
)

// Two nodes, of which only one is left for a while.
func TestFleetOfTwo(t *testing.T) { testFleet(t, 2) }

// The holder of a match is cut off from the cloud, but not from Apple. The other node takes over, and the first comes back, three
// times. Every event exists once, no phone gets an alert twice, and in the end both nodes show the same.
func TestFleetBlip(t *testing.T) {
	f := newFleet(t)
	defer f.end()
	for _, name := range []string{"node0", "node1"} {
		f.start(name)
	}
	match := f.play("1208093", 214)
	matches := []string{match}
	f.follow("phone0", match)
	f.until("the phone shows its match", func() bool {
		for _, s := range f.cloud.Items(tables.LiveActivities) {
			if s["status"].Str() == string(phone.SessionActive) {
				return true
			}
		}
		return false
	})
	var holder *member
	f.until("a node holds the match", func() bool {
		holder = f.ids()[f.row(match)["instanceId"].Str()]
		return holder != nil
	})
	for range 3 {
		cut := holder
		cut.link.SetMode(simcloud.NoDNS)
		f.until("the other node takes over", func() bool {
			holder = f.ids()[f.row(match)["instanceId"].Str()]
			return holder != nil && holder != cut
		})
		cut.link.Heal()
		f.until("the first node is connected again", func() bool {
			st, err := replicaOf(cut.node).Status(t.Context())
			return err == nil && st.Up && st.Waiting == 0
		})
	}
	f.until("the match has a result", func() bool { return !f.row(match)["finishedAt"].IsZero() })
	f.until("both nodes show the same", func() bool { return f.sameDisplays(matches) == "" })
	f.check(matches)
}

package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
)

// Of a table that a node first looks at when it has sent to it, or was put back to a snapshot from before that, and finds
// restored, nobody can tell whether that was before what was sent or behind it. A transaction that waits is not proved by its
// row, which lies in another table.
func TestPutBackToBeforeTheFirstLook(t *testing.T) {
	for _, c := range []struct {
		name     string
		sent     bool // before the snapshot is taken, and not answered
		lost     bool // the machine goes on from there, and is put back
		want     int64
		recorded int
	}{
		// Nobody can tell any more what became of it there: it is recorded, and not sent over what was decided.
		{name: "sent in the time that was lost", lost: true, recorded: 1},
		{name: "not answered, and sent again in the time that was lost", sent: true, lost: true, recorded: 1},
		{name: "not answered", sent: true, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := beforeTheFirstLook(t, c.sent, c.lost)
				n.cloudHas(t, teams{"y": c.want, "z": c.want})
				n.recorded(t, c.recorded)
			})
		})
	}
}

// beforeTheFirstLook is a node with a transaction from before its first look at the teams, which have lost its effect.
func beforeTheFirstLook(t *testing.T, sent, lost bool) *feedNode {
	t.Helper()
	c, n := opened(t, nil)
	away := false
	c.refuse(intent.Throttled, func(op, table string) bool { return away || op == "table" && table == "teams" })
	c.loseAnswers(func(op, _ string) bool {
		away = away || op == "transact"
		return away
	})
	stop := n.run(t)
	letPass(time.Minute)
	backup := c.backUp(t)
	letPass(time.Second)
	if sent {
		n.pair(t, "y", "z")
		letPass(3 * time.Second)
	}
	stop()
	if !sent {
		n.pair(t, "y", "z")
	}
	n.waits(t, 2)
	snapshot := n.snapshot(t)
	c.heal()
	if lost {
		n = n.again(t)
		n.drained(t)
	}
	n.cloudHas(t, teams{"y": 1})
	letPass(time.Minute)
	c.restoreTo(t, backup)
	n = n.backTo(t, snapshot)
	n.drained(t)
	return n
}

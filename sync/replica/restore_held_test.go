package replica

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// What a lane has sent and holds while the way is gone stays sent when the outbox is read anew, because of another table: its
// own effect is no sign of another copy.
func TestHeldOverTheRestoreOfAnotherTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c, n := opened(t, func(cfg *Config) { cfg.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		stop := n.run(t)
		letPass(time.Minute)
		away := false
		c.refuse(intent.Offline, func(op, _ string) bool { return away && op != "table" })
		c.loseAnswers(func(op, _ string) bool {
			away = away || op == "transact"
			return false
		})
		n.pair(t, "x", "y")
		letPass(10 * time.Second)
		c.set(func() { c.state["follows"] = remote.TableState{ID: "follows-2", RestoredAt: time.Now()} })
		n.lookAtTables(t)
		c.heal()
		letPass(10 * time.Minute)
		stop()
		n.waits(t, 0)
		if got := log.String(); strings.Contains(got, "cannot have written") {
			t.Errorf("the log: %s", got)
		}
	})
}

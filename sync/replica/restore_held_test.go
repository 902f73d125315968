package replica

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
)

// What a lane has sent and holds while the way is gone stays sent when the outbox is read anew, because of another table: its
// own effect is no sign of another copy.
func TestHeldOverTheRestoreOfAnotherTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		away, armed := false, false
		c.set(func() {
			c.after = func(op, _ string) error {
				away = away || armed && op == "transact"
				return nil
			}
			c.fail = func(op, _ string) error {
				if away && op != "table" {
					return &intent.Error{Class: intent.Offline}
				}
				return nil
			}
		})
		var log bytes.Buffer
		n := openNode(t, c, t.TempDir(), func(cfg *Config) { cfg.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		stop := n.run(t)
		letPass(time.Minute)
		c.set(func() { armed = true })
		n.pair(t, "x", "y")
		letPass(10 * time.Second)
		c.set(func() { c.state["follows"] = TableState{ID: "follows-2", RestoredAt: time.Now()} })
		if err := n.checkTables(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		c.set(func() { away, armed = false, false })
		letPass(10 * time.Minute)
		stop()
		if got := log.String(); n.waitingNow(t) != 0 || strings.Contains(got, "cannot have written") {
			t.Errorf("%d wait, the log: %s", n.waitingNow(t), got)
		}
	})
}

package replica

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// hooked is a shelf that has something happen before each write of the table teams.
type hooked struct {
	*shelf

	before func()
}

func (h *hooked) Write(ctx context.Context, call intent.Call) (attr.Item, error) {
	if call.Table == "teams" {
		h.before()
	}
	return h.shelf.Write(ctx, call)
}

// A create meets a foreign item, is taken to that one's life, and is on its way there: what the application writes meanwhile
// is on what it sees, the item of the create. It is no create, and a delete deletes.
func TestWrittenBehindAMovedCreate(t *testing.T) {
	for _, deletes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newShelf(t)
			h := &hooked{shelf: c, before: func() {}}
			n := openNode(t, c, t.TempDir(), func(cfg *Config) { cfg.Poll, cfg.Cloud = nil, h })
			c.foreign(t, "teams", nil, team("one", 7))
			n.put(t, "teams", team("one", 1))
			var writes atomic.Int32
			h.before = func() {
				if writes.Add(1) != 2 { // behind the create: the label, the same on the life that has it
					return
				}
				n.update(t, "teams", teamKey("one"), "SET v = :v", attr.Item{":v": attr.S("x")})
				if !deletes {
					return
				}
				err := n.st.Update(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Delete(store.DeleteItem{Table: "teams", Key: teamKey("one")})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			stop := n.run(t)
			defer stop()
			letPass(time.Minute)
			if got := writes.Load(); got < 2 {
				t.Fatalf("%d writes", got)
			}
			n.waits(t, 0)
			it := c.team(t, "one")
			if deletes && it != nil || !deletes && (it["v"].Str() != "x" || it["n"].IsZero()) {
				t.Errorf("deletes %v: the cloud has %v", deletes, it)
			}
			n.recorded(t, 0)
		})
	}
}

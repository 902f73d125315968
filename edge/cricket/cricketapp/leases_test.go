package cricketapp

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// A node that can use the locks of its cloud, but cannot write its rows there, releases its locks and takes no others. The error
// says why.
func TestNodeThatCannotWriteHoldsNoLocks(t *testing.T) {
	synctest.Test(t, playNodeThatCannotWriteHoldsNoLocks)
}

func playNodeThatCannotWriteHoldsNoLocks(t *testing.T) {
	items, cloud := simulated(t)
	n, err := openPlayed(t.Context(), longDir(t), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Cloud: cloud}, DefaultSettings(), Outside{})
	if err != nil {
		t.Fatal(err)
	}
	leases := n.host.Leases.User()
	if _, err := leases.AcquireShare(t.Context(), "feed:livescores"); err != nil {
		t.Fatal(err)
	}
	items.Hide(syncTable, true)
	ctx, cancel := context.WithCancelCause(t.Context())
	end := n.Begin(ctx, cancel)
	wait.Until(t, "the lock is released", func() bool { return !n.host.Leases.Has("feed:livescores") })
	_, err = leases.AcquireShare(t.Context(), tables.MatchLock("7"))
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != "cloud_unusable" {
		t.Errorf("the lock of a match: %v", err)
	}
	items.Hide(syncTable, false)
	wait.Until(t, "locks are taken again", func() bool {
		_, err := leases.AcquireShare(t.Context(), tables.MatchLock("7"))
		return err == nil
	})
	end()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

const syncTable = "touchline-sync"

package cricketapp

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
)

// A node holds a match whose row in the cloud has a higher fence than its lock. The write that is refused for this makes the node
// raise its lock's fence, so that the next write succeeds.
func TestRefusedHolderRaisesItsLock(t *testing.T) { synctest.Test(t, playRefusedHolderRaisesItsLock) }

func playRefusedHolderRaisesItsLock(t *testing.T) {
	items, cloud := simulated(t)
	cloud.Config.LeaseTTL = 5 * time.Minute // nobody renews it here
	n, err := openPlayed(t.Context(), longDir(t), node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Cloud: cloud}, DefaultSettings(), Outside{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = replicaOf(n).Run(ctx)
	}()
	var held *lease.Share
	wait.Until(t, "the match's lock, which is not held before the rows that it guards are read", func() bool {
		held, err = n.host.Leases.User().AcquireShare(t.Context(), tables.MatchLock("7"))
		return held != nil
	}, func() any { return err })
	fence := held.Fence()
	row := attr.Item{"matchId": attr.S("7"), "_f": attr.Int(fence + 1000)}
	if err := (simcloud.Foreign{Cloud: items.Cloud, Name: "holder"}).Put(tables.ActiveMatches, row); err != nil {
		t.Fatal(err)
	}
	err = n.host.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: tables.ActiveMatches, Item: attr.Item{"matchId": attr.S("7"), "_f": attr.Int(fence)}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, fmt.Sprintf("the fence is above %d, that of the row", fence+1000), func() bool { return held.Fence() == fence+1001 },
		func() any { return held.Fence() })
	cancel()
	<-ended
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

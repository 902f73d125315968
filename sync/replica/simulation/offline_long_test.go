//go:build long

package simulation_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
)

// A node that is offline for ten hours makes 200,000 writes: all of them arrive, in order for each item, the status shows the lag, and
// memory does not grow with them.
func TestTenHoursOffline(t *testing.T) {
	const writes, batch, items = 200_000, 500, 20_000
	synctest.Test(t, func(t *testing.T) {
		st := newSimStage(true)
		order := map[string]int64{}
		wrong := 0
		st.c = simcloud.New(simcloud.Options{Forget: true, OnEffect: func(e *simcloud.Effect) {
			last, _ := e.New["last"].Int()
			if key := keyText(e.Key); e.Table == "items" {
				if last < order[key] {
					wrong++
				}
				order[key] = last
			}
		}})
		st.c.Create(cloudSpecs()...)
		st.net = simcloud.NewNetwork(st.c, simcloud.NewTimer(), 1)
		sc := newScene(t, st)
		a := sc.node("A")
		a.tap.offline()
		began := time.Now()
		n := 0
		for n < writes {
			a.must(func(tx *store.Tx) error {
				for range batch {
					n++
					if _, err := tx.Update(store.UpdateItem{
						Table: "items", Key: pk(fmt.Sprintf("i%d", n*7919%items)), Update: "SET #l = :n ADD n :one",
						Params: values("#l", "last", ":n", n, ":one", 1),
					}); err != nil {
						return err
					}
				}
				return nil
			})
			sc.pass(10 * time.Hour * batch / writes)
		}
		status, err := a.Status(context.Background())
		must(t, err)
		if lag := time.Since(status.Oldest); status.Waiting == 0 || lag < 9*time.Hour {
			t.Errorf("after ten hours %d writes wait, the oldest for %v", status.Waiting, lag)
		}
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		t.Logf("offline for %v: %d writes wait in %d batches, %d MB in memory", time.Since(began), status.Waiting, a.queued(), memory.HeapAlloc>>20)
		if memory.HeapAlloc > 300<<20 {
			t.Errorf("%d MB in memory", memory.HeapAlloc>>20)
		}
		a.tap.online()
		began = time.Now()
		for a.queued() > 0 && time.Since(began) < 24*time.Hour {
			sc.pass(time.Minute)
		}
		t.Logf("drained in %v, write units %.0f", time.Since(began), st.c.Units())
		sum := int64(0)
		for _, it := range st.c.Items("items") {
			k, _ := it["n"].Int()
			sum += k
		}
		if sum != writes || wrong != 0 || a.queued() != 0 {
			t.Errorf("%d writes arrived of %d, %d out of order, %d batches still wait", sum, writes, wrong, a.queued())
		}
	})
}

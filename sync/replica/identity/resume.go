package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/sync/replica/remote"
)

// A machine that was resumed with its memory goes on as the same run, and so may another machine that was resumed from the same snapshot:
// both would give the same sequences to different writes, and the runs that they list would not tell where they parted. So the run ends
// when the machine's clocks show that it may have been resumed, and another one begins in a new incarnation, as after a crash. A clock that
// was only set looks the same. This costs it a connect, and nothing else: what waits keeps its numbers.

// noteJump is called at each jump of the machine's clocks. A machine that was only suspended is still the only one with its memory.
func (id *Identity) noteJump(jump clock.Jump) {
	if jump.Set == 0 {
		return
	}
	id.resumed.Store(true)
	id.resumeWake.Set()
	id.Reconnect(jump.String())
}

// RunResumes begins a new run whenever the machine may have been resumed, until ctx ends. It waits for no cloud, because what is written
// without it needs sequences of its own too.
func (id *Identity) RunResumes(ctx context.Context) error {
	defer id.Jumps.Subscribe(id.noteJump)()
	for {
		until := time.Time{}
		if id.resumed.Load() {
			until = id.Clock.Now().Add(tellSoon) // it has failed
		}
		if err := id.Clock.Wait(ctx, until, id.resumeWake); err != nil {
			return err
		}
		if err := id.beginResumed(ctx); err != nil {
			remote.Complain(id.Log, "beginning a new run after the machine's clock has jumped", err)
		}
	}
}

// beginResumed begins a new run if the machine may have been resumed. The cloud may then have another copy's writes, which is no sign that
// two copies run at present.
func (id *Identity) beginResumed(ctx context.Context) error {
	id.Jumps.CheckClocks()
	defer id.lockHistory()()
	if !id.resumed.Swap(false) {
		return nil
	}
	id.mu.Lock()
	id.connected = false
	id.mu.Unlock()
	_, err := id.Store.BeginIncarnation(ctx, id.copyFile().Incarnation)
	if err == nil {
		err = id.beginBoot(ctx)
	}
	if err != nil {
		id.resumed.Store(true)
		return fmt.Errorf("beginning a new run of the node: %w", err)
	}
	id.Log.Info("identity: the machine may have been resumed from a snapshot; the node goes on as a new run", "node", id.Store.Node())
	return nil
}

// lockHistory waits for the right to begin a run.
func (id *Identity) lockHistory() (end func()) {
	id.historyLock <- struct{}{}
	return func() { <-id.historyLock }
}

package app

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/derived"
)

// Missing returns the sources that were not read whole yet, and has them read soon. Without a cloud (nil) all are whole.
func Missing(cloud Sync, sources []derived.Source) (missing []derived.Source, err error) {
	if cloud == nil {
		return nil, nil
	}
	for i := range sources {
		s := &sources[i]
		if s.Table == "" {
			missing = append(missing, *s)
			continue
		}
		is, err := cloud.IsWhole(s.Table, s.Partition, s.After)
		if err != nil {
			return nil, err
		}
		if is {
			continue
		}
		if err := cloud.WantWhole(s.Table, s.Partition); err != nil {
			return nil, err
		}
		missing = append(missing, *s)
	}
	return missing, nil
}

// CountingWaits says, for people, what counting waits for.
func CountingWaits(missing []derived.Source) string {
	var what []string
	for i := range missing {
		what = append(what, missing[i].What)
	}
	return "Counting waits for " + strings.Join(what, ", and ") + "."
}

// AwaitLook is how often it is asked again for what no read brings, such as a lock that has not reached the cloud.
const AwaitLook = time.Second

// AwaitWhole waits until all sources, which are asked for again and again, were read whole. After the given time, or when ctx ends, it
// returns fault.Unavailable, which says what counting waits for.
func (h *Host) AwaitWhole(ctx context.Context, within time.Duration, sources func(tx *store.Tx) ([]derived.Source, error)) error {
	sig := clock.NewSignal()
	defer h.Sync.WatchWhole(sig)()
	leave := h.Clock.Join()
	defer leave()
	for until := h.Clock.Now().Add(within); ; {
		var all []derived.Source
		err := h.Store.View(ctx, func(tx *store.Tx) (err error) {
			all, err = sources(tx)
			return err
		})
		if err != nil {
			return err
		}
		missing, err := Missing(h.Sync, all)
		if err != nil || len(missing) == 0 {
			return err
		}
		now := h.Clock.Now()
		if ctx.Err() != nil || !now.Before(until) {
			return fault.New(fault.Unavailable, "counting_waits", "%s Try again later.", CountingWaits(missing))
		}
		_ = h.Clock.Wait(ctx, now.Add(AwaitLook), sig) // what it waited for is looked at again
	}
}

package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// housekeepEvery is how often the store is given time for background tasks. The store itself does some of them less often.
const housekeepEvery = time.Minute

// Housekeep runs the store's background tasks until ctx ends. A failed one is retried a minute later: the node works without it. A
// persistent failure is logged once.
func Housekeep(ctx context.Context, s *store.Store, c clock.Clock, log *slog.Logger) error {
	changed := clock.NewSignal()
	stop := s.WatchTables(changed)
	defer stop()
	said, damaged, every := false, uint64(0), min(housekeepEvery, s.SweepEvery())
	for {
		more, err := s.Housekeep(ctx)
		damaged = sayDamaged(s.Scrub(), damaged, log)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !said:
			log.Warn("housekeeping of the store failed and will be tried again", "error", err)
			said = true
		case err == nil && more:
			continue
		case err == nil:
			said = false
		}
		if err := c.Wait(ctx, c.Now().Add(every), changed); err != nil {
			return err
		}
	}
}

// sayDamaged logs damaged items that the scrub found since before, and returns their new total.
func sayDamaged(found store.ScrubStats, before uint64, log *slog.Logger) uint64 {
	if found.Damaged > before {
		log.Error("items on disk are damaged and are refused: run touchline check, restore the last backup, and check the disk",
			"damaged", found.Damaged, "where", found.Where)
	}
	return found.Damaged
}

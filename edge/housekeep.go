package edge

import (
	"context"
	"log/slog"
	"time"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// housekeepEvery is how often the store is asked for what time alone makes due. What it then does less often, it knows.
const housekeepEvery = time.Minute

// housekeep does the store's housekeeping until ctx ends. A slice that fails is tried again a minute later: the node
// works without it. What is wrong is logged once until nothing is.
func housekeep(ctx context.Context, s *store.Store, c clock.Clock, log *slog.Logger) error {
	changed := clock.NewSignal()
	stop := s.WatchTables(changed)
	defer stop()
	said := false
	for {
		more, err := s.Housekeep(ctx)
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
		if err := c.Wait(ctx, c.Now().Add(housekeepEvery), changed); err != nil {
			return err
		}
	}
}

// choreStatus shows what housekeeping is at.
func choreStatus(st *store.Stats) httpapi.ChoreStatus {
	out := httpapi.ChoreStatus{Swept: st.Swept}
	for _, p := range st.Filling {
		out.Filling = append(out.Filling, httpapi.Chore{Table: p.Table, Index: p.Index, Done: p.Items})
	}
	for _, p := range st.Dropping {
		out.Dropping = append(out.Dropping, httpapi.Chore{Table: p.Table, Index: p.Index, Done: p.Removed})
	}
	return out
}

package poll

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// referenceEvery is how often leagues and teams are synced. They change with the season.
const referenceEvery = 6 * time.Hour

// syncLeagues updates the leagues table from the feed. New leagues are active if they are configured.
func (p *Poller) syncLeagues(ctx context.Context, _ time.Time) error {
	all, err := p.Reference.Leagues(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].Active, all[i].Marquee = p.wanted(all[i].Code), false
	}
	if err := syncRecords(ctx, p, tables.Leagues, all, reference.Leagues{}); err != nil {
		return err
	}
	defer p.look()
	return p.rename(ctx)
}

// records are the leagues or the teams.
type records[R any] interface {
	Missing(tx *store.Tx, all ...R) ([]attr.Item, error)
	Put(tx *store.Tx, all ...R) error
}

// syncRecords writes the feed's records to their table, in parts. Rows that exist only in the cloud are fetched first.
func syncRecords[R any](ctx context.Context, p *Poller, table string, all []R, to records[R]) error {
	for some := range slices.Chunk(all, rowsAtOnce) {
		err := p.ensure(ctx, table, func(tx *store.Tx) ([]attr.Item, error) { return to.Missing(tx, some...) })
		if err == nil {
			err = p.Data.Update(ctx, func(tx *store.Tx) error { return to.Put(tx, some...) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

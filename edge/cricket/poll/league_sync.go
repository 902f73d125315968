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

// referenceEvery is how often leagues and teams are read. They change with the season.
const referenceEvery = 6 * time.Hour

// syncLeagues takes the leagues of the feed into their table. New ones are active if they are configured.
func (p *Poller) syncLeagues(ctx context.Context, _ time.Time) error {
	return p.exclusive(ctx, func(ctx context.Context) error {
		all, err := p.Reference.Leagues(ctx)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(all, rowsAtOnce) {
			err := p.ensure(ctx, tables.Leagues, func(tx *store.Tx) ([]attr.Item, error) {
				return reference.Leagues{}.Missing(tx, some...)
			})
			if err != nil {
				return err
			}
			err = p.Data.Update(ctx, func(tx *store.Tx) error {
				for _, l := range some {
					l.Active, l.Marquee = p.wanted(l.Code), false
					if err := (reference.Leagues{}).Put(tx, l); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		defer p.look()
		return p.rename(ctx)
	})
}

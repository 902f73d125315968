package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/derived"
)

// referenceEvery is how often leagues and teams are synced. They change with the season.
const referenceEvery = 6 * time.Hour

// syncLeagues updates the leagues table from the feed. New leagues are active if they are configured.
func (p *Poller) syncLeagues(ctx context.Context, _ time.Time) error {
	if err := p.isWhole(ctx, p.Readings.LeagueRows, ""); err != nil {
		return err
	}
	all, err := p.Reference.Leagues(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].Active, all[i].Marquee = p.wanted(all[i].Code), false
	}
	if err := p.derive(ctx, p.Readings.LeagueRows, p.Readings.SetLeagues(all...)); err != nil {
		return err
	}
	defer p.runOrchestrator()
	return p.rename(ctx)
}

// errNotWhole means that rows wait for something to be read whole from the cloud. It is not a failure.
var errNotWhole = errors.New("rows wait until their table has been read from the cloud")

// isWhole returns errNotWhole if a rule's unit cannot be derived yet. To ask for it costs no call of the feed.
func (p *Poller) isWhole(ctx context.Context, rule *derived.Rule, unit string) error {
	if p.Whole == nil {
		return nil
	}
	var sources []derived.Source
	err := p.Data.View(ctx, func(tx *store.Tx) (err error) {
		sources, err = rule.Sources(tx, unit)
		return err
	})
	if err != nil {
		return err
	}
	whole, err := p.Whole(sources)
	if err == nil && !whole {
		return errNotWhole
	}
	return err
}

// derive writes the rows that a reading tells of. The node does it too, and shows what it leaves as it is; but other jobs need the rows now.
func (p *Poller) derive(ctx context.Context, rule *derived.Rule, unit string) error {
	if err := p.isWhole(ctx, rule, unit); err != nil {
		return err
	}
	_, err := rule.SettleUnit(ctx, p.Data, unit)
	return err
}

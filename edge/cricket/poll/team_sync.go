package poll

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// squadsAtOnce is how many squads are read per run: each is a call of its own, and fixtures wait meanwhile.
const squadsAtOnce = 20

// teamsDue: every six hours, and every minute while squads are still to be read.
func (p *Poller) teamsDue(last time.Time) (time.Time, bool) {
	if len(p.squads) > 0 {
		return each(fixturesEvery)(last)
	}
	return each(referenceEvery)(last)
}

// syncTeams updates the teams table from the feed, and then, a few per run, the squads and standings of the
// running seasons of active leagues.
func (p *Poller) syncTeams(ctx context.Context, now time.Time) error {
	if len(p.squads) == 0 {
		if err := p.readTeams(ctx); err != nil {
			return err
		}
	}
	for range min(squadsAtOnce, len(p.squads)) {
		if err := p.readSquad(ctx, p.squads[0], now); err != nil {
			return err
		}
		p.squads = p.squads[1:]
	}
	return nil
}

func (p *Poller) readTeams(ctx context.Context) error {
	teams, err := p.Reference.Teams(ctx)
	if err != nil {
		return err
	}
	if err := syncRecords(ctx, p, tables.Teams, teams, reference.Teams{}); err != nil {
		return err
	}
	seasons, err := p.Reference.Seasons(ctx)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, s := range seasons {
		names[s.SeasonID] = s.Name
	}
	var due []reference.TeamSeasonRecord
	err = p.Data.View(ctx, func(tx *store.Tx) error {
		due = nil
		active, err := reference.Leagues{}.Active(tx)
		for i := range active {
			rows, err := standingsOf(tx, &active[i], names)
			if err != nil {
				return err
			}
			due = append(due, rows...)
		}
		return err
	})
	p.squads = due
	return err
}

// standingsOf computes the running season of a league from the known fixtures.
func standingsOf(tx *store.Tx, l *reference.LeagueRecord, names map[string]string) ([]reference.TeamSeasonRecord, error) {
	if l.SeasonID == "" || l.Code == "" {
		return nil, nil
	}
	fixtures, err := matches.Fixtures{}.Between(tx, l.Code, time.Unix(0, 0), never())
	if err != nil {
		return nil, err
	}
	table := reference.Standings(fixtures, l.SeasonID)
	var rows []reference.TeamSeasonRecord
	for _, id := range slices.Sorted(maps.Keys(table)) {
		table[id].SeasonName = names[l.SeasonID]
		rows = append(rows, *table[id])
	}
	return rows, nil
}

// readSquad writes a team's row of a season. If the feed has no squad, the known one stays.
func (p *Poller) readSquad(ctx context.Context, row reference.TeamSeasonRecord, now time.Time) error {
	squad, err := p.Reference.Squad(ctx, row.TeamID, row.SeasonID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	row.Squad, row.UpdatedAt = squad, now
	return p.Data.Update(ctx, func(tx *store.Tx) error {
		if len(row.Squad) == 0 {
			old, err := reference.TeamSeasons{}.Get(tx, row.SeasonID, row.TeamID)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
			row.Squad = old.Squad
		}
		return reference.TeamSeasons{}.Put(tx, row)
	})
}

package poll

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/derived"
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

// squad is a squad to be read.
type squad struct {
	code         string // of the league
	season, name string // the season's id and name
	team         string
}

// syncTeams updates the teams table from the feed, and then, a few per run, the squads and standings of the
// running seasons of active leagues.
func (p *Poller) syncTeams(ctx context.Context, now time.Time) error {
	for _, rule := range []*derived.Rule{p.Readings.TeamRows, p.Readings.SeasonRows} {
		if err := p.isWhole(ctx, rule, ""); err != nil {
			return err
		}
	}
	if len(p.squads) == 0 {
		if err := p.readTeams(ctx); err != nil {
			return err
		}
	}
	some := p.squads[:min(squadsAtOnce, len(p.squads))]
	read, failed := p.readSquads(ctx, some, now)
	p.squads = p.squads[read:]
	return errors.Join(failed, p.deriveSeasons(ctx, some[:read]))
}

func (p *Poller) readTeams(ctx context.Context) error {
	teams, err := p.Reference.Teams(ctx)
	if err != nil {
		return err
	}
	if err := p.derive(ctx, p.Readings.TeamRows, p.Readings.SetTeams(teams...)); err != nil {
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
	var due []squad
	err = p.Data.View(ctx, func(tx *store.Tx) error {
		due = nil
		active, err := reference.Leagues{}.Active(tx)
		for i := range active {
			squads, err := squadsOf(tx, &active[i], names)
			if err != nil {
				return err
			}
			due = append(due, squads...)
		}
		return err
	})
	p.squads = due
	return err
}

// squadsOf returns the squads of the running season of a league: of the teams in its known fixtures.
func squadsOf(tx *store.Tx, l *reference.LeagueRecord, names map[string]string) (due []squad, err error) {
	if l.SeasonID == "" || l.Code == "" {
		return nil, nil
	}
	fixtures, _, err := matches.Fixtures{}.OfLeague(tx, l.Code)
	if err != nil {
		return nil, err
	}
	for _, team := range slices.Sorted(maps.Keys(reference.Standings(fixtures, l.SeasonID))) {
		due = append(due, squad{code: l.Code, season: l.SeasonID, name: names[l.SeasonID], team: team})
	}
	return due, nil
}

// readSquads reads squads, until one cannot be read. If the feed has none, the known one stays.
func (p *Poller) readSquads(ctx context.Context, due []squad, now time.Time) (read int, err error) {
	for i, s := range due {
		players, err := p.Reference.Squad(ctx, s.team, s.season)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return i, err
		}
		p.Readings.SetSquad(s.code, s.season, s.name, s.team, players, now)
	}
	return len(due), nil
}

// deriveSeasons writes the rows of the seasons whose squads were read.
func (p *Poller) deriveSeasons(ctx context.Context, read []squad) error {
	seasons := map[string]bool{}
	for _, s := range read {
		seasons[s.season] = true
	}
	for _, id := range slices.Sorted(maps.Keys(seasons)) {
		p.Readings.SeasonRead(id)
		if err := p.derive(ctx, p.Readings.SeasonRows, id); err != nil {
			return err
		}
	}
	return nil
}

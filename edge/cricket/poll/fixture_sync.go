package poll

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// What is synced: every minute the fixtures around today, and every hour those that an app shows as upcoming.
const (
	fixturesEvery = time.Minute
	wideEvery     = time.Hour
	syncBack      = 12 * time.Hour
	syncAhead     = 24 * time.Hour
	wideBack      = 3 * 24 * time.Hour
	wideAhead     = 14 * 24 * time.Hour
)

// rowsAtOnce is how many rows a sync writes per transaction: it must not hold up a tick.
const rowsAtOnce = 25

func (p *Poller) fixturesDue(last time.Time) (time.Time, bool) {
	return p.due(sportmonks.Fixtures, last, fixturesEvery, 1), true
}

// exclusive returns the run of a job that one node does for all, under the lease of the reference jobs;
// errElsewhere if another node holds it.
func (p *Poller) exclusive(f run) run {
	return func(ctx context.Context, now time.Time) error {
		lease, err := p.takeLock(ctx, tables.ReferenceLock)
		if err != nil {
			return err
		}
		if lease == nil {
			return errElsewhere
		}
		ctx, cancel := lease.Context(ctx)
		defer cancel()
		return f(ctx, now)
	}
}

// syncFixtures updates the fixtures table from the feed's list, for active leagues.
func (p *Poller) syncFixtures(ctx context.Context, now time.Time) error {
	wall := p.Clock.Wall()
	from, to := wall.Add(-syncBack), wall.Add(syncAhead)
	wide := p.wideAt.IsZero() || now.Sub(p.wideAt) >= wideEvery
	if wide {
		from, to = wall.Add(-wideBack), wall.Add(wideAhead)
	}
	p.noteCall(sportmonks.Fixtures, now)
	all, err := p.Feed.Fixtures(ctx, from, to)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s cricket.Snapshot) bool { return !p.isActive(&s) })
	changed, err := p.writeFixtures(ctx, all)
	if changed > 0 {
		p.runOrchestrator()
	}
	if err == nil && wide {
		p.wideAt = now
	}
	return err
}

func (p *Poller) writeFixtures(ctx context.Context, all []cricket.Snapshot) (changed int, err error) {
	var cached error
	for some := range slices.Chunk(all, rowsAtOnce) {
		if err := p.ensureFixtures(ctx, some); err != nil {
			return changed, err
		}
		n := 0
		var rows []matches.CachedFixture
		err := p.Data.Update(ctx, func(tx *store.Tx) (err error) {
			n = 0
			for i := range some {
				did, err := matches.Fixtures{}.Sync(tx, p.withNames(&some[i], &reading{}))
				if err != nil {
					return err
				}
				if did {
					n++
				}
			}
			rows, err = uncached(tx, some)
			return err
		})
		if err != nil {
			return changed, err
		}
		changed += n
		cached = cmp.Or(cached, p.cacheAhead(ctx, rows)) // caching must not hold up the next fixtures
	}
	return changed, cached
}

// ensureFixtures fetches rows that exist only in the cloud: otherwise they would be written as new.
func (p *Poller) ensureFixtures(ctx context.Context, some []cricket.Snapshot) error {
	var ids []string
	for i := range some {
		ids = append(ids, some[i].MatchID)
	}
	return p.ensure(ctx, tables.Fixtures, func(tx *store.Tx) ([]attr.Item, error) {
		return matches.Fixtures{}.Missing(tx, ids...)
	})
}

// uncached returns cache rows for matches that are neither polled nor freshly cached.
func uncached(tx *store.Tx, some []cricket.Snapshot) (rows []matches.CachedFixture, err error) {
	var ids []string
	for i := range some {
		ids = append(ids, some[i].MatchID)
	}
	have, err := matches.FixtureCache{}.Batch(tx, ids...)
	if err != nil {
		return nil, err
	}
	polled, err := matches.PolledIDs(tx, ids...)
	if err != nil {
		return nil, err
	}
	skip := map[string]bool{}
	for i := range have {
		skip[have[i].MatchID] = true
	}
	for _, id := range polled {
		skip[id] = true
	}
	for i := range some {
		f, ok := matches.NewCachedFixture(&some[i], tx.Now())
		if ok && !skip[f.MatchID] {
			skip[f.MatchID] = true // a list may have a match twice
			rows = append(rows, f)
		}
	}
	return rows, nil
}

// cacheAhead caches replies for matches that are not polled yet. Only the holder of a match's lock may write its
// row, so the lock is taken and released again.
func (p *Poller) cacheAhead(ctx context.Context, rows []matches.CachedFixture) error {
	if len(rows) == 0 || p.Ahead == nil {
		return nil
	}
	leases := map[string]Lease{}
	defer func() {
		for _, id := range slices.Sorted(maps.Keys(leases)) {
			_ = leases[id].Release(context.WithoutCancel(ctx)) // otherwise it expires
		}
	}()
	for i := range rows {
		lease, err := p.Ahead.Hold(ctx, tables.MatchLock(rows[i].MatchID))
		if err != nil {
			return err
		}
		if lease != nil {
			leases[rows[i].MatchID] = lease
		}
	}
	_, tooBig, err := p.cacheAll(ctx, func(_ *store.Tx, put func(*matches.CachedFixture, matches.Owner) error) error {
		for i := range rows {
			lease := leases[rows[i].MatchID]
			if lease == nil {
				continue // another node has begun to poll it
			}
			if err := put(&rows[i], matches.Owner{Node: p.Node, Fence: lease.Fence()}); err != nil {
				return err
			}
		}
		return nil
	})
	p.count(func(s *Status) { s.TooBig += tooBig })
	return err
}

// scoresDue: until the catalogue of scores has been read once.
func (p *Poller) scoresDue(last time.Time) (time.Time, bool) {
	if p.scored {
		return time.Time{}, false
	}
	return each(fixturesEvery)(last)
}

// loadScores reads the catalogue of scores. Every node needs it.
func (p *Poller) loadScores(ctx context.Context, _ time.Time) error {
	err := p.Feed.LoadScores(ctx)
	p.scored = err == nil
	return err
}

package poll

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/store"
)

// cacheable is a reply to be cached.
type cacheable struct {
	snap *cricket.Snapshot
	by   matches.Owner
}

// queueReply queues a match's reply for caching after the round's polls: during one it would delay ticks, for which phones wait. Only
// the newest queued reply of a match is kept.
func (p *Poller) queueReply(s *cricket.Snapshot, by matches.Owner) {
	if len(s.Raw) > 0 {
		p.cached[s.MatchID] = cacheable{s, by}
	}
}

// cacheDue: as soon as a reply is queued.
func (p *Poller) cacheDue(time.Time) (time.Time, bool) { return time.Time{}, len(p.cached) > 0 }

// cache writes the queued replies in one transaction.
func (p *Poller) cache(ctx context.Context, _ time.Time) error {
	waiting := p.cached
	p.cached = map[string]cacheable{}
	kept, tooBig, err := p.cacheAll(ctx, func(tx *store.Tx, put func(*matches.CachedFixture, matches.Owner) error) error {
		for _, id := range slices.Sorted(maps.Keys(waiting)) {
			c := waiting[id]
			f, ok := matches.NewCachedFixture(c.snap, tx.Now())
			if !ok {
				continue
			}
			if err := put(&f, c.by); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		p.count(func(s *Status) { s.Cached += kept; s.TooBig += tooBig })
	}
	return err
}

// cacheAll writes replies in one transaction and returns how many were written and how many were too large.
// Replies for which a later holder has written are skipped.
func (p *Poller) cacheAll(
	ctx context.Context, each func(tx *store.Tx, put func(*matches.CachedFixture, matches.Owner) error) error,
) (kept, tooBig int64, err error) {
	err = p.Data.Update(ctx, func(tx *store.Tx) error {
		kept, tooBig = 0, 0
		return each(tx, func(f *matches.CachedFixture, by matches.Owner) error {
			err := matches.FixtureCache{}.Put(tx, f, by)
			_, fencedOff := errors.AsType[*matches.FencedOffError](err)
			switch {
			case errors.Is(err, matches.ErrTooBig):
				tooBig++
			case fencedOff: // the later holder's reply is as good
			case err != nil:
				return err
			default:
				kept++
			}
			return nil
		})
	})
	return kept, tooBig, err
}

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

// cacheable is a reply that is to be cached.
type cacheable struct {
	snap *cricket.Snapshot
	by   matches.Owner
}

// keep has the reply of a match cached. That is done beside the loop that tells phones: they do not wait for it. Of
// several replies of a match that are waiting, the newest is kept.
func (p *Poller) keep(s *cricket.Snapshot, by matches.Owner) {
	if len(s.Raw) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cached[s.MatchID] = cacheable{s, by}
}

// keepKept sets the caching to work on what a round of polls has brought: in between it would make ticks wait.
func (p *Poller) keepKept() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.cached) > 0 {
		p.toCache.Set()
	}
}

// keepReplies writes what is to be cached until ctx ends.
func (p *Poller) keepReplies(ctx context.Context) {
	j := &job{name: "cache"}
	for p.Clock.Wait(ctx, time.Time{}, p.toCache) == nil {
		p.finish(ctx, j, p.Clock.Now(), p.keepNow(ctx))
	}
}

// keepNow writes the replies that are waiting, in one transaction.
func (p *Poller) keepNow(ctx context.Context) error {
	p.mu.Lock()
	waiting := p.cached
	p.cached = map[string]cacheable{}
	p.mu.Unlock()
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

// cacheAll writes replies in one transaction, and tells how many were kept and how many are too large. One that a later holder
// of the match has written over is left out.
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
			case fencedOff: // its reply is as good
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

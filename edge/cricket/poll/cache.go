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

// keep queues a match's reply for caching. The cache is written outside the loop that ticks matches, so that
// phones do not wait for it. Only the newest queued reply of a match is kept.
func (p *Poller) keep(s *cricket.Snapshot, by matches.Owner) {
	if len(s.Raw) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cached[s.MatchID] = cacheable{s, by}
}

// keepKept starts the caching after a round of polls: during one it would delay ticks.
func (p *Poller) keepKept() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.cached) > 0 {
		p.toCache.Set()
	}
}

// keepReplies writes queued replies until ctx ends.
func (p *Poller) keepReplies(ctx context.Context) {
	j := &job{name: "cache"}
	for p.Clock.Wait(ctx, time.Time{}, p.toCache) == nil {
		p.finish(ctx, j, p.Clock.Now(), p.keepNow(ctx))
	}
}

// keepNow writes the queued replies in one transaction.
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

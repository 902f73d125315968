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
	var kept, tooBig int64
	err := p.Data.Update(ctx, func(tx *store.Tx) error {
		kept, tooBig = 0, 0
		for _, id := range slices.Sorted(maps.Keys(waiting)) {
			c := waiting[id]
			f, ok := matches.NewCachedFixture(c.snap, tx.Now())
			if !ok {
				continue
			}
			err := matches.FixtureCache{}.Put(tx, &f, c.by)
			deposed, is := errors.AsType[*matches.DeposedError](err)
			switch {
			case errors.Is(err, matches.ErrTooBig):
				tooBig++
			case is && deposed != nil: // a later holder has written: its reply is as good
			case err != nil:
				return err
			default:
				kept++
			}
		}
		return nil
	})
	if err == nil {
		p.count(func(s *Status) { s.Cached += kept; s.TooBig += tooBig })
	}
	return err
}

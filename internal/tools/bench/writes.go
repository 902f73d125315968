package main

import (
	"context"
	"os"
	"time"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
)

// measureLone compares the put of a single writer with its indispensable parts.
func measureLone(ctx context.Context, b *bench) error {
	s, r, done, err := b.openBoth(ctx)
	if err != nil {
		return err
	}
	defer done()
	page, err := b.syncer()
	if err != nil {
		return err
	}
	// A commit takes a few hundred microseconds, and one in many is slow: so slices are short and rounds many.
	got, err := measure.Interleave(ctx, 3*b.size.rounds,
		s.writers(ctx, 1, b.size.lone), r.loop(b.size.lone, 1), page)
	if err != nil {
		return err
	}
	put := measure.Micros(got[0].Wall)
	b.Compare("lone/raw", put, measure.Micros(got[1].Wall))
	b.Compare("lone/sync", put, measure.Micros(got[2].Wall))
	if !b.Wants("lone/coalesce") {
		return nil
	}
	return b.measureCoalescing(ctx, s)
}

// openBoth opens a store and raw with the same small number of items. done closes both.
func (b *bench) openBoth(ctx context.Context) (s *ours, r *raw, done func(), err error) {
	if s, err = openOurs(ctx, b.file("store.db"), b.size.small, 0); err != nil {
		return nil, nil, nil, err
	}
	if r, err = openRaw(ctx, b.file("raw.db"), b.size.small); err != nil {
		measure.Shut(s)
		return nil, nil, nil, err
	}
	return s, r, func() { measure.Shut(r.db); measure.Shut(s) }, nil
}

// syncer returns a side with the minimum of a durable write.
func (b *bench) syncer() (measure.Side, error) {
	f, err := os.Create(b.file("page"))
	if err != nil {
		return measure.Side{}, err
	}
	page := make([]byte, 4096)
	write := func() error {
		if _, err := f.WriteAt(page, 0); err != nil {
			return err
		}
		return measure.SyncData(f)
	}
	return measure.Side{Run: func() (int, error) {
		for range b.size.lone {
			if err := write(); err != nil {
				return 0, err
			}
		}
		return b.size.lone, nil
	}}, nil
}

// measureCoalescing measures what the ability to share commits costs a single writer. There is no store without the committer to compare
// with, so each put is split: the time from the call to the answer is compared with the time of its function and of its commit. The rest
// is queueing, handing over between goroutines, lingering, and starting the transaction, which is counted as loss although every store
// has to do it.
func (b *bench) measureCoalescing(ctx context.Context, s *ours) error {
	var all, needed []float64
	for range b.size.rounds {
		items := s.batch(b.size.lone)
		var whole, parts time.Duration
		for _, it := range items {
			var inside time.Duration
			began := time.Now()
			err := s.Update(ctx, func(tx *store.Tx) error {
				entered := time.Now()
				err := putItem(tx, it)
				inside = time.Since(entered)
				return err
			})
			if err != nil {
				return err
			}
			whole += time.Since(began)
			parts += inside + time.Duration(s.Stats().LastMillis*float64(time.Millisecond))
		}
		all = append(all, whole.Seconds()/float64(len(items)))
		needed = append(needed, parts.Seconds()/float64(len(items)))
	}
	b.Compare("lone/coalesce", measure.Micros(all), measure.Micros(needed))
	return nil
}

// measureCommits counts how many puts share a commit.
func measureCommits(ctx context.Context, b *bench) error {
	s, err := openOurs(ctx, b.file("store.db"), b.size.small, 0)
	if err != nil {
		return err
	}
	defer measure.Shut(s)
	for _, c := range []struct {
		id      string
		writers int
	}{{"commit/16", 16}, {"commit/64", 64}, {"commit/256", 256}} {
		if !b.Wants(c.id) {
			continue
		}
		var shared []float64
		for range b.size.rounds {
			before := s.Stats()
			if _, _, err := s.writers(ctx, c.writers, c.writers*b.size.turns).Slice(); err != nil {
				return err
			}
			after := s.Stats()
			shared = append(shared, float64(after.Members-before.Members)/float64(after.Commits-before.Commits))
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		b.Compare(c.id, measure.FigureOf(shared, "items"), measure.Exactly(float64(c.writers), "writers"))
	}
	return nil
}

// measureCrowds compares 64 writers with one in stores of several sizes.
func measureCrowds(ctx context.Context, b *bench) error {
	for _, c := range []struct {
		id             string
		items, indexes int
	}{
		{"crowd/10k", b.size.small, 0}, {"crowd/100k", b.size.middle, 0},
		{"crowd/1m", b.size.high, 0}, {"crowd/3gsi", b.size.small, 3},
	} {
		if !b.Wants(c.id) {
			continue
		}
		if err := b.measureCrowd(ctx, c.id, c.items, c.indexes); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) measureCrowd(ctx context.Context, id string, items, indexes int) error {
	if why := b.lacksSpace(items); why != "" {
		b.Missing(id, why)
		return nil
	}
	s, err := openOurs(ctx, b.file("store.db"), items, indexes)
	if err != nil {
		return err
	}
	defer b.keepLarge(s.Path(), items, indexes)
	defer measure.Shut(s)
	got, err := measure.Interleave(ctx, b.size.rounds, s.writers(ctx, 64, 64*b.size.turns), s.writers(ctx, 1, b.size.lone))
	if err != nil {
		return err
	}
	b.Compare(id, measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
	return nil
}

// keepLarge keeps the file of a store for the rows about opening one, because making it takes a while, or removes it.
func (b *bench) keepLarge(path string, items, indexes int) {
	if items == b.size.file && indexes == 0 && b.WantsGroup("start") {
		b.large = path
		return
	}
	measure.Remove(path)
}

// measureIndexes compares stores with indexes with one without.
func measureIndexes(ctx context.Context, b *bench) error {
	stores := make([]*ours, 0, 5)
	defer func() {
		for _, s := range stores {
			_ = s.Close()
		}
	}()
	sides := make([]measure.Side, 0, 5)
	ids := []string{"", "index/1", "index/3", "index/5", "index/unchanged"}
	for i, indexes := range []int{0, 1, 3, 5, 3} {
		s, err := openOurs(ctx, b.file("store.db"), b.size.small, indexes)
		if err != nil {
			return err
		}
		s.steady = ids[i] == "index/unchanged"
		stores = append(stores, s)
		sides = append(sides, s.writers(ctx, 64, 64*b.size.turns))
	}
	got, err := measure.Interleave(ctx, b.size.rounds, sides...)
	if err != nil {
		return err
	}
	for i, id := range ids[1:] {
		b.Compare(id, measure.Rate(got[i+1].Wall), measure.Rate(got[0].Wall))
	}
	return nil
}

// measureLoop compares 64 writers with a bbolt loop that puts 64 items in each transaction, and that loop with one without a journal,
// which cannot be switched off in the store.
func measureLoop(ctx context.Context, b *bench) error {
	s, r, done, err := b.openBoth(ctx)
	if err != nil {
		return err
	}
	defer done()
	bare, err := openRaw(ctx, b.file("raw.db"), b.size.small)
	if err != nil {
		return err
	}
	defer measure.Shut(bare.db)
	bare.journal = false
	got, err := measure.Interleave(ctx, b.size.rounds,
		s.writers(ctx, 64, 64*b.size.turns), r.loop(b.size.turns, 64), bare.loop(b.size.turns, 64))
	if err != nil {
		return err
	}
	b.Compare("loop/journal", measure.Rate(got[1].Wall), measure.Rate(got[2].Wall))
	b.Compare("loop/rate", measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
	b.Compare("loop/cpu", measure.Micros(got[0].CPU), measure.Micros(got[1].CPU))
	return nil
}

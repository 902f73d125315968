package main

import (
	"context"
	"os"
	"time"

	"github.com/touchline/touchline/store"
)

// measureLone compares the put of one writer with what it cannot do without.
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
	// Commits are few hundred microseconds each, and one in many is slow: short slices, many rounds.
	got, err := interleave(ctx, 3*b.size.rounds,
		s.writers(ctx, 1, b.size.lone), r.loop(b.size.lone, 1), page)
	if err != nil {
		return err
	}
	put := micros(got[0].wall)
	b.compare("lone/raw", put, micros(got[1].wall))
	b.compare("lone/sync", put, micros(got[2].wall))
	if !b.wants("lone/coalesce") {
		return nil
	}
	return b.measureCoalescing(ctx, s)
}

// openBoth opens a store and bbolt alone with the same small number of items. done closes both.
func (b *bench) openBoth(ctx context.Context) (s *ours, r *raw, done func(), err error) {
	if s, err = b.openOurs(ctx, b.size.small, 0); err != nil {
		return nil, nil, nil, err
	}
	if r, err = openRaw(ctx, b.file("raw.db"), b.size.small, 0, rawOptions{}); err != nil {
		shut(s)
		return nil, nil, nil, err
	}
	return s, r, func() { shut(r.db); shut(s) }, nil
}

// syncer makes a side of the least that a durable write needs.
func (b *bench) syncer() (side, error) {
	f, err := os.Create(b.file("page"))
	if err != nil {
		return side{}, err
	}
	page := make([]byte, 4096)
	write := func() error {
		if _, err := f.WriteAt(page, 0); err != nil {
			return err
		}
		return syncData(f)
	}
	return side{run: func() (int, error) {
		for range b.size.lone {
			if err := write(); err != nil {
				return 0, err
			}
		}
		return b.size.lone, nil
	}}, nil
}

// measureCoalescing asks what it costs a lone writer that others could share its commit. There is no store without the
// committer to compare with. So each put is taken apart: the time from the call to the answer, against the time its
// function ran and the time its commit took. The rest is queueing, handing over between the goroutines, lingering, and
// the beginning of the transaction, which is counted as loss although every store has to do it.
func (b *bench) measureCoalescing(ctx context.Context, s *ours) error {
	var all, needed []float64
	for range b.size.rounds {
		items := s.shuffle.batch(b.size.lone)
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
			parts += inside + s.Stats().LastCommit
		}
		all = append(all, whole.Seconds()/float64(len(items)))
		needed = append(needed, parts.Seconds()/float64(len(items)))
	}
	b.compare("lone/coalesce", micros(all), micros(needed))
	return nil
}

// measureCommits counts how many puts share a commit.
func measureCommits(ctx context.Context, b *bench) error {
	s, err := b.openOurs(ctx, b.size.small, 0)
	if err != nil {
		return err
	}
	defer shut(s)
	for _, c := range []struct {
		id      string
		writers int
	}{{"commit/16", 16}, {"commit/64", 64}, {"commit/256", 256}} {
		if !b.wants(c.id) {
			continue
		}
		var shared []float64
		for range b.size.rounds {
			before := s.Stats()
			if _, _, err := slice(s.writers(ctx, c.writers, c.writers*b.size.turns)); err != nil {
				return err
			}
			after := s.Stats()
			shared = append(shared, float64(after.Members-before.Members)/float64(after.Commits-before.Commits))
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		b.compare(c.id, figureOf(shared, "items"), exactly(float64(c.writers), "writers"))
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
		if !b.wants(c.id) {
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
		b.missing(id, why)
		return nil
	}
	s, err := b.openOurs(ctx, items, indexes)
	if err != nil {
		return err
	}
	defer b.keepLarge(s.Path(), items, indexes)
	defer shut(s)
	got, err := interleave(ctx, b.size.rounds, s.writers(ctx, 64, 64*b.size.turns), s.writers(ctx, 1, b.size.lone))
	if err != nil {
		return err
	}
	b.compare(id, rate(got[0].wall), rate(got[1].wall))
	return nil
}

// keepLarge keeps the file of a store for the rows about opening one, which takes a while to make, or removes it.
func (b *bench) keepLarge(path string, items, indexes int) {
	if items == b.size.file && indexes == 0 && b.wantsGroup("start") {
		b.large = path
		return
	}
	remove(path)
}

// measureIndexes compares stores with indexes with one that has none.
func measureIndexes(ctx context.Context, b *bench) error {
	stores := make([]*ours, 0, 5)
	defer func() {
		for _, s := range stores {
			_ = s.Close()
		}
	}()
	sides := make([]side, 0, 5)
	ids := []string{"", "index/1", "index/3", "index/5", "index/unchanged"}
	for i, indexes := range []int{0, 1, 3, 5, 3} {
		s, err := b.openOurs(ctx, b.size.small, indexes)
		if err != nil {
			return err
		}
		s.shuffle.steady = ids[i] == "index/unchanged"
		stores = append(stores, s)
		sides = append(sides, s.writers(ctx, 64, 64*b.size.turns))
	}
	got, err := interleave(ctx, b.size.rounds, sides...)
	if err != nil {
		return err
	}
	for i, id := range ids[1:] {
		b.compare(id, rate(got[i+1].wall), rate(got[0].wall))
	}
	return nil
}

// measureLoop compares 64 writers with one loop of bbolt that puts 64 items in each transaction, and that loop with one
// that keeps no journal: in the store it cannot be switched off.
func measureLoop(ctx context.Context, b *bench) error {
	s, r, done, err := b.openBoth(ctx)
	if err != nil {
		return err
	}
	defer done()
	bare, err := openRaw(ctx, b.file("raw.db"), b.size.small, 0, rawOptions{noJournal: true})
	if err != nil {
		return err
	}
	defer shut(bare.db)
	got, err := interleave(ctx, b.size.rounds,
		s.writers(ctx, 64, 64*b.size.turns), r.loop(b.size.turns, 64), bare.loop(b.size.turns, 64))
	if err != nil {
		return err
	}
	b.compare("loop/journal", rate(got[1].wall), rate(got[2].wall))
	b.compare("loop/rate", rate(got[0].wall), rate(got[1].wall))
	b.compare("loop/cpu", micros(got[0].cpu), micros(got[1].cpu))
	return nil
}

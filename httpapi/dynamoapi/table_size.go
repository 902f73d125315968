package dynamoapi

import (
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/store"
)

// The service counts every six hours. Here a table is counted whenever something was written; but a count that took
// longer than countWithin (of some ten thousand items) is good for countShare times as long, so that it takes one percent
// of a core at most, however often the table is described.
const (
	countWithin = 5 * time.Millisecond
	countShare  = 100
)

// tableSizes remembers how much is in the tables, by their ids.
type tableSizes struct {
	mu sync.Mutex
	by map[string]counted
}

type counted struct {
	counts store.Counts
	seq    uint64 // of the journal, when it was counted
	until  time.Time
}

// size returns how much is in a table and its indexes.
func (c *call) size(d store.TableDescription) (store.Counts, error) {
	z, seq, now := &c.api.sizes, c.api.store.Seq(), c.api.cfg.Now()
	z.mu.Lock()
	have, ok := z.by[d.ID]
	z.mu.Unlock()
	if ok && have.covers(d) && (have.seq == seq || now.Before(have.until)) {
		return have.counts, nil
	}
	counts, err := c.api.store.Count(c, d.Spec.Name)
	if err != nil {
		return counts, err
	}
	done := c.api.cfg.Now()
	until := done
	if took := done.Sub(now); took > countWithin {
		until = done.Add(countShare * took)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.by == nil {
		z.by = map[string]counted{}
	}
	z.by[d.ID] = counted{counts: counts, seq: seq, until: until}
	return counts, nil
}

// covers reports whether a count has all indexes that a table has, filled as they are.
func (have *counted) covers(d store.TableDescription) bool {
	return !slices.ContainsFunc(d.Indexes, func(ix store.IndexDescription) bool {
		return !slices.ContainsFunc(have.counts.Indexes, func(c store.IndexCounts) bool { return c.Name == ix.Name })
	})
}

// forget forgets a table that was deleted.
func (z *tableSizes) forget(id string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	delete(z.by, id)
}

// forgetAll forgets all tables.
func (z *tableSizes) forgetAll() {
	z.mu.Lock()
	defer z.mu.Unlock()
	clear(z.by)
}

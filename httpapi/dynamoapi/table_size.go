package dynamoapi

import (
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/store"
)

// The service counts items every six hours. Here a table is counted whenever it is described; but a count that took longer than
// countWithin (some ten thousand items) is reused for countShare times as long, so counting takes at most one percent of a core.
const (
	countWithin = 5 * time.Millisecond
	countShare  = 100
)

// tableSizes caches the counts of large tables, by name.
type tableSizes struct {
	mu sync.Mutex
	by map[string]counted
}

type counted struct {
	counts store.Counts
	until  time.Time
}

// covers reports whether all indexes of a table were counted: one may have been added since.
func (c *counted) covers(spec *store.TableSpec) bool {
	return !slices.ContainsFunc(spec.Indexes, func(ix store.IndexSpec) bool {
		_, ok := c.counts.Indexes[ix.Name]
		return !ok
	})
}

// size returns the number and size of items in a table, and the number of entries in its indexes.
func (c *call) size(d store.TableDescription) (store.Counts, error) {
	z, now := &c.api.sizes, c.api.cfg.Now()
	z.mu.Lock()
	have := z.by[d.Spec.Name]
	z.mu.Unlock()
	if now.Before(have.until) && have.covers(&d.Spec) {
		return have.counts, nil
	}
	counts, err := c.api.store.Count(c, d.Spec.Name)
	if err != nil {
		return counts, err
	}
	if done := c.api.cfg.Now(); done.Sub(now) > countWithin {
		z.mu.Lock()
		defer z.mu.Unlock()
		if z.by == nil {
			z.by = map[string]counted{}
		}
		z.by[d.Spec.Name] = counted{counts: counts, until: done.Add(countShare * done.Sub(now))}
	}
	return counts, nil
}

// forget forgets the counts of tables, because one of them is gone or empty.
func (z *tableSizes) forget() {
	z.mu.Lock()
	defer z.mu.Unlock()
	clear(z.by)
}

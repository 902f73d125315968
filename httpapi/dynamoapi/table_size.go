package dynamoapi

import (
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/store"
)

// The service counts items every six hours. Here a table is counted after any write; but a count that took longer than countWithin
// (some ten thousand items) is reused for countShare times as long, so counting takes at most one percent of a core, however often the
// table is described.
const (
	countWithin = 5 * time.Millisecond
	countShare  = 100
)

// tableSizes caches tables' sizes, by table id.
type tableSizes struct {
	mu sync.Mutex
	by map[string]counted
}

type counted struct {
	counts store.Counts
	seq    uint64 // journal sequence at the count
	until  time.Time
}

// size returns the number and size of items in a table and its indexes.
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

// covers reports whether a count includes all indexes of a table, as far as they are filled.
func (have *counted) covers(d store.TableDescription) bool {
	return !slices.ContainsFunc(d.Indexes, func(ix store.IndexDescription) bool {
		return !slices.ContainsFunc(have.counts.Indexes, func(c store.IndexCounts) bool { return c.Name == ix.Name })
	})
}

func (z *tableSizes) forget(id string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	delete(z.by, id)
}

func (z *tableSizes) forgetAll() {
	z.mu.Lock()
	defer z.mu.Unlock()
	clear(z.by)
}

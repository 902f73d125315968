package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/touchline/touchline/internal/clock"
)

// keeper is what Housekeep remembers between its slices. All of it may be lost: what is due is in the file.
type keeper struct {
	mu         sync.Mutex // one slice at a time
	turn       int        // the chore that is asked first
	sweep      sweep
	forgetFrom map[uint32]uint64 // by table id, for forgetSlice
	slice      sliceSizes        // zero: the default

	swept atomic.Uint64
	count sync.Mutex
	taken map[leftover]uint64 // entries that were taken out, since Open
}

// sliceSizes bound one slice of each chore: so long the writers wait for it.
type sliceSizes struct {
	fill    int // items
	empty   int // entries
	forget  int // records
	sweep   int // rows looked at
	deletes int // of expired items
}

func (k *keeper) sizes() sliceSizes {
	if k.slice != (sliceSizes{}) {
		return k.slice
	}
	return sliceSizes{fill: 256, empty: 512, forget: 1000, sweep: 1000, deletes: 100}
}

// Housekeep does one slice, of about two milliseconds, of what nobody waits for: filling new indexes, emptying what
// belonged to dropped ones and to dropped tables, deleting items whose time is over, forgetting old tokens of
// transactions, and, a slice a minute, verifying all items (Scrub). more tells that there may be something left to do now; when nothing is due it is cheap. An error leaves
// what is due for a later call, which tries another chore first; a full disk is fault.Full, and no reason to stop.
//
// Calls from several goroutines wait for each other. A node has one loop that calls Housekeep until there is no more,
// and again when WatchTables says so, and every minute or so by Options.Now.
func (s *Store) Housekeep(ctx context.Context) (more bool, err error) {
	k := &s.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.forgetFrom == nil {
		k.forgetFrom = map[uint32]uint64{}
	}
	chores := []func(context.Context) (bool, error){s.fillNext, s.emptyNext, s.forgetNext, s.sweepNext, s.forgetTokens, s.scrubNext}
	for range chores {
		chore := chores[k.turn%len(chores)]
		k.turn++
		if did, err := chore(ctx); did || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// WatchTables has sig set after each commit that changed a table, its indexes or what is left of dropped ones, until
// stop is called.
func (s *Store) WatchTables(sig *clock.Signal) (stop func()) { return s.tableWatches.add(sig) }

// tookOut counts entries of a bucket that is being emptied.
func (k *keeper) tookOut(from leftover, n int) {
	k.count.Lock()
	defer k.count.Unlock()
	if k.taken == nil {
		k.taken = map[leftover]uint64{}
	}
	if n == 0 { // the bucket itself
		delete(k.taken, from)
		return
	}
	k.taken[from] += uint64(n)
}

func (k *keeper) tookOutOf(from leftover) uint64 {
	k.count.Lock()
	defer k.count.Unlock()
	return k.taken[from]
}

// IndexProgress is how far the filling of an index has come.
type IndexProgress struct {
	Table string `json:"table"`
	Index string `json:"index"`
	Items uint64 `json:"done"` // of the table that were looked at
}

// DropProgress is how far the emptying of a dropped table or index has come.
type DropProgress struct {
	Table   string `json:"table"`
	Index   string `json:"index,omitempty"` // empty: the items of the table
	Removed uint64 `json:"done"`            // since Open
}

// fillChores adds what Housekeep is at.
func (s *Store) fillChores(st *Stats) {
	st.Swept = s.keeper.swept.Load()
	cat := s.cat.Load()
	tables := slices.SortedFunc(maps.Values(cat.byID), func(a, b *table) int {
		return strings.Compare(a.spec.Name, b.spec.Name)
	})
	for _, t := range tables {
		for _, ix := range t.indexes {
			if ix.fill != nil {
				st.Filling = append(st.Filling, IndexProgress{Table: t.spec.Name, Index: ix.spec.Name, Items: ix.fill.items})
			}
		}
		for _, l := range t.leaving {
			st.Dropping = append(st.Dropping, DropProgress{
				Table: t.spec.Name, Index: l.name, Removed: s.keeper.tookOutOf(l),
			})
		}
	}
}

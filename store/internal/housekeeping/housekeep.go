package housekeeping

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/txn"
)

// Keeper is the state of Housekeep between slices. All of it may be lost: the file records what is due.
type Keeper struct {
	E          *txn.DB
	Expire     func(tx *txn.Tx, t *catalogue.Table, key []byte) (bool, error)
	Mu         sync.Mutex // held for one slice
	turn       int        // the chore to try first
	sweep      sweep
	forgetFrom map[uint32]uint64 // by table id, for ForgetSlice
	Slice      SliceSizes        // the zero value means the default

	scrub scrub
	swept atomic.Uint64
}

// SliceSizes limits one slice of each chore, and so how long writers wait for it.
type SliceSizes struct {
	Empty   int // entries
	Forget  int // records
	Sweep   int // rows examined
	Deletes int // expired items deleted
}

func (k *Keeper) sizes() SliceSizes {
	if k.Slice != (SliceSizes{}) {
		return k.Slice
	}
	return SliceSizes{Empty: 512, Forget: 1000, Sweep: 1000, Deletes: 100}
}

// Housekeep is store.Store.Housekeep.
func (k *Keeper) Housekeep(ctx context.Context) (more bool, err error) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	if k.forgetFrom == nil {
		k.forgetFrom = map[uint32]uint64{}
	}
	chores := []func(context.Context) (bool, error){k.fillNext, k.emptyNext, k.forgetNext, k.sweepNext, k.scrubNext}
	for range chores {
		chore := chores[k.turn%len(chores)]
		k.turn++
		if did, err := chore(ctx); did || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// FillChores adds the progress of Housekeep to st.
func (k *Keeper) FillChores(st *txn.Stats) {
	st.Swept, st.Verify = k.swept.Load(), k.ScrubStats()
	cat := k.E.Cat.Load()
	tables := slices.SortedFunc(maps.Values(cat.ByID), func(a, b *catalogue.Table) int {
		return strings.Compare(a.Spec.Name, b.Spec.Name)
	})
	for _, t := range tables {
		for _, ix := range t.Indexes {
			if ix.Fill != nil {
				st.Filling = append(st.Filling, txn.IndexProgress{Table: t.Spec.Name, Index: ix.Spec.Name, Items: ix.Fill.Items})
			}
		}
		for _, l := range t.Leaving {
			st.Dropping = append(st.Dropping, txn.Dropped{Table: t.Spec.Name, Index: l.Name})
		}
	}
}

package housekeeping

import (
	"context"
	"slices"

	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/txn"
)

// FillTable fills all unfilled indexes of a table.
func (k *Keeper) FillTable(ctx context.Context, name string) error {
	for {
		t := k.E.Cat.Load().ByName[name]
		if t == nil {
			return nil // dropped in the meantime
		}
		ix := t.NextFill()
		if ix == nil {
			return nil
		}
		if err := k.fill(ctx, t.ID, ix.ID); err != nil {
			return err
		}
	}
}

// fillNext is the chore of Housekeep that fills a slice of the first unfilled index.
func (k *Keeper) fillNext(ctx context.Context) (did bool, err error) {
	cat := k.E.Cat.Load()
	for _, id := range cat.IDs() {
		if ix := cat.ByID[id].NextFill(); ix != nil {
			return true, k.fill(ctx, id, ix.ID)
		}
	}
	return false, nil
}

// fill fills one slice of an index, if the index still needs it.
func (k *Keeper) fill(ctx context.Context, tableID, indexID uint32) error {
	return k.E.Update(ctx, func(tx *txn.Tx) error {
		t := tx.Cat.ByID[tableID]
		if t == nil {
			return nil
		}
		i := slices.IndexFunc(t.Indexes, func(ix *catalogue.Index) bool { return ix.ID == indexID && ix.Fill != nil })
		if i < 0 {
			return nil
		}
		ix, err := tx.FillSlice(t, t.Indexes[i])
		if err != nil {
			return err
		}
		changed := t.Clone()
		changed.Indexes[i] = ix
		return tx.SaveTable(tx.Cat.Clone(), changed)
	})
}

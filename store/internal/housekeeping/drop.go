package housekeeping

import (
	"context"

	"github.com/touchline/touchline/store/internal/txn"
)

// emptyNext is the chore of Housekeep that removes a slice from a bucket no longer in use, and the bucket itself once it is empty.
func (k *Keeper) emptyNext(ctx context.Context) (did bool, err error) {
	cat := k.E.Cat.Load()
	for _, id := range cat.IDs() {
		if len(cat.ByID[id].Leaving) == 0 {
			continue
		}
		return true, k.E.Update(ctx, func(tx *txn.Tx) error {
			if t := tx.Cat.ByID[id]; t != nil && len(t.Leaving) > 0 {
				return tx.EmptySlice(t, k.sizes().Empty)
			}
			return nil
		})
	}
	return false, nil
}

// forgetNext is the chore of Housekeep that finishes a dropped table. Once the journal shows no record of it, it removes the records kept
// for their image, and then the table's row in the catalogue.
func (k *Keeper) forgetNext(ctx context.Context) (did bool, err error) {
	cat, first := k.E.Cat.Load(), k.E.Journal.Load().First
	for _, id := range cat.IDs() {
		if !cat.ByID[id].Forgettable(first, k.E.Opts.Now()) {
			continue
		}
		from := k.forgetFrom[id]
		err := k.E.Update(ctx, func(tx *txn.Tx) (err error) {
			if t := tx.Cat.ByID[id]; t != nil && t.Forgettable(tx.JournalState().First, tx.Now()) {
				from, err = tx.ForgetSlice(t, from, k.sizes().Forget)
			}
			return err
		})
		if err == nil {
			k.forgetFrom[id] = from
		}
		if k.E.Cat.Load().ByID[id] == nil {
			delete(k.forgetFrom, id)
		}
		return true, err
	}
	return false, nil
}

package housekeeping

import (
	"context"

	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// sliceTokens bounds the tokens that a slice forgets.
const sliceTokens = 500

// ForgetTokens is the chore of Housekeep for a store where nobody commits.
func (k *Keeper) forgetTokens(ctx context.Context) (did bool, err error) {
	due := false
	err = k.E.Look(ctx, func(tx *txn.Tx) error {
		if err := tx.Enter(); err != nil {
			return err
		}
		defer tx.Leave()
		bucket := tx.Btx.Bucket(format.BucketTokens)
		due = bucket != nil && txn.OldestToken(bucket, tx.Now()) != nil
		return nil
	})
	if err != nil || !due {
		return false, err
	}
	err = k.E.Update(ctx, func(tx *txn.Tx) error {
		return tx.BreakOff(tx.Batch.ForgetTokens(sliceTokens))
	})
	return err == nil, err
}

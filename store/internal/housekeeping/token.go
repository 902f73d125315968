package housekeeping

import (
	"context"

	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// sliceTokens limits the tokens forgotten in one slice.
const sliceTokens = 500

// forgetTokens is the chore of Housekeep that forgets old tokens while nobody commits.
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

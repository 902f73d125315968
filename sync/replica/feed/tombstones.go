package feed

import (
	"context"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

const (
	tombstoneFor = 24 * time.Hour
	sweepEvery   = time.Hour
	sweepSlice   = 2000 // items examined in one View, and at most as many changed in one transaction
)

// forgetTombstones removes tombstones of bases that went more than a day ago: no read lags by more.
func (f *Feed) forgetTombstones(ctx context.Context) {
	for after := []byte(nil); ; {
		var old [][]byte
		before := f.serverNow().Add(-tombstoneFor)
		seen := 0
		err := f.Store.View(ctx, func(tx *store.Tx) error {
			return tx.Side(outbox.SideRemote).Each(nil, after, func(k, v []byte) (bool, error) {
				after = append([]byte(nil), k...)
				seen++
				if sh, _, err := outbox.DecodeRemote(v); err == nil && sh.Gone != (outbox.Gone{}) && sh.Gone.At.Before(before) && len(sh.Pending) == 0 {
					old = append(old, after)
				}
				return seen < sweepSlice, nil
			})
		})
		if err == nil && len(old) > 0 {
			err = f.Store.Update(ctx, func(tx *store.Tx) error { return forgetGone(tx, old, before) })
		}
		if err != nil {
			remote.Complain(f.Log, "forgetting old tombstones", err)
			return
		}
		if seen < sweepSlice {
			return
		}
	}
}

// forgetGone removes the tombstones of some items, and the records that existed only for them.
func forgetGone(tx *store.Tx, keys [][]byte, before time.Time) error {
	side := tx.Side(outbox.SideRemote)
	for _, key := range keys {
		v, err := side.Get(key)
		if err != nil {
			return err
		}
		sh, _, err := outbox.DecodeRemote(v)
		if err != nil || sh.Gone == (outbox.Gone{}) || !sh.Gone.At.Before(before) || len(sh.Pending) > 0 {
			continue // changed meanwhile
		}
		sh.Gone = outbox.Gone{}
		if sh.Known.Item == nil {
			err = side.Delete(key)
		} else {
			err = side.Set(key, sh.Encode())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

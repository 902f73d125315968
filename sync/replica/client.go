package replica

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Values of Replica.transacts, and of keyTransactions in the store.
const (
	transactsUnknown = iota
	transactsYes
	transactsNo
)

// keyTransactions is the key in SideMeta of whether the cloud had transactions when last asked.
const keyTransactions = "transactions"

// transactions reports whether the cloud has transactions: as configured, or as it said when asked in this run or in the last run that
// asked. A node that has never reached its cloud assumes that it has them. What it accepts then, and the cloud cannot carry out,
// waits with the reason intent.WhyTransactions.
func (r *Replica) transactions() bool {
	if r.cfg.Transactions != nil {
		return *r.cfg.Transactions
	}
	return r.transacts.Load() != transactsNo
}

// loadTransactions loads what the cloud said in an earlier run.
func (r *Replica) loadTransactions(tx *store.Tx) error {
	had, err := tx.Side(outbox.SideMeta).Get([]byte(keyTransactions))
	if err == nil && len(had) == 1 && had[0] <= transactsNo {
		r.transacts.Store(uint32(had[0]))
	}
	return err
}

// askTransactions asks the cloud, once per run, whether it has transactions, before sending anything that depends on it. If the cloud
// does not say, it counts as away, unless it said so in an earlier run. Only one connect runs at a time.
func (r *Replica) askTransactions(ctx context.Context) error {
	if r.cfg.Transactions != nil || r.probed {
		return nil
	}
	known := r.transacts.Load()
	within, cancel := context.WithTimeout(ctx, r.cfg.Deadline)
	has, err := r.cloud.Transactions(within)
	cancel()
	switch _, gone := remote.AsUnreached(err); {
	case err == nil:
	case !gone && known != transactsUnknown:
		remote.Complain(r.log, "checking whether the cloud has transactions", err)
		return nil
	default:
		return fmt.Errorf("checking whether the cloud has transactions (cloud.transactions can set it instead): %w", err)
	}
	now := uint32(transactsNo)
	if has {
		now = transactsYes
	}
	if now != known {
		err := r.store.Update(ctx, func(tx *store.Tx) error {
			return tx.Side(outbox.SideMeta).Set([]byte(keyTransactions), []byte{byte(now)})
		})
		if err != nil {
			return err
		}
		r.log.Info("checked whether the cloud has transactions", "has", has)
	}
	r.transacts.Store(now)
	r.probed = true
	return nil
}

// serverNow returns the cloud's time, as far as it is known.
func (r *Replica) serverNow() time.Time { return r.clock.Wall().Add(r.cloud.Skew()) }

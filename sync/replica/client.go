package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What a Cloud may tell beside what every Cloud does. One that has none of it is taken to have transactions, to have told
// its time when it was first connected, and to cost nothing.
type (
	// Prober is a Cloud that can be asked whether it has transactions.
	Prober interface {
		// Transactions asks; an error means that nobody has said.
		Transactions(ctx context.Context) (bool, error)
	}
	// Timekeeper is a Cloud that knows whether a server has told its time since the start.
	Timekeeper interface {
		// Synced is false before the first believable answer.
		Synced() bool
	}
	// Meter is a Cloud that counts what it is asked and what that costs.
	Meter interface {
		// Usage only grows.
		Usage() Usage
	}
)

// Usage counts what the cloud was asked since the start, and what it said that this costs.
type Usage struct {
	Requests   int64   `json:"requests"`
	WriteUnits float64 `json:"writeUnits"` // as DynamoDB counts them, indexes included; 0 where the server counts none
	ReadUnits  float64 `json:"readUnits"`
}

// Values of Replica.transacts, and of keyTransactions in the store.
const (
	transactsUnknown = iota
	transactsYes
	transactsNo
)

// keyTransactions holds in sideMeta whether the cloud had transactions when it was last asked.
const keyTransactions = "transactions"

// transactions reports whether the cloud has them: as configured, else as it said when it was asked, in this run or in
// the last that asked. A node that has never reached its cloud takes it to have them: what it then accepts and the cloud
// has no way to do waits, and says why (intent.WhyTransactions).
func (r *Replica) transactions() bool {
	if r.cfg.Transactions != nil {
		return *r.cfg.Transactions
	}
	return r.transacts.Load() != transactsNo
}

// loadTransactions remembers what the cloud said in an earlier run.
func (r *Replica) loadTransactions(tx *store.Tx) error {
	had, err := tx.Side(sideMeta).Get([]byte(keyTransactions))
	if err == nil && len(had) == 1 && had[0] <= transactsNo {
		r.transacts.Store(uint32(had[0]))
	}
	return err
}

// askTransactions asks the cloud once in a run whether it has transactions, before anything is sent that depends on it. A
// cloud that does not say is as one that is away, unless it has said so in an earlier run. One connect at a time.
func (r *Replica) askTransactions(ctx context.Context) error {
	cloud, can := r.cloud.(Prober)
	if r.cfg.Transactions != nil || !can || r.probed {
		return nil
	}
	known := r.transacts.Load()
	within, cancel := r.within(ctx)
	has, err := cloud.Transactions(within)
	cancel()
	switch _, gone := unreached(err); {
	case err == nil:
	case !gone && known != transactsUnknown:
		r.complain("asking whether the cloud has transactions", err)
		return nil
	default:
		return fmt.Errorf("asking whether the cloud has transactions (cloud.transactions can say so): %w", err)
	}
	now := uint32(transactsNo)
	if has {
		now = transactsYes
	}
	if now != known {
		err := r.store.Update(ctx, func(tx *store.Tx) error {
			return tx.Side(sideMeta).Set([]byte(keyTransactions), []byte{byte(now)})
		})
		if err != nil {
			return err
		}
		r.log.Info("the cloud was asked for transactions", "has", has)
	}
	r.transacts.Store(now)
	r.probed = true
	return nil
}

// synced reports whether a server has told its time since the start.
func (r *Replica) synced() bool {
	if cloud, can := r.cloud.(Timekeeper); can {
		return cloud.Synced()
	}
	return r.net.wasUp()
}

// usage is what the cloud was asked since the start; nothing, if it does not count.
func (r *Replica) usage() Usage {
	if cloud, can := r.cloud.(Meter); can {
		return cloud.Usage()
	}
	return Usage{}
}

// unreached reports whether an error says that the way to the cloud is gone, and returns it as the cloud's. That may also
// be so where nobody knows whether the request was carried out: nothing answered in time, the connection broke, somebody
// else answered. The error's cause says it then.
func unreached(err error) (*intent.Error, bool) {
	e, ok := errors.AsType[*intent.Error](err)
	if !ok || e == nil {
		return nil, false
	}
	cause, ok := errors.AsType[interface {
		error
		Offline() bool
	}](e.Err)
	return e, e.Class == intent.Offline || ok && cause.Offline()
}

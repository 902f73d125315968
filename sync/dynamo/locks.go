package dynamo

import (
	"context"
	"errors"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Locks returns the locks table that all nodes share. Its requests have no deadline of their own; leases limit them by context.
func (c *Client) Locks(table string) lease.Table { return LocksOf(c, table) }

// LocksOf returns a locks table in any cloud.
func LocksOf(c remote.Cloud, table string) lease.Table { return &locks{c: c, table: table} }

type locks struct {
	c     remote.Cloud
	table string
}

// Get implements lease.Table.
func (l *locks) Get(ctx context.Context, key string) (lease.Record, bool, error) {
	it, err := l.c.Get(ctx, l.table, lease.KeyOf(key))
	if err != nil {
		return lease.Record{}, false, unavailable(err)
	}
	return lease.RecordOf(it)
}

// Update implements lease.Table.
func (l *locks) Update(ctx context.Context, c lease.Change) (lease.Record, error) {
	after, err := l.c.Write(ctx, intent.Call{
		Op: store.OpUpdate, Table: l.table, Key: lease.KeyOf(c.Key), Update: c.Update, Condition: c.Condition,
		Params: expr.Params{Values: c.Values},
	})
	if e, ok := errors.AsType[*intent.Error](err); ok && e.Class == intent.ConditionFailed {
		return lease.Record{}, lease.ConditionFailed(e.Old)
	}
	if err != nil {
		return lease.Record{}, unavailable(err)
	}
	return lease.ParseRecord(after)
}

// List implements lease.Table.
func (l *locks) List(ctx context.Context) ([]lease.Record, error) {
	var out []lease.Record
	next := remote.Reading{Table: l.table, Consistent: true}
	for {
		page, err := l.c.Read(ctx, next)
		if err != nil {
			return nil, unavailable(err)
		}
		for _, it := range page.Items {
			r, err := lease.ParseRecord(it)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		if page.LastKey == nil {
			return out, nil
		}
		next.After = page.LastKey
	}
}

// unavailable converts a cloud error for callers that do not know classes.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*intent.Error](err)
	if !ok {
		return err
	}
	kind, code := fault.Unavailable, "cloud_unavailable"
	switch e.Class {
	case intent.NoTable:
		kind, code = fault.NotFound, "cloud_no_table"
	case intent.Denied, intent.Credentials:
		kind, code = fault.Forbidden, "cloud_denied"
	case intent.Throttled:
		kind, code = fault.Throttled, "cloud_throttled"
	case intent.Validation, intent.TooLarge:
		kind, code = fault.Invalid, "cloud_invalid"
	}
	return fault.Wrap(err, kind, code, "the cloud: %s", e.Error())
}

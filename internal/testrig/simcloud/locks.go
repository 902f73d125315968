package simcloud

import (
	"context"
	"errors"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Locks returns the locks table of that name as leases see it, over this link.
func (l *Link) Locks(table string) lease.Table { return &locks{link: l, table: table} }

type locks struct {
	link  *Link
	table string
}

// Get implements lease.Table.
func (l *locks) Get(ctx context.Context, key string) (r lease.Record, ok bool, err error) {
	it, err := l.link.Get(ctx, l.table, attr.Item{"lockKey": attr.S(key)})
	if err != nil || it == nil {
		return lease.Record{}, false, err
	}
	r, err = lease.ParseRecord(it)
	return r, err == nil, err
}

// Update implements lease.Table.
func (l *locks) Update(ctx context.Context, c lease.Change) (lease.Record, error) {
	after, err := l.link.Write(ctx, intent.Call{
		Op: store.OpUpdate, Table: l.table, Key: attr.Item{"lockKey": attr.S(c.Key)},
		Update: c.Update, Condition: c.Condition, Params: expr.Params{Values: c.Values},
	})
	if e, ok := errors.AsType[*intent.Error](err); ok && e.Class == intent.ConditionFailed {
		if e.Old == nil {
			return lease.Record{}, &lease.ConditionFailedError{}
		}
		old, err := lease.ParseRecord(e.Old)
		if err != nil {
			return lease.Record{}, err
		}
		return lease.Record{}, &lease.ConditionFailedError{Old: old, OK: true}
	}
	if err != nil {
		return lease.Record{}, err
	}
	return lease.ParseRecord(after)
}

// List implements lease.Table.
func (l *locks) List(ctx context.Context) ([]lease.Record, error) {
	var out []lease.Record
	for r := (remote.Reading{Table: l.table}); ; {
		page, err := l.link.Read(ctx, r)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			record, err := lease.ParseRecord(it)
			if err != nil {
				return nil, err
			}
			out = append(out, record)
		}
		if page.LastKey == nil {
			return out, nil
		}
		r.After = page.LastKey
	}
}

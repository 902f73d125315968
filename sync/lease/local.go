package lease

import (
	"context"
	"errors"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Local returns a locks table kept in the node's own store.
func Local(s *store.Store, table string) Table { return &local{store: s, table: table} }

type local struct {
	store *store.Store
	table string
}

// Get implements Table.
func (l *local) Get(ctx context.Context, key string) (r Record, ok bool, err error) {
	var it attr.Item
	err = l.store.View(ctx, func(tx *store.Tx) error {
		it, err = tx.Get(l.table, KeyOf(key))
		return err
	})
	if err != nil {
		return Record{}, false, err
	}
	return RecordOf(it)
}

// Update implements Table.
func (l *local) Update(ctx context.Context, c Change) (Record, error) {
	var after attr.Item
	err := l.store.Update(ctx, func(tx *store.Tx) error {
		images, err := tx.Update(store.UpdateItem{
			Table: l.table, Key: KeyOf(c.Key), Update: c.Update, Condition: c.Condition,
			Params: expr.Params{Values: c.Values},
		})
		after = images.New
		return err
	})
	if failed, ok := errors.AsType[*store.ConditionFailedError](err); ok {
		return Record{}, ConditionFailed(failed.Old)
	}
	if err != nil {
		return Record{}, err
	}
	return ParseRecord(after)
}

// List implements Table.
func (l *local) List(ctx context.Context) ([]Record, error) {
	var out []Record
	err := l.store.View(ctx, func(tx *store.Tx) error {
		for it, err := range tx.ScanAll(store.Scan{Table: l.table}) {
			if err != nil {
				return err
			}
			r, err := ParseRecord(it)
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

package ask

import (
	"context"
	"errors"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Ensure fetches rows of a table, or whole partitions, before they are read. What is not here is read from the cloud each time, what is
// here with ensure, which knows what was read lately. A timeout or an invalid key is not an error: the request continues with the local
// rows, and reports a bad key in its own way.
func Ensure(ctx context.Context, ensure func(ctx context.Context, table string, keys ...attr.Item) error, table string, keys ...attr.Item) error {
	r := requestIn(ctx)
	if r == nil {
		inner, cancel := context.WithTimeout(ctx, Within)
		defer cancel()
		return bestEffort(ctx, ensure(inner, table, keys...))
	}
	here, absent, err := r.split(ctx, table, keys)
	if err != nil {
		return bestEffort(ctx, err)
	}
	if r.budget.ample(r.client, r.Clock.Now()) && r.read(ctx, rowsOf(table, absent)) {
		found, _, err := r.split(ctx, table, absent)
		if err != nil {
			return err
		}
		here = append(here, found...)
	}
	if len(here) == 0 {
		return nil
	}
	inner, cancel := r.withTimeout(ctx)
	defer cancel()
	return bestEffort(ctx, ensure(inner, table, here...))
}

func rowsOf(table string, keys []attr.Item) (rows []Row) {
	for _, key := range keys {
		rows = append(rows, Row{table, key})
	}
	return rows
}

// bestEffort returns an error of a fetch from the cloud unless local rows will do.
func bestEffort(ctx context.Context, err error) error {
	if ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || fault.Is(err, fault.Invalid)) {
		return nil
	}
	return err
}

// split returns the keys of rows, or of partitions with rows, that are here, and the others.
func (r *request) split(ctx context.Context, table string, keys []attr.Item) (here, absent []attr.Item, err error) {
	err = r.Store.View(ctx, func(tx *store.Tx) error {
		for _, key := range keys {
			has, err := hasRows(tx, table, key)
			if err != nil {
				return err
			}
			if has {
				here = append(here, key)
			} else {
				absent = append(absent, key)
			}
		}
		return nil
	})
	return here, absent, err
}

// hasRows reports whether a row or, for a partition key, any row of the partition is in the store.
func hasRows(tx *store.Tx, table string, key attr.Item) (has bool, err error) {
	if len(key) != 1 {
		it, err := tx.Get(table, key)
		return it != nil, err
	}
	for name, v := range key {
		q := store.Query{Table: table, KeyCondition: "#p = :p", Limit: 1, Select: store.SelectCount}
		q.Names, q.Values = map[string]string{"#p": name}, attr.Item{":p": v}
		page, err := tx.Query(q)
		return page.Count > 0, err
	}
	return false, nil
}

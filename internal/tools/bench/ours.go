package main

import (
	"context"
	"math/rand/v2"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// fillBatch is how many items one transaction writes while a store is filled.
const fillBatch = 500

// ours is a store with items in it.
type ours struct {
	*store.Store
	random *rand.Rand // all stores get the same items
	items  int
	steady bool // keep ranks, so that no index entry changes
}

// ranks is the number of ranks that an item may have.
const ranks = 1 << 20

// openOurs creates a store with the given number of items and indexes.
func openOurs(ctx context.Context, path string, items, indexes int) (*ours, error) {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return nil, err
	}
	f := &ours{Store: s, random: rand.New(rand.NewPCG(1, 2)), items: items}
	if err := f.fill(ctx, indexes); err != nil {
		_ = s.Close()
		return nil, err
	}
	return f, nil
}

func (o *ours) fill(ctx context.Context, indexes int) error {
	if err := o.Define(ctx, spec(indexes)); err != nil {
		return err
	}
	for from := 0; from < o.items; from += fillBatch {
		err := o.Update(ctx, func(tx *store.Tx) error {
			for n := from; n < min(from+fillBatch, o.items); n++ {
				if err := putItem(tx, measure.MakeItem(n, n, 0)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func putItem(tx *store.Tx, it attr.Item) error {
	_, err := tx.Put(store.PutItem{Table: measure.TableName, Item: it, NoOld: true})
	return err
}

func (o *ours) put(ctx context.Context, it attr.Item) error {
	return o.Update(ctx, func(tx *store.Tx) error { return putItem(tx, it) })
}

// batch returns new states of random items.
func (o *ours) batch(count int) []attr.Item {
	out := make([]attr.Item, count)
	for i := range out {
		n, rank, runs := o.random.IntN(o.items), o.random.IntN(ranks), o.random.IntN(7)
		if o.steady {
			rank = n
		}
		out[i] = measure.MakeItem(n, rank, runs)
	}
	return out
}

// writers returns a side of count writers that put one item per transaction.
func (o *ours) writers(ctx context.Context, count, total int) measure.Side {
	var items []attr.Item
	return measure.Side{
		Prepare: func() error {
			items = o.batch(total)
			return nil
		},
		Run: func() (int, error) {
			return total, measure.Share(count, total, func(i int) error { return o.put(ctx, items[i]) })
		},
	}
}

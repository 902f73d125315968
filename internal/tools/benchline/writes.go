package main

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/remote"
)

const (
	partitions = 40
	counters   = 10
)

// write makes the writes, one after the other.
func (g *rig) write(ctx context.Context, o options, r *result) error {
	began := time.Now()
	all := int(o.duration.Seconds() * float64(o.rate))
	for n := range all {
		if err := clock.Sleep(ctx, clock.Real(), time.Until(began.Add(time.Duration(n)*time.Second/time.Duration(o.rate)))); err != nil {
			return err
		}
		if err := g.store.Update(ctx, func(tx *store.Tx) error { return perform(tx, n) }); err != nil {
			return err
		}
		r.writes++
	}
	return nil
}

// perform makes one write: an even one creates an item, an odd one adds to a counter.
func perform(tx *store.Tx, n int) error {
	if n%2 == 0 {
		item := created(n)
		item["text"] = attr.S("a delivery of some match")
		_, err := tx.Put(store.PutItem{Table: tableName(0), Item: item, Condition: "attribute_not_exists(pk)", NoOld: true})
		return err
	}
	u := store.UpdateItem{Table: tableName(0), Key: counter(n / 2 % counters), Update: "ADD taps :one"}
	u.Values = attr.Item{":one": attr.Int(1)}
	_, err := tx.Update(u)
	return err
}

func created(n int) attr.Item {
	return attr.Item{"pk": attr.S(fmt.Sprintf("match-%02d", n/2%partitions)), "sk": attr.S(fmt.Sprintf("delivery-%06d", n))}
}

func counter(i int) attr.Item {
	return attr.Item{"pk": attr.S("taps"), "sk": attr.S(fmt.Sprintf("counter-%02d", i))}
}

// check compares the cloud with the writes that were made.
func (g *rig) check(ctx context.Context, writes int) error {
	items, taps := 0, 0
	for from := (remote.Reading{Table: tableName(0)}); ; {
		page, err := g.cloud.Read(ctx, from)
		if err != nil {
			return err
		}
		for _, it := range page.Items {
			if n, ok := it["taps"].Int(); ok {
				taps += int(n)
				continue
			}
			items++
		}
		if from.After = page.LastKey; from.After == nil {
			break
		}
	}
	if items != (writes+1)/2 || taps != writes/2 {
		return fmt.Errorf("of %d creates %d are in the cloud, and the counters of %d taps say %d", (writes+1)/2, items, writes/2, taps)
	}
	return nil
}

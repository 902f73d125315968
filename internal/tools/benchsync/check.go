package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// checker compares items with what was written.
type checker struct {
	last    map[string]write    // last write of each item, by name
	differs map[string][]string // the sides where an item differs
}

// check reads a whole table in DynamoDB and in the store, and returns the number of items. An error says how many differ from what was
// written, and names the first.
func check(
	ctx context.Context, s *store.Store, table string, asked []write, read func(context.Context, remote.Reading) (remote.Page, error),
) (items int, err error) {
	c := checker{last: map[string]write{}, differs: map[string][]string{}}
	for _, w := range asked {
		for _, id := range []int{w.id, w.pair} {
			if id != 0 {
				c.last[nameOf(keyOf(id))] = write{op: w.op, id: id, turn: w.turn}
			}
		}
	}
	if err := c.side("DynamoDB", everything(ctx, table, read)); err != nil {
		return 0, err
	}
	err = s.View(ctx, func(tx *store.Tx) error { return c.side("the store", tx.ScanAll(store.Scan{Table: table})) })
	if err != nil {
		return 0, err
	}
	if len(c.differs) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(c.differs)))
		return 0, fmt.Errorf("%s: %d items are not what was written; the first is %s in %s",
			table, len(c.differs), first, strings.Join(c.differs[first], " and "))
	}
	for _, w := range c.last {
		if w.leaves() != nil {
			items++
		}
	}
	return items, nil
}

// everything reads a table of DynamoDB, without the attributes that nodes add.
func everything(ctx context.Context, table string, read func(context.Context, remote.Reading) (remote.Page, error)) iter.Seq2[attr.Item, error] {
	return func(yield func(attr.Item, error) bool) {
		for from := (remote.Reading{Table: table, Consistent: true}); ; {
			page, err := read(ctx, from)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, image := range page.Items {
				if it, _ := intent.Split(image); !yield(it, nil) {
					return
				}
			}
			if from.After = page.LastKey; from.After == nil {
				return
			}
		}
	}
}

// side checks all items of one side, and what is missing there.
func (c *checker) side(name string, items iter.Seq2[attr.Item, error]) error {
	seen := map[string]bool{}
	for it, err := range items {
		if err != nil {
			return err
		}
		seen[nameOf(it)] = true
		c.compare(name, nameOf(it), it)
	}
	for id := range c.last {
		if !seen[id] {
			c.compare(name, id, nil)
		}
	}
	return nil
}

func (c *checker) compare(side, id string, has attr.Item) {
	if !attr.EqualItems(has, c.last[id].leaves()) {
		c.differs[id] = append(c.differs[id], side)
	}
}

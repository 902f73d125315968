package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// shownDifferences is how many differences are reported; all are counted.
const shownDifferences = 5

// account is the content of the tables after the drain.
type account struct {
	equal         int // items that are as written in the store and in DynamoDB
	items, writes int // those written to several times, and the number of these writes
}

// String returns the account as a sentence.
func (a account) String() string {
	text := fmt.Sprintf("%d items equal in the store and in DynamoDB", a.equal)
	if a.items > 0 {
		text += fmt.Sprintf("; order kept on %d items, %d writes", a.items, a.writes)
	}
	return text
}

// checker compares items with what was written.
type checker struct {
	last    map[string]write    // last write of each item, by name
	differs map[string][]string // differences of an item, for each side
}

// check reads a whole table in DynamoDB and in the store. An error names the first items that differ from what was written.
func check(
	ctx context.Context, s *store.Store, table string, asked []write, read func(context.Context, remote.Reading) (remote.Page, error),
) (a account, err error) {
	c := checker{last: map[string]write{}, differs: map[string][]string{}}
	for _, w := range asked {
		for _, id := range []int{w.id, w.pair} {
			if id != 0 {
				c.last[nameOf(keyOf(id))] = write{op: w.op, id: id, turn: w.turn}
			}
		}
	}
	if err := c.side("DynamoDB", everything(ctx, table, read)); err != nil {
		return a, err
	}
	err = s.View(ctx, func(tx *store.Tx) error { return c.side("the store", tx.ScanAll(store.Scan{Table: table})) })
	if err != nil {
		return a, err
	}
	if len(c.differs) > 0 {
		var details []string
		for _, id := range slices.Sorted(maps.Keys(c.differs))[:min(len(c.differs), shownDifferences)] {
			details = append(details, c.differs[id]...)
		}
		return a, fmt.Errorf("%s: %d items are not what was written:\n%s", table, len(c.differs), strings.Join(details, "\n"))
	}
	for _, w := range c.last {
		if w.leaves() != nil {
			a.equal++
		}
		if w.turn > 1 {
			a.items++
			a.writes += w.turn
		}
	}
	return a, nil
}

// everything reads a table of DynamoDB, without the attributes that nodes add.
func everything(ctx context.Context, table string, read func(context.Context, remote.Reading) (remote.Page, error)) iter.Seq2[attr.Item, error] {
	return func(yield func(attr.Item, error) bool) {
		for from := (remote.Reading{Table: table}); ; {
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
	if written := c.last[id].leaves(); !attr.EqualItems(has, written) {
		c.differs[id] = append(c.differs[id], fmt.Sprintf("%s, written (-) and in %s (+):\n%s", id, side, cmp.Diff(written, has)))
	}
}

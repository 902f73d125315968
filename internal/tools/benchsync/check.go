package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// shownDifferences is how many of them are told; all are counted.
const shownDifferences = 5

// account is what was found in the tables when nothing waited any more.
type account struct {
	equal         int // items: in the store and in DynamoDB they are the same, and as they were written
	items, writes int // of them, those that were written to several times, and how often together
}

// String is a line for people.
func (a account) String() string {
	text := fmt.Sprintf("%d items equal in the store and in DynamoDB", a.equal)
	if a.items > 0 {
		text += fmt.Sprintf("; order kept on %d items, %d writes", a.items, a.writes)
	}
	return text
}

// checker holds an item in the store, the one in DynamoDB, and what was written against each other.
type checker struct {
	account
	last    map[string]write // the last one of each item, by its name
	seen    map[string]bool
	differ  int
	details []string
}

// check reads a table whole, in DynamoDB and in the store. An error names the first items that are not what they should be.
func check(
	ctx context.Context, s *store.Store, table string, asked []write, read func(context.Context, remote.Reading) (remote.Page, error),
) (account, error) {
	c := checker{last: map[string]write{}, seen: map[string]bool{}}
	for _, w := range asked {
		for _, id := range []int{w.id, w.pair} {
			if id != 0 {
				c.last[nameOf(keyOf(id))] = write{op: w.op, id: id, turn: w.turn}
			}
		}
	}
	for from := (remote.Reading{Table: table}); ; {
		page, err := read(ctx, from)
		if err != nil {
			return c.account, err
		}
		if err := c.page(ctx, s, table, page.Items); err != nil {
			return c.account, err
		}
		if from.After = page.LastKey; from.After == nil {
			break
		}
	}
	if err := c.rest(ctx, s, table); err != nil {
		return c.account, err
	}
	if c.differ > 0 {
		return c.account, fmt.Errorf("%s: %d items are not what was written, or not the same in the store and in DynamoDB:\n%s",
			table, c.differ, strings.Join(c.details, "\n"))
	}
	return c.account, nil
}

// page looks at items that DynamoDB has.
func (c *checker) page(ctx context.Context, s *store.Store, table string, images []attr.Item) error {
	return s.View(ctx, func(tx *store.Tx) error {
		for _, image := range images {
			theirs, _ := intent.Split(image)
			ours, err := tx.Get(table, attr.Item{"pk": theirs["pk"], "sk": theirs["sk"]})
			if err != nil {
				return err
			}
			c.compare(nameOf(theirs), ours, theirs)
		}
		return nil
	})
}

// rest looks at what the store alone has, and at what nobody has.
func (c *checker) rest(ctx context.Context, s *store.Store, table string) error {
	err := s.View(ctx, func(tx *store.Tx) error {
		for ours, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			if id := nameOf(ours); !c.seen[id] {
				c.compare(id, ours, nil)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(c.last)) {
		if !c.seen[id] {
			c.compare(id, nil, nil)
		}
	}
	return nil
}

func (c *checker) compare(id string, ours, theirs attr.Item) {
	c.seen[id] = true
	w := c.last[id]
	written := w.leaves()
	if attr.EqualItems(ours, theirs) && attr.EqualItems(theirs, written) {
		if theirs != nil {
			c.equal++
		}
		if w.turn > 1 {
			c.items++
			c.writes += w.turn
		}
		return
	}
	if c.differ++; c.differ > shownDifferences {
		return
	}
	names := map[string]bool{}
	for _, it := range []attr.Item{ours, theirs, written} {
		for name := range it {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !attr.Equal(ours[name], theirs[name]) || !attr.Equal(theirs[name], written[name]) {
			c.details = append(c.details, fmt.Sprintf("  %s %s: in DynamoDB %s, in the store %s, written %s",
				id, name, shown(theirs, name), shown(ours, name), shown(written, name)))
		}
	}
}

func shown(it attr.Item, name string) string {
	v, there := it[name]
	if !there {
		return "nothing"
	}
	return fmt.Sprintf("%.200s", v)
}

package store

import (
	"iter"

	"github.com/touchline/touchline/store/attr"
)

// QueryAll reads the items of all pages of a Query, one page at a time. An error ends it. In an Update the items may be
// changed on the way: a page is read before the first of its items is given out.
func (tx *Tx) QueryAll(q Query) iter.Seq2[attr.Item, error] {
	return allPages(func(start attr.Item) (Page, error) {
		if start != nil {
			q.StartKey = start
		}
		return tx.Query(q)
	})
}

// ScanAll is to Scan what QueryAll is to Query.
func (tx *Tx) ScanAll(q Scan) iter.Seq2[attr.Item, error] {
	return allPages(func(start attr.Item) (Page, error) {
		if start != nil {
			q.StartKey = start
		}
		return tx.Scan(q)
	})
}

func allPages(read func(start attr.Item) (Page, error)) iter.Seq2[attr.Item, error] {
	return func(yield func(attr.Item, error) bool) {
		for start := attr.Item(nil); ; {
			page, err := read(start)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, it := range page.Items {
				if !yield(it, nil) {
					return
				}
			}
			if start = page.LastKey; start == nil {
				return
			}
		}
	}
}

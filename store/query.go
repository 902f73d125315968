package store

import (
	"cmp"
	"iter"
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Query reads items of one partition of a table or an index, in the order of the sort key.
type Query struct {
	Table        string
	Index        string // empty: the table itself
	KeyCondition string
	Filter       string // keeps only the items read for which it holds
	Projection   string // the attributes to return; empty: Select decides
	expr.Params
	Select     Select
	Descending bool
	Limit      int       // number of items to read, before the filter; 0: as many as fit a page
	StartKey   attr.Item // LastKey of the previous page
}

// Page is one page of a Query or Scan. It ends at the limit, or at 1 MB of items as attr.Size counts them.
type Page struct {
	Items   []attr.Item // empty with SelectCount
	Count   int         // items that passed the filter
	Scanned int         // items read
	LastKey attr.Item   // StartKey of the next page; nil: this was the last

	Bytes   int // size of the items read, as attr.Size counts them and as the index shows them
	Fetched int // read capacity for items fetched because a local index lacks attributes: units of 4 KB, each item rounded up
}

// Query reads a page. Items past their TTL are left out and do not count towards the limit.
func (tx *Tx) Query(q Query) (Page, error) { return tx.query(q, nil) }

// QueryEncoded is Query for callers that need only the items' JSON or some attributes. use is called with the stored bytes of each item,
// which are invalid after use returns, and Page.Items stays empty. use must not call the transaction. An error of use ends the page.
func (tx *Tx) QueryEncoded(q Query, use func(attr.Encoded) error) (Page, error) {
	return tx.query(q, use)
}

func (tx *Tx) query(q Query, use func(attr.Encoded) error) (Page, error) {
	if err := tx.core.BeginCall(); err != nil {
		return Page{}, err
	}
	defer tx.core.EndCall()
	if q.KeyCondition == "" {
		return Page{}, refusal.Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	w, err := tx.newWalk(q.Table, q.Index, q.Limit)
	if err != nil {
		return Page{}, cmp.Or(tx.wrongAnyway(q), err)
	}
	key := w.key()
	request := q.request(&key.Key)
	request.Work = tx.work
	bound, err := tx.s.exprs.Bind(request)
	if err != nil {
		if wrong := tx.wrongAnyway(q); wrong != nil {
			return Page{}, wrong
		}
		return Page{}, cmp.Or(w.table.Spec.CheckStart(q.Index, q.StartKey), err)
	}
	if err := w.checkStart(q.StartKey, false); err != nil {
		return Page{}, err
	}
	w.Descending, w.use = q.Descending, use
	w.single = w.index == nil && w.table.Spec.Key.Sort.Name == ""
	if w.Low, w.High, err = key.Bounds(bound.Key); err != nil {
		return Page{}, err
	}
	for _, check := range [...]func() error{
		func() error { return w.startAt(q.StartKey) },
		func() error { return w.checkInside(bound.Key.Partition, bound.Key.Op != expr.SortAny) },
		func() error { return w.table.CheckPaths(bound.Projection.NestedNames()) },
		func() error { return checkQueryFilter(bound.Filter, key) },
		func() error { return w.choose(q.Select, bound) },
		func() error { return w.table.CheckPaths(bound.Filter.NestedNames()) },
	} {
		if err := check(); err != nil {
			return Page{}, err
		}
	}
	if w.index == nil {
		tx.notePartition(w.table, bound.Key.Partition[0])
	}
	return w.run()
}

// request returns the query's expressions, bound to a key.
func (q *Query) request(key *expr.Key) expr.Request {
	return expr.Request{KeyCondition: q.KeyCondition, Filter: q.Filter, Projection: q.Projection, Params: q.Params, Key: key}
}

// wrongAnyway returns the error of a query on a missing table or index that it would also have on any existing one, because DynamoDB
// validates the request first. A faulty key condition counts if the error does not depend on the names of the key attributes nor, for an
// index, on their number.
func (tx *Tx) wrongAnyway(q Query) error {
	wrong := func(partition string) error {
		key := expr.Key{Attrs: []expr.KeyAttr{{Name: partition}, {Name: "\x02"}}, Partition: 1}
		if q.Index != "" {
			key.Attrs = append(key.Attrs, slices.Repeat([]expr.KeyAttr{{Name: "\x03"}}, 2*catalogue.MaxKeyPart-len(key.Attrs))...)
		}
		_, err := tx.s.exprs.Bind(q.request(&key))
		return err
	}
	if err := wrong("\x00"); err != nil {
		if other := wrong("\x01"); other != nil && err.Error() == other.Error() {
			return err
		}
	}
	return checkSelect(q.Select, q.Index != "", q.Projection != "")
}

// checkQueryFilter refuses filters on key attributes, which belong in the key condition.
func checkQueryFilter(filter *expr.Condition, key *catalogue.Key) error {
	if filter == nil {
		return nil
	}
	for _, name := range filter.Attributes() {
		if key.Has(name) {
			return refusal.Invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	return nil
}

// QueryAll iterates over the items of all pages of a Query, reading one page at a time. An error ends it. An Update may change items
// during the iteration: each page is read before its first item is yielded.
func (tx *Tx) QueryAll(q Query) iter.Seq2[attr.Item, error] {
	return allPages(func(start attr.Item) (Page, error) {
		if start != nil {
			q.StartKey = start
		}
		return tx.Query(q)
	})
}

// ScanAll iterates over the items of all pages of a Scan, like QueryAll.
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

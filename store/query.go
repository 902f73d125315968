package store

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Query reads the items of one partition of a table or an index, in the order of the sort key.
type Query struct {
	Table        string
	Index        string // empty: the table itself
	KeyCondition string
	Filter       string // of the items read, those for which it holds are given
	Projection   string // the parts of them that are given; empty: as Select says
	expr.Params
	Select     Select
	Descending bool
	Limit      int       // of items read, before the filter; 0: as many as fit a page
	StartKey   attr.Item // LastKey of the page before
}

// Page is one page of a Query or Scan: what was read until the limit, or 1 MB of items as attr.Size counts them, was
// reached.
type Page struct {
	Items   []attr.Item // none with SelectCount
	Count   int         // items that passed the filter
	Scanned int         // items read
	LastKey attr.Item   // where to go on; nil: there is no more

	Bytes   int // of the items read, as attr.Size counts them and as the index shows them
	Fetched int // read capacity of what a local index does not show and the table was asked for: 4 KB, each item rounded up
}

// Query reads a page. Items past their TTL are left out, and do not count for the limit.
func (tx *Tx) Query(q Query) (Page, error) { return tx.query(q, nil) }

// QueryEncoded is Query for who needs the JSON of the items or some attributes only: use is called with each item as
// it lies in the store, and Page.Items is empty. The bytes are not there any more when use has returned, and use makes
// no other call on the transaction. An error of use ends the page.
func (tx *Tx) QueryEncoded(q Query, use func(attr.Encoded) error) (Page, error) {
	return tx.query(q, use)
}

func (tx *Tx) query(q Query, use func(attr.Encoded) error) (Page, error) {
	if err := tx.enter(); err != nil {
		return Page{}, err
	}
	defer tx.leave()
	if q.KeyCondition == "" {
		return Page{}, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	w, err := tx.newWalk(q.Table, q.Index, q.Limit)
	if err != nil {
		return Page{}, cmp.Or(tx.wrongAnyway(q), err)
	}
	key := w.keySpec()
	bound, err := tx.s.exprs.Bind(q.request(key.Partition.bound(), key.Sort.Name))
	if err != nil {
		return Page{}, cmp.Or(tx.wrongAnyway(q), w.table.spec.CheckStart(q.Index, q.StartKey), err)
	}
	if err := w.checkStart(q.StartKey, false); err != nil {
		return Page{}, err
	}
	w.descending, w.use = q.Descending, use
	if w.low, w.high, err = key.bounds(bound.Key); err != nil {
		return Page{}, err
	}
	for _, check := range [...]func() error{
		func() error { return w.startAt(q.StartKey) },
		func() error { return w.checkInside(bound.Key.Partition, bound.Key.Op != expr.SortAny) },
		func() error { return w.table.checkPaths(bound.Projection.Nested()) },
		func() error { return checkQueryFilter(bound.Filter, key) },
		func() error { return w.choose(q.Select, bound) },
		func() error { return w.table.checkPaths(bound.Filter.Nested()) },
	} {
		if err := check(); err != nil {
			return Page{}, err
		}
	}
	return w.run()
}

// request gives the expressions, to be bound to a key.
func (q *Query) request(partition expr.KeyAttr, sort string) expr.Request {
	return expr.Request{
		KeyCondition: q.KeyCondition, Filter: q.Filter, Projection: q.Projection, Params: q.Params,
		Partition: partition.Name, Kind: partition.Kind, Sort: sort,
	}
}

// wrongAnyway is what is wrong with a query whose table or index is not there, and would be with any: DynamoDB looks at
// the request first. Of a key condition that is the error that does not depend on the names of the key.
func (tx *Tx) wrongAnyway(q Query) error {
	if _, err := tx.s.exprs.Bind(q.request(expr.KeyAttr{Name: "\x00"}, "\x02")); err != nil {
		if _, other := tx.s.exprs.Bind(q.request(expr.KeyAttr{Name: "\x01"}, "\x02")); other != nil && err.Error() == other.Error() {
			return err
		}
	}
	return checkSelect(q.Select, q.Index != "", q.Projection != "")
}

// checkQueryFilter refuses a filter on what the key condition is for.
func checkQueryFilter(filter *expr.Condition, key KeySpec) error {
	if filter == nil {
		return nil
	}
	for _, name := range filter.Attributes() {
		if name == key.Partition.Name || name == key.Sort.Name {
			return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	return nil
}

// bounds gives the keys from low, included, to high, excluded, that a key condition selects.
func (k KeySpec) bounds(r expr.KeyRange) (low, high []byte, err error) {
	if err := r.Check(k.Partition.bound(), k.Sort.bound()); err != nil {
		return nil, nil, err
	}
	for _, v := range []attr.Value{r.Low, r.High} {
		if v.Kind() != attr.KindN && attr.SizeOf(v) > maxSortKey {
			return nil, nil, errKeySize(maxSortKey)
		}
	}
	partition, err := attr.AppendKey(nil, r.Partition)
	if err != nil {
		return nil, nil, err
	}
	low, high = partition, behind(partition)
	if r.Op == expr.SortAny {
		return low, high, nil
	}
	from, err := appendSort(partition, r)
	if err != nil {
		return nil, nil, err
	}
	switch r.Op {
	case expr.SortEqual, expr.SortBeginsWith:
		return from, behind(from), nil
	case expr.SortLess:
		return low, from, nil
	case expr.SortLessEqual:
		return low, behind(from), nil
	case expr.SortGreater:
		return behind(from), high, nil
	case expr.SortGreaterEqual:
		return from, high, nil
	}
	to, err := attr.AppendKey(slices.Clip(partition), r.High)
	return from, behind(to), err
}

// bound is the attribute as key conditions know it.
func (a KeyAttr) bound() expr.KeyAttr { return expr.KeyAttr{Name: a.Name, Kind: a.Type.kind()} }

func appendSort(partition []byte, r expr.KeyRange) ([]byte, error) {
	if r.Op == expr.SortBeginsWith {
		return attr.AppendKeyPrefix(slices.Clip(partition), r.Low)
	}
	return attr.AppendKey(slices.Clip(partition), r.Low)
}

// behind gives the first key behind all that begin with prefix, nil if there is none.
func behind(prefix []byte) []byte {
	out := slices.Clone(prefix)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i]++; out[i] != 0 {
			return out[:i+1]
		}
	}
	return nil
}

package store

import (
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Scan reads a whole table or index, page by page. The order is that of the keys, which DynamoDB does not promise.
type Scan struct {
	Table  string
	Index  string
	Filter string
	expr.Params
	Limit    int       // of items read, before the filter; 0: as many as fit a page
	StartKey attr.Item // LastKey of the page before
}

// Scan reads a page. Items past their TTL are left out, and do not count for the limit.
func (tx *Tx) Scan(q Scan) (Page, error) {
	if err := tx.enter(); err != nil {
		return Page{}, err
	}
	defer tx.leave()
	w, err := tx.newWalk(q.Table, q.Index, q.Limit)
	if err != nil {
		return Page{}, err
	}
	bound, err := tx.s.exprs.Bind(expr.Request{Filter: q.Filter, Params: q.Params})
	if err != nil {
		return Page{}, err
	}
	w.filter = bound.Filter
	if err := w.startAt(q.StartKey); err != nil {
		return Page{}, err
	}
	return w.run()
}

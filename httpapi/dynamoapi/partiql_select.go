package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/partiql"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

const (
	// maxDecomposed is how many items a page has of a SELECT that names several keys.
	maxDecomposed = 10
	// maxPage is how many bytes are read for a page, as in a Query.
	maxPage = 1 << 20
)

// position is where a SELECT goes on: in which of its steps, and behind which key; nil: at its start.
type position struct {
	step int
	key  attr.Item
}

// selection is a SELECT that is run.
type selection struct {
	read       partiql.Read
	spec       *store.TableSpec
	index      string
	limit      int // of items read, 0: none
	consistent bool
	used       *consumption

	items   []attr.Item
	scanned int
	bytes   int
}

// run reads a page. It gives the position behind it, nil at the end.
func (s *selection) run(tx *store.Tx, from position) (*position, error) {
	steps := s.read.Steps
	if len(steps) > 1 && (s.limit == 0 || s.limit > maxDecomposed) {
		s.limit = maxDecomposed
	}
	for ; from.step < len(steps); from = (position{step: from.step + 1}) {
		if s.limit > 0 && s.scanned >= s.limit || s.bytes >= maxPage {
			return &from, nil
		}
		last, err := s.step(tx, &steps[from.step], from.key)
		if err != nil {
			return nil, err
		}
		if last != nil {
			return &position{from.step, last}, nil
		}
	}
	return nil, nil
}

// step reads a page of one step. It gives the key to go on behind, nil: there is no more.
func (s *selection) step(tx *store.Tx, step *partiql.Step, start attr.Item) (attr.Item, error) {
	if s.read.Key != nil {
		return nil, s.get(tx)
	}
	limit := 0
	if s.limit > 0 {
		limit = s.limit - s.scanned
	}
	var page store.Page
	var err error
	if s.read.Scan {
		page, err = tx.Scan(store.Scan{
			Table: s.spec.Name, Index: s.index, Filter: step.Filter, Projection: step.Projection, Params: step.Params, Limit: limit, StartKey: start,
		})
	} else {
		page, err = tx.Query(store.Query{
			Table: s.spec.Name, Index: s.index, KeyCondition: step.KeyCondition, Filter: step.Filter, Projection: step.Projection,
			Params: step.Params, Limit: limit, StartKey: start, Descending: s.read.Descending,
		})
	}
	if err != nil {
		return nil, err
	}
	s.used.read(s.spec, s.index, page.Bytes, s.consistent, false)
	s.used.fetched(s.spec, page.Fetched, s.consistent)
	s.scanned += page.Scanned
	s.bytes += page.Bytes
	for _, it := range page.Items {
		if err := s.take(tx, it); err != nil {
			return nil, err
		}
	}
	return page.LastKey, nil
}

// get reads the one item whose key is known.
func (s *selection) get(tx *store.Tx) error {
	it, err := tx.Get(s.spec.Name, s.read.Key)
	if err != nil {
		return err
	}
	s.used.read(s.spec, "", attr.Size(it), s.consistent, false)
	if it == nil {
		return nil
	}
	return s.take(tx, it)
}

// take adds an item if the last condition holds.
func (s *selection) take(tx *store.Tx, it attr.Item) error {
	if s.read.After != nil {
		if holds, err := s.read.After.MatchWithin(expr.Item(it), tx.Work()); err != nil || !holds {
			return err
		}
	}
	s.items = append(s.items, s.read.Columns.Show(it))
	return nil
}

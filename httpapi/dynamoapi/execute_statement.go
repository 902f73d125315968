package dynamoapi

import (
	"errors"
	"math"
	"unicode/utf8"

	"github.com/touchline/touchline/httpapi/dynamoapi/partiql"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// executeStatement runs one PartiQL statement.
type executeStatement struct {
	statement
	next     wire.Opt[string] // NextToken
	limit    wire.Opt[int64]
	capacity wire.Opt[string]
}

func (r *executeStatement) members(m *wire.Member) {
	m.Text("NextToken", &r.next)
	m.Int("Limit", &r.limit)
	m.Text("ReturnConsumedCapacity", &r.capacity)
	r.statement.members(m)
}

func (r *executeStatement) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	r.statement.constrain(c, "")
	if r.next.Set {
		c.count("nextToken", quote(r.next.V), utf8.RuneCountInString(r.next.V), 1, maxToken)
	}
	c.requireBetween("limit", r.limit, 1, math.MaxInt32)
}

func (r *executeStatement) run(c *call) error {
	spec, params, err := r.alone(c)
	if err != nil {
		return err
	}
	used := newConsumption(r.capacity)
	if r.read.Kind == partiql.Select {
		return plain(r.selecting(c, spec, params, used))
	}
	w, badKey, err := r.write(spec, params)
	if err == nil {
		err = badKey
	}
	if err != nil {
		return plain(err)
	}
	var shown attr.Item
	err = c.update(false, func(tx *store.Tx) (err error) {
		used.watch(tx, false)
		shown, err = r.perform(tx, w)
		return err
	})
	if err != nil {
		return r.translateError(err)
	}
	var all []attr.Item
	if len(shown) > 0 {
		all = append(all, shown)
	}
	items(c.out, "Items", all)
	used.one(c.out)
	return nil
}

func (r *executeStatement) selecting(c *call, spec *store.TableSpec, params []attr.Value, used *consumption) error {
	src, err := r.source(spec)
	if err != nil {
		return err
	}
	s := &selection{spec: spec, index: r.read.Index, limit: int(r.limit.V), consistent: r.consistent.V, used: used}
	if s.read, err = r.read.Read(params, src); err != nil {
		return err
	}
	if one, single, err := r.read.SingleItem(params, keyOf(spec.Key)); r.consistent.V && err == nil && single {
		c.refresh(spec.Name, one.Key)
	}
	now := c.api.cfg.Now()
	from, err := r.position(now, r.next, len(s.read.Steps))
	if err != nil {
		return err
	}
	var next *position
	err = c.evaluate(func(tx *store.Tx) (err error) {
		next, err = s.run(tx, from)
		return err
	})
	if err != nil {
		return err
	}
	items(c.out, "Items", s.items)
	if next != nil {
		c.out.NamedText("NextToken", opaque(nextToken{Made: now, Mark: r.mark(), Step: next.step, Key: next.key}))
		if next.key != nil {
			writeItem(c.out, "LastEvaluatedKey", next.key)
		}
	}
	used.one(c.out)
	return nil
}

// write compiles an INSERT, UPDATE, DELETE or EXISTS for the store. An error of its key is returned separately.
func (s *statement) write(spec *store.TableSpec, params []attr.Value) (w store.WriteItem, badKey, err error) {
	c, err := s.read.Write(params, keyOf(spec.Key))
	switch s.read.Kind {
	case partiql.Insert:
		w.Put = &store.PutItem{Table: spec.Name, Item: c.Item, Condition: c.Condition, Params: c.Params}
	case partiql.Update:
		w.Update = &store.UpdateItem{Table: spec.Name, Key: c.Key, Update: c.Update, Condition: c.Condition, Params: c.Params}
	case partiql.Delete:
		w.Delete = &store.DeleteItem{Table: spec.Name, Key: c.Key, Condition: c.Condition, Params: c.Params}
	default:
		w.Check = &store.ConditionCheck{Table: spec.Name, Key: c.Key, Condition: c.Condition, Params: c.Params}
	}
	return w, c.BadKey, err
}

// perform runs a write and returns what RETURNING shows of it.
func (s *statement) perform(tx *store.Tx, w store.WriteItem) (attr.Item, error) {
	var images store.Images
	var err error
	switch {
	case w.Put != nil:
		_, err = tx.Put(*w.Put)
	case w.Delete != nil:
		images.Old, err = tx.Delete(*w.Delete)
	default:
		images, err = tx.Update(*w.Update)
	}
	if err != nil {
		return nil, err
	}
	return returnedItem(string(s.read.Returning), images), nil
}

// translateError translates a write's error into PartiQL's words.
func (s *statement) translateError(err error) error {
	if _, ok := errors.AsType[*store.ConditionFailedError](err); ok && s.read.Kind == partiql.Insert {
		return refuse(ofModel+"DuplicateItemException", duplicateItem)
	}
	return plain(withoutOld(err, s.onFailure))
}

const (
	// maxDecomposed is the page size, in items, of a SELECT that names several keys.
	maxDecomposed = 10
	// maxPage is how many bytes end a page, as in a Query: no further step begins.
	maxPage = 1 << 20
)

// position is where a SELECT continues: in which step, and after which key (nil: at the step's start).
type position struct {
	step int
	key  attr.Item
}

// selection is a running SELECT.
type selection struct {
	read       partiql.Read
	spec       *store.TableSpec
	index      string
	limit      int // limit of items read; 0: none
	consistent bool
	used       *consumption

	items   []attr.Item
	scanned int
	bytes   int
}

// run reads a page and returns where to continue; nil at the end.
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

// step reads a page of one step and returns the key to continue after; nil at the end.
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
	s.used.read(s.spec.Name, indexOf(s.spec, s.index), page.Bytes, s.consistent, false)
	s.used.countFetches(s.spec.Name, page.Fetched, s.consistent)
	s.scanned += page.Scanned
	s.bytes += page.Bytes
	for _, it := range page.Items {
		if err := s.addItem(tx, it); err != nil {
			return nil, err
		}
	}
	return page.LastKey, nil
}

// get reads the item of a known key.
func (s *selection) get(tx *store.Tx) error {
	it, err := tx.Get(s.spec.Name, s.read.Key)
	if err != nil {
		return err
	}
	s.used.read(s.spec.Name, nil, attr.Size(it), s.consistent, false)
	if it == nil {
		return nil
	}
	return s.addItem(tx, it)
}

// addItem adds an item if the remaining condition holds.
func (s *selection) addItem(tx *store.Tx, it attr.Item) error {
	if s.read.After != nil {
		if holds, err := s.read.After.MatchWithin(expr.Item(it), tx.Work()); err != nil || !holds {
			return err
		}
	}
	s.items = append(s.items, s.read.Columns.ShownPart(it))
	return nil
}

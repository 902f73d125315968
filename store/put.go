package store

import (
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// PutItem creates an item or replaces it as a whole.
type PutItem struct {
	Table     string
	Item      attr.Item
	Condition string
	expr.Params
	NoOld bool // the old item is not wanted: to decode it is a good part of the work
}

// Put writes an item if the condition holds of the one that is there, which it returns: nil if there is none. It does
// not keep p.Item.
//
// An item past its TTL is still there for conditions and as the old item, as in DynamoDB.
func (tx *Tx) Put(p PutItem) (old attr.Item, err error) {
	if err := tx.enterWrite(); err != nil {
		return nil, err
	}
	defer tx.leave()
	t, err := tx.table(p.Table)
	if err != nil {
		return nil, err
	}
	bound, err := tx.s.exprs.Bind(expr.Request{Condition: p.Condition, Params: p.Params})
	if err != nil {
		return nil, err
	}
	key, err := t.itemKey(p.Item)
	if err != nil {
		return nil, err
	}
	if err := t.checkItem(p.Item); err != nil {
		return nil, err
	}
	was, old, err := tx.condition(t, key, bound.Condition, !p.NoOld)
	if err != nil {
		return nil, err
	}
	return old, tx.apply(change{
		table: t, key: key, old: was, now: newRow(p.Item, was), op: OpPut,
		request: Request{Condition: p.Condition, Params: p.Params},
	})
}

// checkItem refuses an item that no table, or not this one with its indexes, can hold.
func (t *table) checkItem(it attr.Item) error {
	if err := attr.Check(it); err != nil {
		return err
	}
	for _, ix := range t.indexes {
		if err := ix.checkItem(it); err != nil {
			return err
		}
	}
	return nil
}

// condition fetches the row of a key, and the item in it if that is wanted. It refuses to go on if the condition does not
// hold of the item.
func (tx *Tx) condition(t *table, key []byte, c *expr.Condition, decode bool) (was row, old attr.Item, err error) {
	was, err = tx.row(t, key)
	if err != nil {
		return nil, nil, err
	}
	holds := true
	if c != nil {
		holds, err = c.Match(was.doc())
	}
	if err == nil && (decode || !holds) {
		old, err = was.decode()
	}
	switch {
	case err != nil && fault.Is(err, fault.Invalid):
		return nil, nil, err
	case err != nil:
		return nil, nil, damaged(err, "an item cannot be decoded")
	case !holds:
		return nil, nil, &ConditionFailedError{Table: t.spec.Name, Old: old}
	}
	return was, old, nil
}

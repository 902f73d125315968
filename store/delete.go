package store

import (
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// DeleteItem removes an item.
type DeleteItem struct {
	Table     string
	Key       attr.Item
	Condition string
	expr.Params
	NoOld bool // the old item is not wanted
}

// Delete removes an item if the condition holds of it, and returns it. To delete what is not there is no error, changes
// nothing and leaves nothing in the journal.
func (tx *Tx) Delete(d DeleteItem) (old attr.Item, err error) {
	if err := tx.enterWrite(); err != nil {
		return nil, err
	}
	defer tx.leave()
	t, err := tx.table(d.Table)
	if err != nil {
		return nil, err
	}
	bound, err := tx.s.exprs.Bind(expr.Request{Condition: d.Condition, Params: d.Params})
	if err != nil {
		return nil, err
	}
	key, err := t.requestKey(d.Key)
	if err != nil {
		return nil, err
	}
	was, old, err := tx.condition(t, key, bound.Condition, !d.NoOld)
	if err != nil || was == nil {
		return nil, err
	}
	return old, tx.apply(change{
		table: t, key: key, old: was, op: OpDelete,
		request: Request{Condition: d.Condition, Params: d.Params},
	})
}

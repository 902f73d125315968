package store

import (
	"maps"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// UpdateItem changes attributes of an item, or creates it of its key and what the update sets.
type UpdateItem struct {
	Table     string
	Key       attr.Item
	Update    string // empty: only the key, if the item is not there
	Condition string
	expr.Params
}

// Images are an item before and after a write; nil is no item.
type Images struct {
	Old, New attr.Item
}

// Update applies an update expression if the condition holds.
func (tx *Tx) Update(u UpdateItem) (Images, error) {
	if err := tx.enterWrite(); err != nil {
		return Images{}, err
	}
	defer tx.leave()
	t, err := tx.table(u.Table)
	if err != nil {
		return Images{}, err
	}
	bound, err := tx.s.exprs.Bind(expr.Request{Update: u.Update, Condition: u.Condition, Params: u.Params})
	if err != nil {
		return Images{}, err
	}
	key, err := t.requestKey(u.Key)
	if err != nil {
		return Images{}, err
	}
	if err := t.checkUpdate(bound.Update); err != nil {
		return Images{}, err
	}
	was, old, err := tx.condition(t, key, bound.Condition, true)
	if err != nil {
		return Images{}, err
	}
	now, err := updated(old, u.Key, bound.Update)
	if err != nil {
		return Images{}, err
	}
	if err := t.checkItem(now); err != nil {
		return Images{}, err
	}
	err = tx.apply(change{
		table: t, key: key, old: was, now: newRow(now, was), op: OpUpdate,
		request: Request{Update: u.Update, Condition: u.Condition, Params: u.Params},
	})
	return Images{Old: old, New: now}, err
}

// updated gives the item after an update, in a map of its own.
func updated(old, key attr.Item, u *expr.Update) (attr.Item, error) {
	base := old
	if base == nil {
		base = key
	}
	if u == nil {
		return maps.Clone(base), nil
	}
	return u.Apply(base)
}

// checkUpdate refuses an update of a key attribute, also one that would leave its value.
func (t *table) checkUpdate(u *expr.Update) error {
	if u == nil {
		return nil
	}
	for _, name := range u.Attributes() {
		for _, a := range t.spec.Key.attrs() {
			if name == a.Name {
				return invalid("One or more parameter values were invalid: "+
					"Cannot update attribute %s. This attribute is part of the key", name)
			}
		}
	}
	return nil
}

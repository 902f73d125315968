package store

import (
	"maps"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// UpdateItem changes attributes of an item, or creates it of its key and what the update sets or adds. An update that only
// removes and deletes does not create an item: it succeeds, and nothing is written.
type UpdateItem struct {
	Table     string
	Key       attr.Item
	Update    string // empty: only the key, if the item is not there
	Condition string
	expr.Params
	Sending
}

func (u *UpdateItem) write() write {
	return write{
		op: OpUpdate, name: u.Table, subject: u.Key,
		request: Request{Update: u.Update, Condition: u.Condition, Params: u.Params}, sending: u.Sending,
	}
}

// Images are an item before and after a write; nil is no item.
type Images struct {
	Old, New attr.Item

	OldSize, NewSize int // in bytes as attr.Size counts them; 0: no item

	update *expr.Update // that led from Old to New; nil: none
}

// Updated returns of both images what the update expression named: UPDATED_OLD and UPDATED_NEW. Of a nested path that is
// the nested part alone, and elements of a list close up. What was not there, or is not there any more, is absent; an
// image without any of it is empty, and no item stays nil. The sizes stay those of the whole items.
//
// DynamoDB Local shows the whole attribute that a nested path lies in; the service shows the part.
func (im Images) Updated() Images {
	return Images{Old: im.named(im.Old), New: im.named(im.New), OldSize: im.OldSize, NewSize: im.NewSize}
}

func (im Images) named(it attr.Item) attr.Item {
	switch {
	case it == nil:
		return nil
	case im.update == nil:
		return attr.Item{}
	}
	return im.update.Project(it)
}

// Update applies an update expression if the condition holds.
func (tx *Tx) Update(u UpdateItem) (Images, error) {
	return tx.write(u.write(), true)
}

// updated returns the item after an update, in a map of its own; nil: there is none, and the update creates none.
func updated(old, key attr.Item, u *expr.Update, work *expr.Work) (attr.Item, error) {
	base := old
	if base == nil {
		if !u.Creates() {
			return nil, nil
		}
		base = key
	}
	if u == nil {
		return maps.Clone(base), nil
	}
	return u.ApplyWithin(base, work)
}

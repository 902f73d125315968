package store

import (
	"maps"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// UpdateItem changes attributes of an item, or creates the item from its key and what the update sets or adds. An update that only
// removes and deletes does not create an item: it succeeds, and nothing is written.
type UpdateItem struct {
	Table     string
	Key       attr.Item
	Update    string // empty: creates an item of only the key, if missing
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

// Images holds an item before and after a write; nil means no item.
type Images struct {
	Old, New attr.Item

	OldSize, NewSize int // in bytes as attr.Size counts them; 0: no item

	update *expr.Update // the update that led from Old to New; nil: none
}

// OnlyUpdated reduces both images to what the update expression named: UPDATED_OLD and UPDATED_NEW. For a nested path that is the nested part
// alone, and lists are compacted to the elements named. Attributes that did not exist before, or no longer exist, are left out: an image
// without any is empty; nil stays nil. The sizes stay those of the whole items.
//
// DynamoDB Local shows the whole attribute that contains a nested path; the service shows the part.
func (im Images) OnlyUpdated() Images {
	return Images{Old: im.onlyNamed(im.Old), New: im.onlyNamed(im.New), OldSize: im.OldSize, NewSize: im.NewSize}
}

func (im Images) onlyNamed(it attr.Item) attr.Item {
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

// updatedItem returns the item after an update, in a new map, or nil if there is no item and the update creates none.
func updatedItem(old, key attr.Item, u *expr.Update, work *expr.Work) (attr.Item, error) {
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

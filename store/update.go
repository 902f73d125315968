package store

import (
	"errors"
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
	if err := tx.enterWrite(); err != nil {
		return Images{}, err
	}
	defer tx.leave()
	w := u.write()
	c, images, err := tx.prepare(&w, true)
	if err != nil {
		return Images{}, err
	}
	if err := tx.performOne(&w, c); err != nil {
		return images, err
	}
	tx.saw(c.table, c.key)
	return images, nil
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

// checkUpdate refuses an update of a key attribute, also one that would leave its value.
func (t *table) checkUpdate(u *expr.Update) error {
	if u == nil {
		return nil
	}
	for _, name := range u.Attributes() {
		for _, a := range t.key.attrs {
			if name == a.Name {
				return invalid("One or more parameter values were invalid: "+
					"Cannot update attribute %s. This attribute is part of the key", name)
			}
		}
	}
	return nil
}

// checkUpdated refuses what an update must not make of an item, in the words that DynamoDB has for updates, and gives
// the item's size.
func (t *table) checkUpdated(it attr.Item) (size int, err error) {
	size, err = attr.Measure(it)
	if err == nil && size > attr.MaxItemSize {
		err = invalid("Item size to update has exceeded the maximum allowed size")
	}
	if err != nil {
		return 0, err
	}
	err = t.checkIndexKeys(it)
	if empty, ok := errors.AsType[*emptyKeyError](err); ok {
		empty.error = invalid("One or more parameter values are not valid. The update expression attempted to update a "+
			"secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain "+
			"an empty %s value.", empty.what)
	}
	return size, err
}

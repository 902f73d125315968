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
	Sending
}

func (d *DeleteItem) write() write {
	return write{
		op: OpDelete, name: d.Table, subject: d.Key, request: Request{Condition: d.Condition, Params: d.Params},
		sending: d.Sending,
	}
}

// Delete removes an item if the condition holds of it, and returns it. To delete what is not there is no error, changes
// nothing and leaves nothing in the journal.
func (tx *Tx) Delete(d DeleteItem) (old attr.Item, err error) {
	images, err := tx.write(d.write(), !d.NoOld)
	return images.Old, err
}

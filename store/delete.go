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
	NoOld bool // do not return the old item
	Sending
}

func (d *DeleteItem) write() write {
	return write{
		op: OpDelete, name: d.Table, subject: d.Key, request: Request{Condition: d.Condition, Params: d.Params},
		sending: d.Sending,
	}
}

// Delete removes an item if the condition holds, and returns the old item. Deleting an item that does not exist is not an error: it
// changes nothing and writes no journal record.
func (tx *Tx) Delete(d DeleteItem) (old attr.Item, err error) {
	images, err := tx.write(d.write(), !d.NoOld)
	return images.Old, err
}

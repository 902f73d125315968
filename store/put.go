package store

import (
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// PutItem creates an item or replaces the whole item.
type PutItem struct {
	Table     string
	Item      attr.Item
	Condition string
	expr.Params
	NoOld bool // do not return the old item: decoding it is a good part of the work
	Sending
}

// PutEncoded is Put for an item in its binary form, as attr.ReadEncodedJSON makes it from a request. It ignores p.Item.
func (tx *Tx) PutEncoded(p PutItem, item attr.Encoded) (old attr.Item, err error) {
	w := p.write()
	w.encoded = item
	images, err := tx.write(w, !p.NoOld)
	return images.Old, err
}

func (p *PutItem) write() write {
	return write{
		op: OpPut, name: p.Table, subject: p.Item, request: Request{Condition: p.Condition, Params: p.Params},
		sending: p.Sending,
	}
}

// Put writes an item if the condition holds for the one it replaces, and returns that one, or nil if there was none. It does not keep a
// reference to p.Item.
//
// An item past its TTL still counts as present, as in DynamoDB.
func (tx *Tx) Put(p PutItem) (old attr.Item, err error) {
	images, err := tx.write(p.write(), !p.NoOld)
	return images.Old, err
}

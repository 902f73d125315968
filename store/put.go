package store

import (
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
	Sending
}

// PutEncoded is Put of an item in its binary form, which attr.ReadEncodedJSON has made of a request: p.Item is not looked at.
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

// Put writes an item if the condition holds of the one that is there, which it returns: nil if there is none. It does
// not keep p.Item.
//
// An item past its TTL is still there for conditions and as the old item, as in DynamoDB.
func (tx *Tx) Put(p PutItem) (old attr.Item, err error) {
	images, err := tx.write(p.write(), !p.NoOld)
	return images.Old, err
}

package store

import (
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// GetItem reads one item by its key, which is the table's key attributes and nothing else.
type GetItem struct {
	Table      string
	Key        attr.Item
	Projection string // empty: the whole item
	expr.Params
}

// GetItem reads an item or the parts of it that the projection names. It gives nil if there is none, or if it is past
// its TTL; an item that has none of the parts is an empty one.
func (tx *Tx) GetItem(g GetItem) (attr.Item, error) {
	bound, err := tx.s.exprs.Bind(expr.Request{Projection: g.Projection, Params: g.Params})
	if err != nil {
		return nil, err
	}
	it, err := tx.Get(g.Table, g.Key)
	if err != nil || bound.Projection == nil {
		return it, err
	}
	t, err := tx.table(g.Table)
	if err != nil {
		return nil, err
	}
	if err := t.checkPaths(bound.Projection.Nested()); err != nil || it == nil {
		return nil, err
	}
	return bound.Projection.Project(it), nil
}

// Get reads the item with the given key as a whole. It gives nil if there is none, or if it is past its TTL.
func (tx *Tx) Get(table string, key attr.Item) (it attr.Item, err error) {
	err = tx.GetEncoded(table, key, func(e attr.Encoded) error {
		it, err = decodeItem(e)
		return err
	})
	return it, err
}

// GetEncoded is Get for callers that need only the item's JSON or some attributes: use is called with the item as it
// lies in the store, if there is one. Its bytes are not there any more when use has returned, and use makes no other
// call on the transaction.
func (tx *Tx) GetEncoded(table string, key attr.Item, use func(attr.Encoded) error) error {
	if err := tx.enter(); err != nil {
		return err
	}
	defer tx.leave()
	t, err := tx.table(table)
	if err != nil {
		return err
	}
	k, err := t.appendRequestKey(tx.scratch(), key)
	if err != nil {
		return err
	}
	r, err := tx.visible(t, k)
	if err != nil {
		return err
	}
	tx.saw(t, k)
	tx.touchRead(t, r)
	if r == nil {
		return nil
	}
	return tx.lend(r.item(), use)
}

// scratch returns room for a key that is looked up and forgotten.
func (tx *Tx) scratch() []byte {
	if tx.reader == nil {
		return make([]byte, 0, 64)
	}
	return tx.reader.key
}

// visible fetches the row that a read shows, nil if there is none.
func (tx *Tx) visible(t *table, key []byte) (row, error) {
	r, err := tx.row(t, key)
	if err != nil || r == nil {
		return nil, err
	}
	if hidden, err := tx.hides(t, r); err != nil || hidden {
		return nil, err
	}
	return r, nil
}

// row fetches a row, nil if there is none.
func (tx *Tx) row(t *table, key []byte) (row, error) {
	bucket, err := tx.bucket(t.bucket)
	if err != nil {
		return nil, err
	}
	v := bucket.Get(key)
	if v == nil {
		return nil, nil
	}
	return tx.rowOf(t, key, v)
}

// hides reports whether reads do not show a row because its item is past its TTL.
func (tx *Tx) hides(t *table, r row) (bool, error) {
	if t.spec.TTL == "" || tx.showExpired {
		return false, nil
	}
	return t.expired(r.item(), tx.Now())
}

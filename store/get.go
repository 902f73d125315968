package store

import (
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
)

// GetItem reads one item by its key: the table's key attributes and nothing else.
type GetItem struct {
	Table      string
	Key        attr.Item
	Projection string // empty: the whole item
	expr.Params
}

// GetItem reads an item, or the parts of it named by the projection. It returns nil if the item does not exist or is past its TTL, and an
// empty item if it has none of the parts.
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
	if err := t.CheckPaths(bound.Projection.NestedNames()); err != nil || it == nil {
		return nil, err
	}
	return bound.Projection.Project(it), nil
}

// Get reads the whole item with the given key. It returns nil if the item does not exist or is past its TTL.
func (tx *Tx) Get(table string, key attr.Item) (it attr.Item, err error) {
	err = tx.GetEncoded(table, key, func(e attr.Encoded) error {
		it, err = format.DecodeItem(e)
		return err
	})
	return it, err
}

// GetEncoded is Get for callers that need only the item's JSON or some of its attributes. If the item exists, use is called with the
// stored bytes, which are invalid after use returns. use must not call the transaction.
func (tx *Tx) GetEncoded(table string, key attr.Item, use func(attr.Encoded) error) error {
	if err := tx.core.BeginCall(); err != nil {
		return err
	}
	defer tx.core.EndCall()
	t, err := tx.table(table)
	if err != nil {
		return err
	}
	k, err := t.AppendRequestKey(tx.scratch(), key)
	if err != nil {
		return err
	}
	r, err := tx.visible(t, k)
	if err != nil {
		return err
	}
	tx.markSeen(t, k)
	tx.touchRead(t, r)
	if r == nil {
		return nil
	}
	if tx.shared {
		if err := tx.spendOnEntry(r.Size()); err != nil {
			return err
		}
	}
	return tx.core.Lend(r.Item(), use)
}

// scratch returns a buffer for a key that is looked up and then forgotten.
func (tx *Tx) scratch() []byte {
	if tx.core.Reader == nil {
		return make([]byte, 0, 64)
	}
	return tx.core.Reader.Key
}

// visible fetches the row that a read shows, or nil if there is none.
func (tx *Tx) visible(t *catalogue.Table, key []byte) (format.Row, error) {
	r, err := tx.core.Row(t, key)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, tx.noteAbsent(t, key)
	}
	hidden, err := tx.hides(t, r)
	if err != nil {
		return nil, err
	}
	if hidden {
		return nil, tx.noteAbsent(t, key)
	}
	return r, nil
}

// hides reports whether reads hide a row because its item is past its TTL.
func (tx *Tx) hides(t *catalogue.Table, r format.Row) (bool, error) {
	if t.Spec.TTL == "" || tx.showExpired {
		return false, nil
	}
	return t.Expired(r.Item(), tx.core.Now())
}

package store

import (
	"github.com/touchline/touchline/store/attr"
)

// OriginCloud is the origin of what Tx.Adopt wrote.
const OriginCloud = "cloud"

// Adopt sets the row of a key to an item as the cloud has it, nil: to none, with its index entries and a journal record of
// the origin OriginCloud. It reports whether that changed anything. The replicator is not asked; a condition, a TTL, or
// the protection of a table are no matter. An item that no table can hold, or that is of another key, is fault.Invalid.
//
// An attribute that cannot be the key of an index leaves the item out of it, as it does in DynamoDB for an item that was
// there before the index.
func (tx *Tx) Adopt(table string, key, item attr.Item) (changed bool, err error) {
	if err := tx.enterWrite(); err != nil {
		return false, err
	}
	defer tx.leave()
	t, err := tx.table(table)
	if err != nil {
		return false, err
	}
	raw, err := t.requestKey(key)
	if err != nil {
		return false, err
	}
	old, err := tx.row(t, raw)
	if err != nil {
		return false, err
	}
	c := change{table: t, key: raw, old: old, op: OpDelete}
	if item != nil {
		if c.now, err = t.adopted(item, key, old); err != nil {
			return false, err
		}
		c.op = OpPut
	}
	same, err := c.leavesItem(item)
	if err != nil || same {
		return false, err
	}
	origin := tx.origin
	tx.origin = OriginCloud
	defer func() { tx.origin = origin }()
	return true, tx.apply(c)
}

// adopted makes a row of an item from elsewhere.
func (t *table) adopted(item, key attr.Item, old row) (row, error) {
	for name, v := range key {
		if !attr.Equal(item[name], v) {
			return nil, invalid("an item to be adopted in %s does not have the key that was asked for", name)
		}
	}
	size, err := attr.Measure(item)
	if err != nil {
		return nil, err
	}
	return newRow(item, size, old), nil
}

// leavesItem reports whether the row says already what the change would make it say.
func (c *change) leavesItem(item attr.Item) (bool, error) {
	if c.old == nil || item == nil {
		return c.old == nil && item == nil, nil
	}
	old, err := c.old.decode()
	return err == nil && attr.EqualItems(old, item), err
}

// RawKey returns the key of an item in the order-keeping bytes of attr.AppendKey, partition key first: what Write.RawKey
// is.
func (tx *Tx) RawKey(table string, key attr.Item) (raw []byte, err error) {
	if err := tx.enter(); err != nil {
		return nil, err
	}
	defer tx.leave()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	return t.requestKey(key)
}

// KeyOf is the key of which raw is the RawKey.
func (tx *Tx) KeyOf(table string, raw []byte) (attr.Item, error) {
	if err := tx.enter(); err != nil {
		return nil, err
	}
	defer tx.leave()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	return t.keyItem(raw)
}

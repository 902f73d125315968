package store

import (
	"bytes"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// Touch reports what a call read or wrote of one item, from which DynamoDB computes capacity. Sizes are in bytes as attr.Size counts
// them; 0 means no item.
type Touch struct {
	Table   string
	Op      Op  // 0: a read or a condition check
	Old     int // before a write; for a read, the item
	New     int // after a write
	Indexes []IndexTouch
}

// IndexTouch reports the change a write made to an index. DynamoDB writes an entry when something that the index shows changes.
type IndexTouch struct {
	Index string
	Local bool
	Old   int  // bytes of the entry before, as the index shows the item; 0: none
	New   int  // after
	Moved bool // both exist, with different keys: DynamoDB deletes one and puts the other
}

// OnTouch sets a function to be called for each item that later calls of Get, GetItem, BatchGet, TransactGet and of writes read or write,
// in the order of the request, including items that do not exist; nil: none. fn must not call the transaction. For a write it runs before
// the commit, which may still fail. Page has the figures of a Query or Scan.
//
// The figures of indexes cost the decoding of both images.
func (tx *Tx) OnTouch(fn func(Touch)) {
	if !tx.rehearsing {
		tx.touched = fn
	}
}

// touchRead reports an item that was read.
func (tx *Tx) touchRead(t *catalogue.Table, r format.Row) {
	if tx.touched != nil {
		tx.touched(Touch{Table: t.Spec.Name, Old: r.Bytes()})
	}
}

// touchWrite reports a write, before it is applied.
func (tx *Tx) touchWrite(c *txn.Change) error {
	if tx.touched == nil {
		return nil
	}
	touch := Touch{Table: c.Table.Spec.Name, Op: c.Op, Old: c.Old.Bytes(), New: c.Now.Bytes()}
	if c.Op != opCheck && len(c.Table.Indexes) > 0 {
		old, err := c.Old.Decode()
		if err != nil {
			return err
		}
		now, err := c.Now.Decode()
		if err != nil {
			return err
		}
		for _, ix := range c.Table.Indexes {
			it, changed, err := touchIndex(ix, c, old, now)
			if err != nil {
				return err
			}
			if changed {
				touch.Indexes = append(touch.Indexes, it)
			}
		}
	}
	tx.touched(touch)
	return nil
}

// touchIndex returns what a change does to the index entry of an item, and reports whether that changes what the index shows.
func touchIndex(ix *catalogue.Index, c *txn.Change, old, now attr.Item) (it IndexTouch, changed bool, err error) {
	was, _, err := ix.EntryKey(expr.Item(old), c.Key)
	if err != nil {
		return it, false, err
	}
	is, _, err := ix.EntryKey(expr.Item(now), c.Key)
	if err != nil || was == nil && is == nil {
		return it, false, err
	}
	it = IndexTouch{Index: ix.Spec.Name, Local: ix.Spec.Local}
	var before, after attr.Item
	if was != nil {
		before = ix.Project(c.Table, old)
		it.Old = attr.Size(before)
	}
	if is != nil {
		after = ix.Project(c.Table, now)
		it.New = attr.Size(after)
	}
	it.Moved = was != nil && is != nil && !bytes.Equal(was, is)
	return it, it.Moved || was == nil || is == nil || !attr.Equal(attr.M(before), attr.M(after)), nil
}

// OnAbsent sets a function to be called for what later calls did not find, or may not have found, in tables that send (TableSpec.Sends):
// with the key of each item that Get, GetItem, BatchGet, TransactGet or the condition of a write found absent, and with the partition key
// alone for each partition that a Query of the table itself read: a row may be missing among those that it found. nil: none. It is not
// called for queries of indexes, nor for scans. fn must not call the transaction.
//
// Example: a node that does not find a game asks the cloud for exactly the rows that were looked for before it says that there is none.
func (tx *Tx) OnAbsent(fn func(table string, key attr.Item)) { tx.absent = fn }

// noteAbsent reports an item that was looked for and is not there.
func (tx *Tx) noteAbsent(t *catalogue.Table, key []byte) error {
	if tx.absent == nil || !t.Sends {
		return nil
	}
	k, err := t.KeyItem(key)
	if err == nil {
		tx.absent(t.Spec.Name, k)
	}
	return err
}

// noteMissing reports the item of a condition that failed, if there is none.
func (tx *Tx) noteMissing(t *catalogue.Table, key []byte, was format.Row) error {
	if was != nil {
		return nil
	}
	return tx.noteAbsent(t, key)
}

// notePartition reports a partition that a query of a table reads.
func (tx *Tx) notePartition(t *catalogue.Table, partition attr.Value) {
	if tx.absent != nil && t.Sends {
		tx.absent(t.Spec.Name, attr.Item{t.Spec.Key.Partition.Name: partition})
	}
}

// OnJudged sets a function to be called with the key of each item whose present state decides what later writes do or return: an item
// with a condition, one that is updated, or one whose images are returned. nil: none. fn must not call the transaction.
func (tx *Tx) OnJudged(fn func(table string, key attr.Item)) { tx.onJudged = fn }

// noteJudged reports an item whose state decides about a write.
func (tx *Tx) noteJudged(t *catalogue.Table, key []byte) error {
	if tx.onJudged == nil {
		return nil
	}
	k, err := t.KeyItem(key)
	if err == nil {
		tx.onJudged(t.Spec.Name, k)
	}
	return err
}

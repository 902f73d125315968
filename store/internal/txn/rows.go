package txn

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Row fetches a row, or nil if there is none.
func (tx *Tx) Row(t *catalogue.Table, key []byte) (format.Row, error) {
	bucket, err := tx.Bucket(t.Bucket)
	if err != nil {
		return nil, err
	}
	v := bucket.Get(key)
	if v == nil {
		return nil, nil
	}
	return tx.RowOf(t, key, v)
}

// moveEntry changes the index entry of an item from that of old to that of now. Equal entries are left alone. While the index is being
// filled, the old entry may not exist yet; then nothing is removed and nothing recorded for undo.
func (tx *Tx) moveEntry(ix *catalogue.Index, primary []byte, old, now expr.Doc) error {
	was, wasSplit, err := ix.EntryKey(old, primary)
	if err != nil {
		return err
	}
	is, split, err := ix.EntryKey(now, primary)
	if err != nil {
		return err
	}
	if bytes.Equal(was, is) {
		return nil
	}
	bucket, err := tx.Bucket(ix.Bucket)
	if err != nil {
		return err
	}
	if was != nil && (ix.Fill == nil || bucket.Get(was) != nil) {
		if err := tx.Batch.remove(bucket, was, catalogue.EntryValue(wasSplit)); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.IndexRemoved)
	if is == nil {
		return nil
	}
	return tx.Batch.Set(bucket, is, catalogue.EntryValue(split), nil)
}

// ItemOf fetches the row that an index entry refers to.
func (tx *Tx) ItemOf(t *catalogue.Table, ix *catalogue.Index, base *bolt.Bucket, key, value []byte) (format.Row, error) {
	primary, err := ix.PrimaryOf(key, value)
	if err != nil {
		return nil, err
	}
	v := base.Get(primary)
	if v == nil {
		return nil, refusal.DamagedData(nil, "an entry of index %s has no item", ix.Spec.Name)
	}
	return tx.RowOf(t, primary, v)
}

// Change is one write, judged and checked.
type Change struct {
	Table   *catalogue.Table
	Key     []byte
	Old     format.Row
	Now     format.Row // has no sequence yet; nil: delete
	Op      format.Op
	Request format.Request
}

// Changes reports whether there is anything to do. A condition alone changes nothing, and neither does a write that finds no item and
// leaves none.
func (c *Change) Changes() bool { return c.Op != 0 && (c.Old != nil || c.Now != nil) }

// Apply makes a change: the journal record, the row, the index entries. After an error the transaction cannot be committed, because any of
// these may have been written.
func (tx *Tx) Apply(c Change) error { return tx.BreakOff(tx.applySteps(c)) }

func (tx *Tx) applySteps(c Change) error {
	bucket, err := tx.Bucket(c.Table.Bucket)
	if err != nil {
		return err
	}
	seq, err := tx.log(c)
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.ApplyLogged)
	if c.Now == nil {
		err = tx.Batch.remove(bucket, c.Key, c.Old)
	} else {
		c.Now.Seal(c.Key, seq)
		err = tx.Batch.Set(bucket, c.Key, c.Now, c.Old)
	}
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.ApplyRow)
	for _, ix := range c.Table.Indexes {
		if err := tx.moveEntry(ix, c.Key, c.Old.Doc(), c.Now.Doc()); err != nil {
			return err
		}
	}
	return nil
}

// log writes the journal record of a change.
func (tx *Tx) log(c Change) (seq uint64, err error) {
	j := &tx.Batch.Journal
	seq = j.Last + 1
	if tx.First == 0 {
		tx.First = seq
	}
	r := format.StoredRecord{
		Op: c.Op, At: tx.now.UnixNano(), Txn: seq - tx.First, Table: c.Table.ID, Key: c.Key,
		Origin: tx.Origin, Request: c.Request,
	}
	if c.Now != nil {
		r.Now = c.Now.Item()
	}
	if c.Old != nil {
		if prev := c.Old.Seq(); prev >= j.First {
			r.Prev = prev
		} else {
			r.Old = c.Old.Item()
		}
	}
	bucket, err := tx.Bucket(format.BucketJournal)
	if err != nil {
		return 0, err
	}
	bucket.FillPercent = format.JournalFill
	encoded := r.Encode()
	if err := tx.Batch.Set(bucket, format.SeqKey(seq), encoded, nil); err != nil {
		return 0, err
	}
	j.Last = seq
	j.Bytes += uint64(len(encoded))
	tx.Batch.records++
	switch {
	case c.Op == format.OpDelete:
	case tx.Origin == OriginCloud:
		tx.Batch.side.adopted += max(0, len(encoded)+len(c.Now)-len(c.Old))
	default:
		tx.Batch.Grows = true
	}
	return seq, nil
}

// RowOf returns a value from the table's bucket as a row. It refuses a row that is not what was written, and counts the refusal.
func (tx *Tx) RowOf(t *catalogue.Table, key, value []byte) (format.Row, error) {
	r := format.Row(value)
	if err := tx.DB.Intact.Check(r, key); err != nil {
		tx.DB.Refused.Add(1)
		return nil, fault.Wrap(err, fault.Damaged, "row_damaged",
			"an item of table %s was refused: it differs from what was written to disk", t.Spec.Name)
	}
	return r, nil
}

package txn

import (
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/format"
)

// Journal is Store.Journal within a transaction. It also sees the transaction's own records.
func (tx *Tx) Journal(after uint64, limit int) ([]format.Record, error) {
	if err := tx.BeginCall(); err != nil {
		return nil, err
	}
	defer tx.EndCall()
	bucket, err := tx.Bucket(format.BucketJournal)
	if err != nil {
		return nil, err
	}
	from := max(after+1, tx.JournalState().First) // lower ones are kept only for their image
	c := bucket.Cursor()
	var out []format.Record
	for k, v := c.Seek(format.SeqKey(from)); k != nil && len(out) < limit; k, v = c.Next() {
		r, err := tx.Record(bucket, k, v)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// JournalState returns the state of the journal in this transaction.
func (tx *Tx) JournalState() format.JournalState {
	if tx.Batch != nil {
		return tx.Batch.Journal
	}
	j, _ := format.DecodeJournalState(tx.Btx.Bucket(format.BucketMeta).Get(format.MetaJournal))
	return j
}

// Record decodes a record and its images.
func (tx *Tx) Record(bucket *bolt.Bucket, k, v []byte) (format.Record, error) {
	st, err := format.DecodeRecord(v)
	if err != nil {
		return format.Record{}, err
	}
	seq := binary.BigEndian.Uint64(k)
	t, err := tx.tableOf(st.Table)
	if err != nil {
		return format.Record{}, err
	}
	r := format.Record{
		Seq: seq, Txn: seq - st.Txn, At: time.Unix(0, st.At).UTC(), Table: t.Spec.Name,
		Op: st.Op, Origin: st.Origin, Request: st.Request,
	}
	if r.Key, err = t.KeyItem(st.Key); err != nil {
		return format.Record{}, err
	}
	old, err := format.OldImage(bucket, &st)
	if err != nil {
		return format.Record{}, err
	}
	if old != nil {
		if r.Old, err = format.DecodeItem(old); err != nil {
			return format.Record{}, err
		}
	}
	if st.Now != nil {
		r.New, err = format.DecodeItem(st.Now)
	}
	return r, err
}

package store

import (
	"context"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
)

// journalFill packs the pages of a bucket that only grows at its end.
const journalFill = 0.9

// Journal reads up to limit records behind the given sequence, in order; none: there are no later ones yet. Records
// that were trimmed are left out: a reader that must miss none registers a cursor.
//
// Both images of a record can be large: a small limit and more calls keep memory small.
func (s *Store) Journal(ctx context.Context, after uint64, limit int) (out []Record, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		out, err = tx.Journal(after, limit)
		return err
	})
	return out, err
}

// Journal is Store.Journal within a transaction: it sees the transaction's own records too.
func (tx *Tx) Journal(after uint64, limit int) ([]Record, error) {
	if err := tx.enter(); err != nil {
		return nil, err
	}
	defer tx.leave()
	bucket, err := tx.bucket(bucketJournal)
	if err != nil {
		return nil, err
	}
	from := max(after+1, tx.journalState().first) // below lie records that were kept for their image
	c := bucket.Cursor()
	var out []Record
	for k, v := c.Seek(seqKey(from)); k != nil && len(out) < limit; k, v = c.Next() {
		r, err := tx.record(bucket, k, v)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// journalState is where the journal stands for this transaction.
func (tx *Tx) journalState() journalState {
	if tx.batch != nil {
		return tx.batch.journal
	}
	j, _ := decodeJournalState(tx.btx.Bucket(bucketMeta).Get(metaJournal))
	return j
}

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), seq) }

// record returns a record with its images.
func (tx *Tx) record(bucket *bolt.Bucket, k, v []byte) (Record, error) {
	st, err := decodeRecord(v)
	if err != nil {
		return Record{}, err
	}
	seq := binary.BigEndian.Uint64(k)
	t, err := tx.tableOf(st.table)
	if err != nil {
		return Record{}, err
	}
	r := Record{
		Seq: seq, Txn: seq - st.txn, At: time.Unix(0, st.at).UTC(), Table: t.spec.Name,
		Op: st.op, Origin: st.origin, Request: st.request,
	}
	if r.Key, err = t.keyItem(st.key); err != nil {
		return Record{}, err
	}
	old, err := oldImage(bucket, &st)
	if err != nil {
		return Record{}, err
	}
	if old != nil {
		if r.Old, err = decodeItem(old); err != nil {
			return Record{}, err
		}
	}
	if st.now != nil {
		r.New, err = decodeItem(st.now)
	}
	return r, err
}

// oldImage finds the image before a record.
func oldImage(bucket *bolt.Bucket, r *storedRecord) ([]byte, error) {
	if r.prev == 0 {
		return r.old, nil
	}
	prev, err := decodeRecord(bucket.Get(seqKey(r.prev)))
	if err != nil {
		return nil, err
	}
	if prev.now == nil {
		return nil, damaged(nil, "journal record %d has no image", r.prev)
	}
	return prev.now, nil
}

// change is one write, decided and checked.
type change struct {
	table   *table
	key     []byte
	old     row
	now     row // with no sequence yet; nil: delete
	op      Op
	request Request
}

// changes reports whether there is something to do: a condition alone changes nothing, nor does what finds no item and
// leaves none.
func (c *change) changes() bool { return c.op != opCheck && (c.old != nil || c.now != nil) }

// apply makes a change: the journal record, the row, the index entries. From the first of these on, an error means
// that the transaction cannot be committed.
func (tx *Tx) apply(c change) error { return tx.breakOff(tx.applySteps(c)) }

func (tx *Tx) applySteps(c change) error {
	bucket, err := tx.bucket(c.table.bucket)
	if err != nil {
		return err
	}
	seq, err := tx.log(c)
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.ApplyLogged)
	if c.now == nil {
		err = tx.batch.remove(bucket, c.key, c.old)
	} else {
		c.now.seal(c.key, seq)
		err = tx.batch.set(bucket, c.key, c.now, c.old)
	}
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.ApplyRow)
	for _, ix := range c.table.indexes {
		if err := ix.move(tx, c.key, c.old.doc(), c.now.doc()); err != nil {
			return err
		}
	}
	return nil
}

// log writes the journal record of a change.
func (tx *Tx) log(c change) (seq uint64, err error) {
	j := &tx.batch.journal
	seq = j.last + 1
	if tx.first == 0 {
		tx.first = seq
	}
	r := storedRecord{
		op: c.op, at: tx.now.UnixNano(), txn: seq - tx.first, table: c.table.id, key: c.key,
		origin: tx.origin, request: c.request,
	}
	if c.now != nil {
		r.now = c.now.item()
	}
	if c.old != nil {
		if prev := c.old.seq(); prev >= j.first {
			r.prev = prev
		} else {
			r.old = c.old.item()
		}
	}
	bucket, err := tx.bucket(bucketJournal)
	if err != nil {
		return 0, err
	}
	bucket.FillPercent = journalFill
	encoded := r.encode()
	if err := tx.batch.set(bucket, seqKey(seq), encoded, nil); err != nil {
		return 0, err
	}
	j.last = seq
	j.bytes += uint64(len(encoded))
	tx.batch.records++
	switch {
	case c.op == OpDelete:
	case tx.origin == OriginCloud:
		tx.batch.side.adopted += max(0, len(encoded)+len(c.now)-len(c.old))
	default:
		tx.batch.grows = true
	}
	return seq, nil
}

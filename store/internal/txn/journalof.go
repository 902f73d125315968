package txn

import (
	"cmp"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
)

// The defaults for a page of JournalOf. Examining 10,000 records takes about a millisecond.
const (
	defaultLook  = 10_000
	defaultLimit = 1000
	defaultBytes = 1 << 20
)

// JournalQuery requests the records of one table.
type JournalQuery struct {
	TableID string // see TableDescription.ID; the table may have been dropped
	After   uint64
	Through uint64 // the last sequence requested; 0: up to the end of the journal
	Limit   int    // records to return; 0: 1000
	Bytes   int    // the page ends with the record that brings the bytes of its records in the file to this; 0: 1 MiB
	Look    int    // records of any table to examine; 0: 10,000
}

// JournalPage is the result of JournalOf.
type JournalPage struct {
	Records []format.Record
	Came    uint64 // After for the next page: all records of the table up to here are in this page or earlier ones
	First   uint64 // the first sequence not trimmed: if it is above After+1, the records in between are gone
	Last    uint64 // the last sequence shown: the journal, or the query, ends when Came reaches it, or Through
}

// JournalOf is Store.JournalOf within a transaction. It also sees the transaction's own records. In a View it shows no record later than
// the state that StreamsOf sees, so the end of a stream is never missed.
func (tx *Tx) JournalOf(q JournalQuery) (JournalPage, error) {
	if err := tx.BeginCall(); err != nil {
		return JournalPage{}, err
	}
	defer tx.EndCall()
	t := tx.Cat.ByUUID(q.TableID)
	if t == nil {
		return JournalPage{}, catalogue.NoTable(q.TableID)
	}
	bucket, err := tx.Bucket(format.BucketJournal)
	if err != nil {
		return JournalPage{}, err
	}
	j := tx.JournalState()
	if tx.Reader != nil {
		j.Last = min(j.Last, tx.upTo)
	}
	page := JournalPage{First: j.First, Last: j.Last, Came: q.After}
	if q.Through == 0 || q.Through > j.Last {
		q.Through = j.Last
	}
	if q.After >= q.Through {
		return page, nil
	}
	err = tx.readTable(bucket, t, q, &page)
	return page, err
}

// readTable fills a page.
func (tx *Tx) readTable(bucket *bolt.Bucket, t *catalogue.Table, q JournalQuery, page *JournalPage) error {
	look, limit, room := cmp.Or(q.Look, defaultLook), cmp.Or(q.Limit, defaultLimit), cmp.Or(q.Bytes, defaultBytes)
	c := bucket.Cursor()
	for k, v := c.Seek(format.SeqKey(max(q.After+1, page.First))); k != nil; k, v = c.Next() {
		seq := binary.BigEndian.Uint64(k)
		if seq > q.Through {
			break
		}
		if look == 0 || limit == 0 || room <= 0 {
			return nil
		}
		look--
		id, err := format.TableOfRecord(v)
		if err != nil {
			return err
		}
		if id == t.ID {
			r, err := tx.Record(bucket, k, v)
			if err != nil {
				return err
			}
			page.Records = append(page.Records, r)
			limit--
			room -= len(v)
		}
		page.Came = seq
	}
	page.Came = q.Through
	return nil
}

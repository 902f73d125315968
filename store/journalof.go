package store

import (
	"context"
	"encoding/binary"
	"sort"
	"time"

	bolt "go.etcd.io/bbolt"
)

// defaultLook is how many records JournalOf looks at: about a millisecond.
const defaultLook = 10_000

// JournalQuery asks for the records of one table.
type JournalQuery struct {
	TableID string // see TableDescription.ID; the table may have been dropped
	After   uint64
	Through uint64 // the last sequence that is asked for; 0: as far as the journal goes
	Limit   int    // records given; 0: 1000
	Bytes   int    // the page ends with the record whose encoded images pass this; 0: 1 MiB
	Look    int    // records of any table that are looked at; 0: 10,000
}

// JournalPage is what JournalOf found.
type JournalPage struct {
	Records []Record
	Came    uint64 // After of the next page. Records of the table up to here are in this page or the ones before
	First   uint64 // the first sequence that is not trimmed: above After+1 what lay between is gone
	Last    uint64 // the last sequence that is shown: at Came == Last, or Through, there is no more
}

// JournalOf reads records of one table behind a sequence, in order. It does not decode what belongs to others, and looks
// at a bounded number of them: a page may be empty and the next one not. A table that nobody remembers is fault.NotFound.
func (s *Store) JournalOf(ctx context.Context, q JournalQuery) (page JournalPage, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		page, err = tx.JournalOf(q)
		return err
	})
	return page, err
}

// JournalOf is Store.JournalOf within a transaction: it sees the transaction's own records too. In a View it shows no
// record behind what Streams knows of, so that the end of a stream is never missed.
func (tx *Tx) JournalOf(q JournalQuery) (JournalPage, error) {
	if err := tx.enter(); err != nil {
		return JournalPage{}, err
	}
	defer tx.leave()
	t := tx.cat.byUUID(q.TableID)
	if t == nil {
		return JournalPage{}, errNoTable(q.TableID)
	}
	bucket, err := tx.bucket(bucketJournal)
	if err != nil {
		return JournalPage{}, err
	}
	j := tx.journalState()
	if tx.reader != nil {
		j.last = min(j.last, tx.upTo)
	}
	page := JournalPage{First: j.first, Last: j.last, Came: q.After}
	if q.Through == 0 || q.Through > j.last {
		q.Through = j.last
	}
	if q.After >= q.Through {
		return page, nil
	}
	err = tx.readTable(bucket, t, q, &page)
	return page, err
}

// JournalAt returns the sequence behind which the records lie that were made at an instant or later: an After for
// JournalOf. If the clock was set back in between, it is one of the places at which the instant is passed.
func (s *Store) JournalAt(ctx context.Context, at time.Time) (after uint64, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		if err := tx.enter(); err != nil {
			return err
		}
		defer tx.leave()
		bucket, err := tx.bucket(bucketJournal)
		if err != nil {
			return err
		}
		j := tx.journalState()
		n := sort.Search(int(j.last+1-j.first), func(i int) bool {
			k, v := bucket.Cursor().Seek(seqKey(j.first + uint64(i)))
			switch {
			case k == nil:
				return true
			case len(v) < recordHeader:
				err = damaged(errRecord, "journal")
				return true
			}
			return int64(binary.BigEndian.Uint64(v[recordAt:])) >= at.UnixNano()
		})
		after = j.first + uint64(n) - 1
		return err
	})
	return after, err
}

// readTable fills a page.
func (tx *Tx) readTable(bucket *bolt.Bucket, t *table, q JournalQuery, page *JournalPage) error {
	look, limit, room := orElse(q.Look, defaultLook), orElse(q.Limit, 1000), orElse(q.Bytes, maxPage)
	c := bucket.Cursor()
	for k, v := c.Seek(seqKey(max(q.After+1, page.First))); k != nil; k, v = c.Next() {
		seq := binary.BigEndian.Uint64(k)
		if seq > q.Through {
			break
		}
		if look == 0 || limit == 0 || room <= 0 {
			return nil
		}
		look--
		id, err := tableOfRecord(v)
		if err != nil {
			return err
		}
		if id == t.id {
			r, err := tx.record(bucket, k, v)
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

// byUUID finds a table by the id that is shown, dropped or not.
func (c *catalogue) byUUID(id string) *table {
	for _, t := range c.byID {
		if t.uuid == id && id != "" {
			return t
		}
	}
	return nil
}

package store

import (
	"context"
	"encoding/binary"
	"sort"
	"time"

	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Journal reads up to limit records after the given sequence, in order. It returns none if there are no later ones yet. Trimmed records
// are left out: a reader that must not miss any registers a cursor.
//
// Both images of a record can be large: use a small limit and more calls to save memory.
func (s *Store) Journal(ctx context.Context, after uint64, limit int) (out []Record, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		out, err = tx.core.Journal(after, limit)
		return err
	})
	return out, err
}

// JournalOf reads records of one table after a sequence, in order. It does not decode records of other tables and looks at a bounded
// number of them, so a page may be empty while the next one is not. A table that is unknown and has no stream left is fault.NotFound.
func (s *Store) JournalOf(ctx context.Context, q JournalQuery) (page JournalPage, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		page, err = tx.core.JournalOf(q)
		return err
	})
	return page, err
}

// JournalAt returns the sequence after which the records made at or after an instant begin: an After for JournalOf. If the clock was set
// back in between, it is one of the places where the records cross the instant.
func (s *Store) JournalAt(ctx context.Context, at time.Time) (after uint64, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		if err := tx.core.BeginCall(); err != nil {
			return err
		}
		defer tx.core.EndCall()
		bucket, err := tx.core.Bucket(format.BucketJournal)
		if err != nil {
			return err
		}
		j := tx.core.JournalState()
		n := sort.Search(int(j.Last+1-j.First), func(i int) bool {
			k, v := bucket.Cursor().Seek(format.SeqKey(j.First + uint64(i)))
			switch {
			case k == nil:
				return true
			case len(v) < format.RecordHeader:
				err = refusal.DamagedData(format.ErrRecord, "journal")
				return true
			}
			return int64(binary.BigEndian.Uint64(v[format.RecordAt:])) >= at.UnixNano()
		})
		after = j.First + uint64(n) - 1
		return err
	})
	return after, err
}

// Cursor returns the journal position of the named reader; ok is false if it is not registered.
func (tx *Tx) Cursor(name string) (seq uint64, ok bool, err error) { return tx.core.Cursor(name) }

// SetCursor registers a reader of the journal or moves its cursor: records up to seq may be trimmed, later ones are kept. If it is called
// in the transaction that does the reader's work, the work happens exactly once.
func (tx *Tx) SetCursor(name string, seq uint64) error { return tx.core.SetCursor(name, seq) }

// Journal is Store.Journal within a transaction. It also sees the transaction's own records.
func (tx *Tx) Journal(after uint64, limit int) ([]Record, error) {
	return tx.core.Journal(after, limit)
}

// JournalOf is Store.JournalOf within a transaction. It also sees the transaction's own records. In a View it shows no record later than
// the state that StreamsOf sees, so the end of a stream is never missed.
func (tx *Tx) JournalOf(q JournalQuery) (JournalPage, error) { return tx.core.JournalOf(q) }

// StreamsBehind lists up to limit streams that follow the stream with the given table and label, ordered by table name and then by age,
// and reports whether there are more. It lists open streams, and those that ended less than StreamAge ago, including those that ended
// because their table was dropped. The cost depends only on the streams returned.
func (s *Store) StreamsBehind(table, label string, limit int) (streams []TableStream, more bool) {
	c, now := s.engine.Cat.Load(), s.engine.Opts.Now()
	for i := c.FirstStreaming(table); i < len(c.Streaming); {
		name := c.Streaming[i].Spec.Name
		for _, st := range c.StreamsOf(name, now) {
			switch {
			case name == table && st.Label <= label:
			case len(streams) == limit:
				return streams, true
			default:
				streams = append(streams, st)
			}
		}
		for i < len(c.Streaming) && c.Streaming[i].Spec.Name == name {
			i++
		}
	}
	return streams, false
}

// StreamsOf lists the streams of all tables that have had the given name, oldest first.
func (s *Store) StreamsOf(table string) []TableStream {
	return s.engine.Cat.Load().StreamsOf(table, s.engine.Opts.Now())
}

// StreamsOf is Store.StreamsOf within a transaction: JournalOf in the same transaction shows no later record. It returns an error if the
// transaction has ended.
func (tx *Tx) StreamsOf(table string) ([]TableStream, error) {
	if err := tx.core.BeginCall(); err != nil {
		return nil, err
	}
	defer tx.core.EndCall()
	return tx.core.Cat.StreamsOf(table, tx.core.Now()), nil
}

package node

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// A consumer that fails at one record for ever would leave all later ones undone. So a batch that fails several times is taken record by
// record, and a record that keeps failing by itself is left out: it is written down in the store with the consumer's position, named on the
// Status page, and tried again from time to time with the row as it is then. What fails for want of room, or of the cloud, is not left out.
const (
	skipAfter   = 3                // failures in a row after which a batch is taken apart, or a single record is left out
	skipAgain   = 10 * time.Second // until the first new try of what was left out; doubles with each further one
	skipLast    = time.Hour        // longest time between two tries
	maxSkipped  = 1000             // records that a consumer remembers
	skippedSide = "node/skipped-records"
)

// skippedRecord is a journal record that a consumer could not handle. Without a table it stands for the whole state.
type skippedRecord struct {
	Table string    `json:"table,omitempty"`
	Key   attr.Item `json:"key,omitempty"`
	Why   string    `json:"why"`
	Since time.Time `json:"since"`
}

// skipped holds a consumer's skipped records, by their key in the store.
type skipped struct {
	mu      sync.Mutex
	records map[string]skippedRecord
	tryAt   time.Time // when they are tried again
	pause   time.Duration
}

// isLasting reports whether an error of a consumer is about the record, so that waiting does not help.
func (c *consumer) isLasting(err error) bool {
	switch fault.KindOf(err) { //nolint:exhaustive // the others are about the record
	case fault.Unavailable, fault.Full, fault.Throttled, fault.Locked:
		return false
	}
	return c.node.store.Err() == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// gaveUp reports whether a batch that failed with err has failed often enough to be taken apart.
func (c *consumer) gaveUp(err error) bool { return c.isLasting(err) && c.failed.Load()+1 >= skipAfter }

// place returns the key of a skipped record in the store.
func (c *consumer) place(of *skippedRecord) string {
	sum := sha256.Sum256(append([]byte(of.Table+"\x00"), attr.AppendJSON(nil, of.Key)...))
	return c.cursor + "\x00" + string(sum[:])
}

// skip leaves out a record and moves the consumer's position to upTo.
func (c *consumer) skip(ctx context.Context, r skippedRecord, upTo uint64, why error) error {
	r.Why = why.Error()
	place := c.place(&r)
	err := c.node.store.Update(ctx, func(tx *store.Tx) error {
		r.Since = tx.Now()
		value, err := json.Marshal(r)
		if err == nil && c.remember(place, r) {
			err = tx.Side(skippedSide).Set([]byte(place), value)
		}
		return cmp.Or(err, tx.SetCursor(c.cursor, upTo))
	})
	if err != nil {
		return err
	}
	c.at.Store(upTo)
	c.kept = upTo
	c.node.parts.Log.Error("a journal consumer left out a record that it cannot handle; the Status page names it", "consumer", c.cursor, "table", r.Table, "err", why)
	return nil
}

// remember adds a skipped record in memory; it returns false if there are too many.
func (c *consumer) remember(place string, r skippedRecord) bool {
	s := &c.skips
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.records[place]; !known && len(s.records) >= maxSkipped {
		return false
	}
	if s.records == nil {
		s.records = map[string]skippedRecord{}
	}
	s.records[place] = r
	if s.tryAt.IsZero() {
		s.pause = skipAgain
		s.tryAt = c.node.parts.Clock.Now().Add(s.pause)
	}
	return true
}

// loadSkipped reads the skipped records after a start.
func (c *consumer) loadSkipped(tx *store.Tx) error {
	return tx.Side(skippedSide).Each([]byte(c.cursor+"\x00"), nil, func(key, value []byte) (bool, error) {
		var r skippedRecord
		if err := json.Unmarshal(value, &r); err != nil {
			r = skippedRecord{Why: "what was noted of this record cannot be read"}
		}
		c.remember(string(key), r)
		return true, nil
	})
}

// nextTry returns when skipped records are tried again; zero if there are none.
func (c *consumer) nextTry() time.Time {
	c.skips.mu.Lock()
	defer c.skips.mu.Unlock()
	return c.skips.tryAt
}

// skippedRecords returns the skipped records.
func (c *consumer) skippedRecords() []skippedRecord {
	c.skips.mu.Lock()
	defer c.skips.mu.Unlock()
	return slices.Collect(maps.Values(c.skips.records))
}

// trySkipped tries skipped records again, if it is time.
func (c *consumer) trySkipped(ctx context.Context) error {
	s := &c.skips
	now := c.node.parts.Clock.Now()
	s.mu.Lock()
	due := !s.tryAt.IsZero() && !now.Before(s.tryAt)
	all := maps.Clone(s.records)
	s.mu.Unlock()
	if !due {
		return nil
	}
	for _, place := range slices.Sorted(maps.Keys(all)) {
		r := all[place]
		if err := c.trySkippedOne(ctx, place, &r); err != nil && !c.isLasting(err) {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pause = min(2*s.pause, skipLast)
	s.tryAt = now.Add(s.pause)
	if len(s.records) == 0 {
		s.tryAt = time.Time{}
	}
	return nil
}

// trySkippedOne hands a skipped record to the consumer again, with the row as it is now, and forgets it if that succeeds.
func (c *consumer) trySkippedOne(ctx context.Context, place string, r *skippedRecord) error {
	for more := true; more; {
		err := c.node.store.Update(ctx, func(tx *store.Tx) error {
			before := tx.Seq()
			err := c.takeSkipped(tx, r)
			more = errors.Is(err, table.ErrMore) && tx.Seq() > before
			if more {
				return nil
			}
			if err != nil {
				return err
			}
			return tx.Side(skippedSide).Delete([]byte(place))
		})
		if err != nil {
			return err
		}
	}
	c.skips.mu.Lock()
	defer c.skips.mu.Unlock()
	delete(c.skips.records, place)
	return nil
}

func (c *consumer) takeSkipped(tx *store.Tx, r *skippedRecord) error {
	if r.Table == "" {
		return c.Anew(tx)
	}
	row, err := tx.Get(r.Table, r.Key)
	if err != nil {
		return err
	}
	again := store.Record{Seq: tx.Seq(), At: tx.Now(), Table: r.Table, Op: store.OpPut, Key: r.Key, New: row}
	if row == nil {
		again.Op = store.OpDelete
	}
	return c.Take(tx, []store.Record{again})
}

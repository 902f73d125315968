package conflict

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// SideConflicts is the side bucket of the conflict log:
//
//	"c" + ^id     record: version, state, JSON. The complement sorts the newest first
//	"o" + id      of an open record: its instant and size, oldest first
//	"q" + id      the same for an open quarantine
//	"d" + id      the same for a record that is not open
//	"s" + seq+id  by the sequence of each of its entries; outlives the record, to show that they were refused
//	"x" + id      of a removed record: when it was removed, and those sequences
//	"t"           the sums
const SideConflicts = "conflicts"

const (
	conflictVersion = 1
	conflictAge     = 30 * 24 * time.Hour
	conflictBytes   = 64 << 20
	conflictMost    = 1 << 20 // per record: the images go first
	conflictTrim    = 64      // records removed in one transaction
	conflictTraces  = 50_000  // removed records of which only the fact is remembered
)

// logSums counts the log's contents.
type logSums struct {
	Next        uint64 `json:"next"` // id of the latest record
	Open        int    `json:"open"` // without quarantines
	Quarantined int    `json:"quarantined"`
	Kept        int    `json:"kept"`
	Bytes       int64  `json:"bytes"`
	OpenBytes   int64  `json:"openBytes"`
	Traces      int    `json:"traces"` // of removed records
}

// LogTx is the log within one transaction.
type LogTx struct {
	tx   *store.Tx
	side store.Side
	Sums logSums
	Max  int64
}

// Open reads the log within a transaction. Changes are stored by Save.
func Open(tx *store.Tx) (*LogTx, error) {
	l := &LogTx{tx: tx, side: tx.Side(SideConflicts), Max: conflictBytes}
	raw, err := l.side.Get([]byte("t"))
	if err != nil || raw == nil {
		return l, err
	}
	if err := json.Unmarshal(raw, &l.Sums); err != nil {
		return nil, fault.Wrap(err, fault.Damaged, "damaged", "the totals of the conflict log cannot be read")
	}
	return l, nil
}

// Save writes the counters. It must be the last call on a log that was changed.
func (l *LogTx) Save() error {
	raw, err := json.Marshal(l.Sums)
	if err != nil {
		return fmt.Errorf("conflict log: %w", err)
	}
	return l.side.Set([]byte("t"), raw)
}

func conflictKey(prefix byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefix}, n)
}

func conflictSeqKey(seq, id uint64) []byte {
	return binary.BigEndian.AppendUint64(conflictKey('s', seq), id)
}

// indexKey returns the record's key in the order of age.
func (c *Record) indexKey() []byte {
	switch {
	case c.State != StateOpen:
		return conflictKey('d', c.ID)
	case c.Kind == KindQuarantine:
		return conflictKey('q', c.ID)
	default:
		return conflictKey('o', c.ID)
	}
}

// Add numbers a record and stores it.
func (l *LogTx) Add(c *Record) error {
	l.Sums.Next++
	c.ID = l.Sums.Next
	if err := l.put(c); err != nil {
		return err
	}
	for _, seq := range c.seqs() {
		if err := l.side.Set(conflictSeqKey(seq, c.ID), []byte{1}); err != nil {
			return err
		}
	}
	return nil
}

// seqs returns the sequences of the record's entries and of those folded into them.
func (c *Record) seqs() (out []uint64) {
	for _, e := range c.Entries() {
		out = append(append(out, e.Seq), e.Folds...)
	}
	return out
}

// put stores a new record and counts it.
func (l *LogTx) put(c *Record) error {
	raw, err := Encode(c)
	if err != nil {
		return err
	}
	if err := l.side.Set(conflictKey('c', ^c.ID), raw); err != nil {
		return err
	}
	mark := binary.BigEndian.AppendUint64(nil, uint64(c.At.UnixMilli()))
	mark = binary.BigEndian.AppendUint64(mark, uint64(len(raw)))
	if err := l.side.Set(c.indexKey(), mark); err != nil {
		return err
	}
	l.count(c, int64(len(raw)), 1)
	return nil
}

func (l *LogTx) count(c *Record, size int64, n int) {
	l.Sums.Kept += n
	l.Sums.Bytes += size * int64(n)
	if c.State != StateOpen {
		return
	}
	l.Sums.OpenBytes += size * int64(n)
	if c.Kind == KindQuarantine {
		l.Sums.Quarantined += n
	} else {
		l.Sums.Open += n
	}
}

// Get reads a record; nil: none of this number.
func (l *LogTx) Get(id uint64) (*Record, error) {
	raw, err := l.side.Get(conflictKey('c', ^id))
	if err != nil || raw == nil {
		return nil, err
	}
	return decode(raw)
}

// Change replaces an existing record.
func (l *LogTx) Change(c *Record) error {
	old, err := l.removeRecord(c.ID)
	if err != nil || old == nil {
		return err
	}
	return l.put(c)
}

// removeRecord removes a record and its counts, but not its index by entries; nil: no such record.
func (l *LogTx) removeRecord(id uint64) (*Record, error) {
	raw, err := l.side.Get(conflictKey('c', ^id))
	if err != nil || raw == nil {
		return nil, err
	}
	old, err := decode(raw)
	if err != nil {
		return nil, err
	}
	l.count(old, int64(len(raw)), -1)
	if err := l.side.Delete(conflictKey('c', ^id)); err != nil {
		return nil, err
	}
	return old, l.side.Delete(old.indexKey())
}

// OpenShare returns the part of the log's room that open records use, from 0 to 1. They are never dropped: when the room is nearly full
// the node refuses writes, because each could become another conflict.
func (l *LogTx) OpenShare() float64 { return float64(l.Sums.OpenBytes) / float64(l.Max) }

// Trim removes decided records that are too old, and the oldest decided ones while the log is too large. more reports whether
// something is left to remove.
func (l *LogTx) Trim(now time.Time) (more bool, err error) {
	var gone []uint64
	excess := l.Sums.Bytes - l.Max
	err = l.side.Each([]byte{'d'}, nil, func(k, v []byte) (bool, error) {
		if len(k) != 9 || len(v) != 16 {
			return false, fault.New(fault.Damaged, "damaged", "an entry of the conflict log cannot be read")
		}
		if !longAgo(v, now) && excess <= 0 || len(gone) >= conflictTrim {
			return false, nil
		}
		gone = append(gone, binary.BigEndian.Uint64(k[1:]))
		excess -= int64(binary.BigEndian.Uint64(v[8:]))
		return true, nil
	})
	if err != nil {
		return false, err
	}
	more = len(gone) >= conflictTrim
	for _, id := range gone {
		if err := l.forget(id, now); err != nil {
			return false, err
		}
	}
	traces, err := l.trimTraces(now)
	return more || traces, err
}

// OfSeq returns the latest record that contains an entry; 0: none.
func (l *LogTx) OfSeq(seq uint64) (id uint64, err error) {
	err = l.side.Each(conflictKey('s', seq), nil, func(k, _ []byte) (bool, error) {
		if len(k) == 17 {
			id = binary.BigEndian.Uint64(k[9:])
		}
		return true, nil
	})
	return id, err
}

// Query selects records.
type Query struct {
	State  State  // "" and StateAny: any
	Table  string // of one of its entries; "": any
	Before uint64 // older than this one; 0: from the newest
	Limit  int    // 0: 50
}

// List returns records, newest first, and the number to continue before; 0: no more.
func (l *LogTx) List(q Query) (out []*Record, next uint64, err error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	var after []byte
	if q.Before != 0 {
		after = conflictKey('c', ^q.Before)
	}
	err = l.side.Each([]byte{'c'}, after, func(_, v []byte) (bool, error) {
		if q.State != "" && q.State != StateAny && recordState(v) != q.State {
			return true, nil
		}
		c, err := decode(v)
		if err != nil {
			return false, err
		}
		if !c.concernsTable(q.Table) {
			return true, nil
		}
		if len(out) == q.Limit {
			next = out[len(out)-1].ID
			return false, nil
		}
		out = append(out, c)
		return true, nil
	})
	return out, next, err
}

// concernsTable reports whether one of the entries is in a table.
func (c *Record) concernsTable(table string) bool {
	if table == "" {
		return true
	}
	for _, e := range c.Entries() {
		if e.Table == table {
			return true
		}
	}
	return false
}

// Due reports whether Trim has something to remove.
func (l *LogTx) Due(now time.Time) (due bool, err error) {
	if l.Sums.Bytes > l.Max && l.Sums.Bytes > l.Sums.OpenBytes || l.Sums.Traces > conflictTraces {
		return true, nil
	}
	for _, prefix := range []byte{'d', 'x'} {
		err := l.side.Each([]byte{prefix}, nil, func(_, v []byte) (bool, error) {
			due = due || longAgo(v, now)
			return false, nil
		})
		if err != nil {
			return false, err
		}
	}
	return due, nil
}

// Trim removes records that are too old, a slice at a time. It runs periodically, because no record may be added for a month.
func (d *Log) Trim(ctx context.Context) (more bool, err error) {
	now, due := d.clock.Wall(), false
	err = d.store.View(ctx, func(tx *store.Tx) error {
		l, err := Open(tx)
		if err == nil {
			due, err = l.Due(now)
		}
		return err
	})
	if err != nil || !due {
		return false, err
	}
	err = d.store.Update(ctx, func(tx *store.Tx) error {
		l, err := Open(tx)
		if err != nil {
			return err
		}
		if more, err = l.Trim(now); err != nil {
			return err
		}
		return l.Save()
	})
	return more, err
}

// FirstBetween returns the first record that contains an entry with one of these sequences; 0: none.
func (l *LogTx) FirstBetween(first, last uint64) (uint64, error) {
	for after := conflictKey('s', first); ; {
		next := uint64(0)
		err := l.side.Each([]byte{'s'}, after, func(k, _ []byte) (bool, error) {
			if len(k) == 17 && binary.BigEndian.Uint64(k[1:]) <= last {
				next, after = binary.BigEndian.Uint64(k[9:]), append([]byte(nil), k...)
			}
			return false, nil
		})
		if err != nil || next == 0 {
			return 0, err
		}
		if id, err := l.UnlessLetGo(next); err != nil || id != 0 {
			return id, err
		}
	}
}

// UnlessLetGo returns the record of a quarantine, or 0 if an operator has released its entries under their own numbers: their
// outcome is then recorded elsewhere.
func (l *LogTx) UnlessLetGo(id uint64) (uint64, error) {
	c, err := l.Get(id)
	if err == nil && c != nil && c.letGo() {
		return 0, nil
	}
	return id, err
}

// letGo reports whether an operator has released a quarantine's entries under their own numbers.
func (c *Record) letGo() bool {
	return c.Kind == KindQuarantine && c.State == StateRetried && len(c.NewSeqs) == 0
}

// unsure reports whether a late copy of one of the entries may still be applied.
func (c *Record) unsure() bool {
	for _, e := range c.Entries() {
		if e.Unsure {
			return true
		}
	}
	return false
}

// ReadStatus counts the records of a log.
func ReadStatus(tx *store.Tx) (Status, error) {
	l, err := Open(tx)
	if err != nil {
		return Status{}, err
	}
	return Status{
		Open: l.Sums.Open, Quarantined: l.Sums.Quarantined, Kept: l.Sums.Kept, Bytes: l.Sums.Bytes, MaxBytes: l.Max,
	}, nil
}

// Status counts the records of conflicts.
type Status struct {
	Open        int   `json:"open"`        // for a person to look at, without quarantines
	Quarantined int   `json:"quarantined"` // open
	Kept        int   `json:"kept"`        // all records
	Bytes       int64 `json:"bytes"`
	MaxBytes    int64 `json:"maxBytes"`
}

package replica

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// sideReplay holds the writes that the cloud has taken, by the instant at which that was known and their sequence: a
// cloud that is restored to an earlier instant is given them again.
const sideReplay = "replay"

const replaySlice = 500 // entries that one transaction trims

// replaySums are how much lies in the replay log.
type replaySums struct{ entries, bytes int64 }

func readReplaySums(tx *store.Tx) (s replaySums, err error) {
	b, err := tx.Side(sideMeta).Get([]byte("replay"))
	if err != nil || b == nil {
		return s, err
	}
	c := fields.Reader{B: b}
	s = replaySums{entries: c.Varint(), bytes: c.Varint()}
	if c.Bad {
		return s, fault.New(fault.Damaged, "replay", "the totals of the replay log cannot be read")
	}
	return s, nil
}

func (s replaySums) keep(tx *store.Tx) error {
	return tx.Side(sideMeta).Set([]byte("replay"), binary.AppendVarint(binary.AppendVarint(nil, s.entries), s.bytes))
}

func replayKey(at time.Time, seq uint64) []byte {
	return append(seqKey(uint64(max(at.UnixMilli(), 0))), seqKey(seq)...)
}

// replay puts the entries of an applied unit into the replay log. now is by the server's clock, as the instants are that
// tables are restored to. State is not worth it: there is always a newer one.
func (w *work) replay(u *unit, now time.Time) error {
	if u.Entries[0].Policy == store.PolicyState {
		return w.err
	}
	b := u.encode()
	if err := w.tx.Side(sideReplay).Set(replayKey(now, u.id.seq), b); err != nil {
		return err
	}
	w.replayed.entries += int64(len(u.Entries))
	w.replayed.bytes += int64(len(b) + 16)
	return w.err
}

// keepReplayed adds to the sums what the work has put into the log.
func (w *work) keepReplayed() error {
	if w.replayed == (replaySums{}) {
		return nil
	}
	s, err := readReplaySums(w.tx)
	if err != nil {
		return err
	}
	s.entries += w.replayed.entries
	s.bytes += w.replayed.bytes
	return s.keep(w.tx)
}

// eachReplayed calls fn with the units that were acknowledged at an instant or later, in that order, until it wants no
// more. fn makes no call on the transaction.
func eachReplayed(tx *store.Tx, from time.Time, fn func(at time.Time, entries []*intent.Entry) (more bool, err error)) error {
	return tx.Side(sideReplay).Each(nil, replayKey(from, 0), func(k, v []byte) (bool, error) {
		if len(k) != 16 {
			return true, nil
		}
		u, err := readUnit(unitID{seq: binary.BigEndian.Uint64(k[8:])}, v)
		if err != nil {
			return false, err
		}
		return fn(time.UnixMilli(int64(binary.BigEndian.Uint64(k))).UTC(), u.Entries)
	})
}

// trimReplay takes out what is too old or too much, a slice at a time; more: there is something left. With a budget
// that runs short everything goes. A clock that no server has set right yet makes nothing old.
func (r *Replica) trimReplay(ctx context.Context, now time.Time, level Level) (more bool, err error) {
	limit := r.cfg.Budget.ReplayBytes
	if level >= LevelTight {
		limit = 0
	}
	old := replayKey(time.Time{}, 0)
	if r.synced() {
		old = replayKey(now.Add(r.cloud.Skew()-r.cfg.Budget.ReplayAge), 0)
	}
	needed := false
	err = r.store.View(ctx, func(tx *store.Tx) error {
		s, err := readReplaySums(tx)
		if err != nil {
			return err
		}
		needed = s.bytes > limit
		return tx.Side(sideReplay).Each(nil, nil, func(k, _ []byte) (bool, error) {
			needed = needed || string(k) < string(old)
			return false, nil
		})
	})
	if err != nil || !needed {
		return false, err
	}
	err = r.store.Update(ctx, func(tx *store.Tx) error {
		more, err = trimReplay(tx, limit, old)
		return err
	})
	return more, err
}

func trimReplay(tx *store.Tx, limit int64, old []byte) (more bool, err error) {
	s, err := readReplaySums(tx)
	if err != nil {
		return false, err
	}
	side := tx.Side(sideReplay)
	var keys [][]byte
	err = side.Each(nil, nil, func(k, v []byte) (bool, error) {
		if s.bytes <= limit && string(k) >= string(old) {
			return false, nil
		}
		if more = len(keys) == replaySlice; more {
			return false, nil
		}
		u, err := readUnit(unitID{}, v)
		if err != nil {
			return false, err
		}
		keys = append(keys, append([]byte(nil), k...))
		s.entries -= int64(len(u.Entries))
		s.bytes -= int64(len(v) + 16)
		return true, nil
	})
	if err != nil {
		return false, err
	}
	for _, k := range keys {
		if err := side.Delete(k); err != nil {
			return false, err
		}
	}
	return more, s.keep(tx)
}

// replayStatus is how much there is, and since when.
func (r *Replica) replayStatus(tx *store.Tx) (st ReplayStatus, err error) {
	s, err := readReplaySums(tx)
	if err != nil {
		return st, err
	}
	st.Entries, st.Bytes = s.entries, s.bytes
	err = tx.Side(sideReplay).Each(nil, nil, func(k, _ []byte) (bool, error) {
		st.Oldest = time.UnixMilli(int64(binary.BigEndian.Uint64(k))).UTC()
		return false, nil
	})
	return st, err
}

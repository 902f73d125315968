package outbox

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// sideReplay holds the writes accepted by the cloud, by the instant at which that was known and their sequence. If the cloud is
// restored to an earlier instant, they are sent again.
const sideReplay = "replay"

const replaySlice = 500 // entries trimmed in one transaction

// LogSums is the size of the replay log.
type LogSums struct {
	Entries int64     `json:"entries"`
	Bytes   int64     `json:"bytes"`
	Oldest  time.Time `json:"oldest,omitzero"` // as read by ReadReplayLog
}

// ReadReplaySums reads the size of the replay log.
func ReadReplaySums(tx *store.Tx) (s LogSums, err error) {
	b, err := tx.Side(SideMeta).Get([]byte("replay"))
	if err != nil || b == nil {
		return s, err
	}
	c := fields.Reader{B: b}
	s = LogSums{Entries: c.Varint(), Bytes: c.Varint()}
	if c.Bad {
		return s, fault.New(fault.Damaged, "replay", "the totals of the replay log cannot be read")
	}
	return s, nil
}

func (s LogSums) storeSums(tx *store.Tx) error {
	return tx.Side(SideMeta).Set([]byte("replay"), binary.AppendVarint(binary.AppendVarint(nil, s.Entries), s.Bytes))
}

func replayKey(at time.Time, seq uint64) []byte {
	return append(SeqKey(uint64(max(at.UnixMilli(), 0))), SeqKey(seq)...)
}

// Replay adds the entries of an applied batch to the replay log. now is by the server's clock, like the instants that tables are
// restored to. State is left out: there is always a newer image.
func (w *Work) Replay(u *Batch, now time.Time) error {
	if u.Entries[0].Policy == store.PolicyState {
		return w.err
	}
	b := u.Encode()
	if err := w.Tx.Side(sideReplay).Set(replayKey(now, u.ID.Seq), b); err != nil {
		return err
	}
	w.replayed.Entries += int64(len(u.Entries))
	w.replayed.Bytes += int64(len(b) + 16)
	return nil
}

// keepReplayed adds the work's replay entries to the sums.
func (w *Work) keepReplayed() error {
	if w.replayed == (LogSums{}) {
		return nil
	}
	s, err := ReadReplaySums(w.Tx)
	if err != nil {
		return err
	}
	s.Entries += w.replayed.Entries
	s.Bytes += w.replayed.Bytes
	return s.storeSums(w.Tx)
}

// EachReplayed calls fn with the batches acknowledged at an instant or later, in order, until fn returns more == false. fn must not
// use the transaction.
func EachReplayed(tx *store.Tx, from time.Time, fn func(at time.Time, entries []*intent.Entry) (more bool, err error)) error {
	return tx.Side(sideReplay).Each(nil, replayKey(from, 0), func(k, v []byte) (bool, error) {
		if len(k) != 16 {
			return true, nil
		}
		u, err := Decode(ID{Seq: binary.BigEndian.Uint64(k[8:])}, v)
		if err != nil {
			return false, err
		}
		return fn(time.UnixMilli(int64(binary.BigEndian.Uint64(k))).UTC(), u.Entries)
	})
}

// TrimReplayLog removes what was acknowledged before an instant (zero: no age limit) or exceeds limit bytes, one slice per call;
// more reports whether something is left to remove.
func TrimReplayLog(ctx context.Context, s *store.Store, limit int64, before time.Time) (more bool, err error) {
	old, needed := replayKey(before, 0), false
	err = s.View(ctx, func(tx *store.Tx) error {
		s, err := ReadReplaySums(tx)
		if err != nil {
			return err
		}
		needed = s.Bytes > limit
		return tx.Side(sideReplay).Each(nil, nil, func(k, _ []byte) (bool, error) {
			needed = needed || string(k) < string(old)
			return false, nil
		})
	})
	if err != nil || !needed {
		return false, err
	}
	err = s.Update(ctx, func(tx *store.Tx) error {
		more, err = trimSlice(tx, limit, old)
		return err
	})
	return more, err
}

func trimSlice(tx *store.Tx, limit int64, old []byte) (more bool, err error) {
	s, err := ReadReplaySums(tx)
	if err != nil {
		return false, err
	}
	side := tx.Side(sideReplay)
	var keys [][]byte
	err = side.Each(nil, nil, func(k, v []byte) (bool, error) {
		if s.Bytes <= limit && string(k) >= string(old) {
			return false, nil
		}
		if more = len(keys) == replaySlice; more {
			return false, nil
		}
		u, err := Decode(ID{}, v)
		if err != nil {
			return false, err
		}
		keys = append(keys, append([]byte(nil), k...))
		s.Entries -= int64(len(u.Entries))
		s.Bytes -= int64(len(v) + 16)
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
	return more, s.storeSums(tx)
}

// ReadReplayLog returns the size of the replay log and the instant of its oldest entry.
func ReadReplayLog(tx *store.Tx) (s LogSums, err error) {
	if s, err = ReadReplaySums(tx); err != nil {
		return s, err
	}
	err = tx.Side(sideReplay).Each(nil, nil, func(k, _ []byte) (bool, error) {
		s.Oldest = time.UnixMilli(int64(binary.BigEndian.Uint64(k))).UTC()
		return false, nil
	})
	return s, err
}

// DropReplayed removes a batch from the replay log.
func DropReplayed(w *Work, at time.Time, entries []*intent.Entry) error {
	key := replayKey(at, entries[0].Seq)
	side := w.Tx.Side(sideReplay)
	v, err := side.Get(key)
	if err != nil || v == nil {
		return err
	}
	w.replayed.Entries -= int64(len(entries))
	w.replayed.Bytes -= int64(len(v) + 16)
	return side.Delete(key)
}

package conflict

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// forget removes a record. Its index by entries stays for a while, to show that they were not applied.
func (l *LogTx) forget(id uint64, now time.Time) error {
	old, err := l.removeRecord(id)
	if err != nil || old == nil {
		return err
	}
	if old.letGo() { // its entries went on, and may be applied
		return l.forgetSeqs(id, old.seqs())
	}
	trace := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	for _, seq := range old.seqs() {
		trace = binary.BigEndian.AppendUint64(trace, seq)
	}
	l.Sums.Traces++
	return l.side.Set(conflictKey('x', id), trace)
}

// trimTraces removes the traces of records removed long ago, and the oldest traces if there are too many. more reports whether
// something is left to do.
func (l *LogTx) trimTraces(now time.Time) (more bool, err error) {
	gone := map[uint64][]uint64{}
	excess := l.Sums.Traces - conflictTraces
	err = l.side.Each([]byte{'x'}, nil, func(k, v []byte) (bool, error) {
		if len(k) != 9 || len(v) < 8 {
			return false, fault.New(fault.Damaged, "damaged", "a trace of the conflict log cannot be read")
		}
		if len(gone) >= conflictTrim || len(gone) >= excess && !longAgo(v, now) {
			return false, nil
		}
		var seqs []uint64
		for at := 8; at+8 <= len(v); at += 8 {
			seqs = append(seqs, binary.BigEndian.Uint64(v[at:]))
		}
		gone[binary.BigEndian.Uint64(k[1:])] = seqs
		return true, nil
	})
	if err != nil {
		return false, err
	}
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		if err := l.forgetSeqs(id, gone[id]); err != nil {
			return false, err
		}
		if err := l.side.Delete(conflictKey('x', id)); err != nil {
			return false, err
		}
		l.Sums.Traces--
	}
	return len(gone) >= conflictTrim, nil
}

// longAgo reports whether the instant at the beginning of a value is too old to keep.
func longAgo(v []byte, now time.Time) bool {
	return len(v) >= 8 && now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(v)))) > conflictAge
}

// forgetSeqs removes a record from the index by entries.
func (l *LogTx) forgetSeqs(id uint64, seqs []uint64) error {
	for _, seq := range seqs {
		if err := l.side.Delete(conflictSeqKey(seq, id)); err != nil {
			return err
		}
	}
	return nil
}

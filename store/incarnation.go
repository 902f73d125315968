package store

import (
	"context"
	"encoding/binary"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
)

// maxIncarnation is the last one that a sequence has room for.
const maxIncarnation = 1<<(64-incarnationBits) - 1

// BeginIncarnation has the journal go on in a new incarnation of the node, as Restore does, while the store is open: for a
// node that finds that it was cloned, or that another has gone on from an older copy of its file. The incarnation is
// above the given one, above all that this file has had, and above all that were ever restored at its path; it is noted
// beside the file (path + ".incarnations") before it is in the file, so that a crash skips one and never repeats one.
//
// The records that are there stay, and are followed by a step in the sequences. It is a transaction of its own; the
// records of those that come later are in the new incarnation, and Incarnation tells of it when this has returned.
func (s *Store) BeginIncarnation(ctx context.Context, above uint64) (uint64, error) {
	known := identity{node: s.node, incarnation: max(above, s.Incarnation())}
	if known.incarnation >= maxIncarnation {
		return 0, fault.New(fault.Invalid, "bad_incarnation", "there is no incarnation after %d", known.incarnation)
	}
	next := known.incarnation + 1
	if s.path != "" {
		var err error
		if next, err = newIncarnation(s.path, known); err != nil {
			return 0, err
		}
	}
	failpoint.Hit(failpoint.IncarnationNoted)
	err := s.Update(ctx, func(tx *Tx) error { return tx.beginIncarnation(next) })
	if err != nil {
		return 0, err
	}
	return next, nil
}

func (tx *Tx) beginIncarnation(next uint64) error {
	meta, err := tx.bucket(bucketMeta)
	if err != nil {
		return err
	}
	had := meta.Get(metaIncarnation)
	if len(had) != 8 {
		return damaged(nil, "its incarnation cannot be read")
	}
	if binary.BigEndian.Uint64(had) >= next {
		return fault.New(fault.Conflict, "incarnation_passed", "another incarnation has begun meanwhile")
	}
	value := binary.BigEndian.AppendUint64(nil, next)
	if err := tx.batch.set(meta, metaIncarnation, value, had); err != nil {
		return tx.breakOff(err)
	}
	tx.batch.journal = tx.batch.journal.stepTo(next)
	tx.batch.begun = next
	return nil
}

// stepTo is where a journal stands at the begin of an incarnation. The records that are there stay.
func (j journalState) stepTo(incarnation uint64) journalState {
	empty := j.first > j.last
	j.last = incarnation << incarnationBits
	if empty {
		j.first, j.firstAt = j.last+1, 0
	}
	return j
}

package store

import (
	"context"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/txn"
)

// BeginIncarnation has the journal go on in a new incarnation of the node, as Restore does, while the store is open: for a
// node that finds that it was cloned, or that another has gone on from an older copy of its file. The incarnation is
// above the given one, above all that this file has had, and above all that were ever restored at its path; it is noted
// beside the file (path + ".incarnations") before it is in the file, so that a crash skips one and never repeats one.
//
// The records that are there stay, and are followed by a step in the sequences. It is a transaction of its own; the
// records of those that come later are in the new incarnation, and Incarnation tells of it when this has returned.
func (s *Store) BeginIncarnation(ctx context.Context, above uint64) (uint64, error) {
	above = max(above, s.Incarnation())
	if above >= file.MaxIncarnation {
		return 0, fault.New(fault.Invalid, "bad_incarnation", "there is no incarnation after %d", above)
	}
	next := above + 1
	if s.engine.Path != "" {
		var err error
		if next, err = file.NewIncarnation(s.engine.Path, s.engine.Node, above); err != nil {
			return 0, err
		}
	}
	failpoint.Hit(failpoint.IncarnationNoted)
	err := s.engine.Update(ctx, func(tx *txn.Tx) error { return tx.BeginIncarnation(next) })
	if err != nil {
		return 0, err
	}
	return next, nil
}

// KeepIncarnation notes the node's incarnation beside the file where nothing of it is noted yet: a later one, which begins
// over the note, needs no room on the disk then.
func (s *Store) KeepIncarnation() error {
	if s.engine.Path == "" {
		return nil
	}
	return file.KeepIncarnation(s.engine.Path, s.engine.Node, s.Incarnation())
}

package store

import (
	"context"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/txn"
)

// BeginIncarnation continues the journal in a new incarnation of the node, as Restore does, but while the store is open. Use it when a
// node finds that it was cloned, or that another node continued from an older copy of its file. The new incarnation is greater than
// above, than all that this file has had, and than all that were ever restored at its path. It is noted beside the file (path +
// ".incarnations") before it is written to the file, so a crash may skip an incarnation but never repeats one.
//
// Existing records stay; the sequences of later ones jump. BeginIncarnation is a transaction of its own: later transactions write their
// records in the new incarnation, which Incarnation returns once this call has returned.
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

// LastWritten returns the sequence of the last journal record that this file has had. It differs from Seq while the present incarnation
// has none: then it is what the file had before, in common with the file that it was copied or restored from. If that is unknown (an
// earlier version began the incarnation, and the journal is trimmed to its end) it is Seq, which is not less.
func (tx *Tx) LastWritten() (uint64, error) { return tx.core.LastWritten() }

// KeepIncarnation notes the node's incarnation beside the file if no note of this node exists yet. On a full disk, a later
// BeginIncarnation can overwrite the note in place, which needs no space.
func (s *Store) KeepIncarnation() error {
	if s.engine.Path == "" {
		return nil
	}
	return file.KeepIncarnation(s.engine.Path, s.engine.Node, s.Incarnation())
}

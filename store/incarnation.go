package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// KeepIncarnation notes the node's incarnation beside the file where nothing of it is noted yet: a later one, which begins
// over the note, needs no room on the disk then.
func (s *Store) KeepIncarnation() error {
	if s.path == "" {
		return nil
	}
	name := s.path + incarnationsSuffix
	had, err := readIncarnations(name)
	if err != nil || had[s.node] > 0 {
		return err
	}
	had[s.node] = s.Incarnation()
	return noteIncarnations(name, had)
}

// incarnationsSuffix ends the name of the note of the highest incarnation that each node has had at a path.
const incarnationsSuffix = ".incarnations"

// newIncarnation gives the node an incarnation that it never had at path, and keeps it in mind.
func newIncarnation(path string, id identity) (uint64, error) {
	name := path + incarnationsSuffix
	had, err := readIncarnations(name)
	if err != nil {
		return 0, err
	}
	next := max(id.incarnation, had[id.node]) + 1
	if next > maxIncarnation {
		return 0, fault.New(fault.Damaged, "bad_incarnations", "%s: there is no incarnation after %d", name, next-1)
	}
	had[id.node] = next
	return next, noteIncarnations(name, had)
}

func readIncarnations(name string) (map[string]uint64, error) {
	had := map[string]uint64{}
	raw, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(raw, &had)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(err, fault.Damaged, "bad_incarnations",
			"%s, which counts the restores of the store, cannot be read: %s", name, reason(err))
	}
	if had == nil { // the file said null
		had = map[string]uint64{}
	}
	return had, nil
}

// maxInPlace is the size of a sector, which a disk writes as a whole or not at all.
const maxInPlace = 512

// noteIncarnations puts a note in the place of the one before. On a full disk it is written over that one, which has its
// room, if it fits a sector (a dozen nodes do: a path has had one, or one more for every foreign backup restored there).
func noteIncarnations(name string, had map[string]uint64) error {
	raw, err := json.Marshal(had)
	if err != nil {
		return fmt.Errorf("incarnations: %w", err)
	}
	raw = append(raw, '\n')
	if err = replaceNote(name, raw); !fault.Is(err, fault.Full) || len(raw) > maxInPlace {
		return err
	}
	f, notThere := os.OpenFile(name, os.O_WRONLY, 0)
	if notThere != nil {
		return err
	}
	_, err = f.WriteAt(raw, 0)
	if err = errors.Join(err, f.Truncate(int64(len(raw))), f.Sync(), f.Close()); err != nil {
		return cannotWrite(name, err)
	}
	return nil
}

func replaceNote(name string, raw []byte) error {
	d, err := newDraft(name + ".tmp")
	if err != nil {
		return err
	}
	if _, err = d.f.Write(raw); err != nil {
		err = cannotWrite(name, err)
	} else {
		err = d.publish(name, true)
	}
	if err != nil {
		d.discard()
		return err
	}
	return d.f.Close()
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

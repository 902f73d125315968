package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/format"
)

// MaxIncarnation is the last one that a sequence has room for.
const MaxIncarnation = 1<<(64-format.IncarnationBits) - 1

// KeepIncarnation notes an incarnation of a node unless there is a note of one.
func KeepIncarnation(path, node string, incarnation uint64) error {
	name := path + incarnationsSuffix
	had, err := readIncarnations(name)
	if err != nil || had[node] > 0 {
		return err
	}
	had[node] = incarnation
	return noteIncarnations(name, had)
}

// incarnationsSuffix ends the name of the note of the highest incarnation that each node has had at a path.
const incarnationsSuffix = ".incarnations"

// NewIncarnation gives the node an incarnation that it never had at path, and keeps it in mind.
func NewIncarnation(path, node string, above uint64) (uint64, error) {
	name := path + incarnationsSuffix
	had, err := readIncarnations(name)
	if err != nil {
		return 0, err
	}
	next := max(above, had[node]) + 1
	if next > MaxIncarnation {
		return 0, fault.New(fault.Damaged, "bad_incarnations", "%s: there is no incarnation after %d", name, next-1)
	}
	had[node] = next
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
			"%s, which counts the restores of the store, cannot be read: %s", name, disk.Reason(err))
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
		return disk.CannotWrite(name, err)
	}
	return nil
}

func replaceNote(name string, raw []byte) error {
	d, err := disk.NewDraft(name + ".tmp")
	if err != nil {
		return err
	}
	if _, err = d.F.Write(raw); err != nil {
		err = disk.CannotWrite(name, err)
	} else {
		err = d.Publish(name, true)
	}
	if err != nil {
		d.Discard()
		return err
	}
	return d.F.Close()
}

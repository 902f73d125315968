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

// MaxIncarnation is the last incarnation that fits into a sequence.
const MaxIncarnation = 1<<(64-format.IncarnationBits) - 1

// KeepIncarnation notes an incarnation of a node unless one is noted already.
func KeepIncarnation(path, node string, incarnation uint64) error {
	name := path + incarnationsSuffix
	had, err := readIncarnations(name)
	if err != nil || had[node] > 0 {
		return err
	}
	had[node] = incarnation
	return noteIncarnations(name, had)
}

// incarnationsSuffix is the suffix of the file with the highest incarnation that each node has had at a path.
const incarnationsSuffix = ".incarnations"

// NewIncarnation returns an incarnation that is greater than above and that the node never had at path, and notes it.
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
	if had == nil { // the file was "null"
		had = map[string]uint64{}
	}
	return had, nil
}

// maxInPlace is the size of a sector, which a disk writes completely or not at all.
const maxInPlace = 512

// noteIncarnations replaces the note. On a full disk it overwrites the old note in place, which needs no space, if the new one fits a
// sector. A dozen nodes do: a path has had one, and one more for every foreign backup restored there.
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

package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
)

// RestoreOptions say how a backup is restored. The zero value is the careful way.
type RestoreOptions struct {
	Unchecked bool                    // a backup without its checksum will do; one that is there is looked at all the same
	Progress  func(done, total int64) // bytes copied; nil: nobody asks
}

// RestoreInfo describes what was restored.
type RestoreInfo struct {
	Path        string `json:"path"`
	Bytes       int64  `json:"bytes"`
	Node        string `json:"node"`
	Incarnation uint64 `json:"incarnation"` // of the restored store, a new one
	Seq         uint64 `json:"seq"`         // the last journal record of the backup
	Tables      int    `json:"tables"`
}

const restoreSuffix = ".restore"

// Restore makes a store at path out of a backup. path must not exist (fault.Conflict), nor is the backup changed. The
// checksum beside the backup is compared, every page looked at, and the format of the store, before anything appears at
// path: what is wrong is fault.Damaged; an interrupted restore leaves nothing.
//
// The store has left its history: what the node did after the backup is gone, and the world may have seen it. So it
// gets a new incarnation, and no sequence of the journal is given twice. The highest incarnation that was ever restored
// at path is kept in path + ".incarnations", so that a backup that is restored twice does not repeat one either.
// Cursors, leases and request tokens stay as they are in the backup: they tell what had been done with these records,
// and whatever is behind them is dealt with again under a new incarnation.
func Restore(ctx context.Context, backup, path string, o RestoreOptions) (info RestoreInfo, err error) {
	want, err := o.checksum(backup)
	if err != nil {
		return info, err
	}
	from, err := lockExisting(backup, os.O_RDONLY, Options{}.withDefaults())
	if err != nil {
		return info, err
	}
	defer from.Close() //nolint:errcheck // it was only read
	if err := makeFolder(filepath.Dir(path), false); err != nil {
		return info, cannotWrite(path, err)
	}
	if err := mustBeNew(path); err != nil {
		return info, err
	}
	d, err := newDraft(path + restoreSuffix)
	if err != nil {
		return info, err
	}
	defer func() {
		if err != nil {
			d.discard()
		} else {
			_ = d.f.Close()
		}
	}()
	sum, err := copyChecked(ctx, d, from, o.Progress)
	if err != nil {
		return info, err
	}
	if want != "" && sum != want {
		return info, fault.New(fault.Damaged, "bad_checksum",
			"%s is not the file that was written: its checksum is not that of %s%s", backup, backup, checksumSuffix)
	}
	if _, err := verifyFile(d.f, true); err != nil {
		return info, damagedFile(backup, err)
	}
	failpoint.Hit(failpoint.RestoreCopied)
	if info, err = leaveHistory(d, backup, path); err != nil {
		return info, err
	}
	failpoint.Hit(failpoint.RestoreCounted)
	info.Path = path
	return info, d.publish(path, false)
}

// checksum returns the backup's checksum; "" if it has none and need not.
func (o RestoreOptions) checksum(backup string) (string, error) {
	want, err := readChecksum(backup)
	switch {
	case err == nil:
		return want, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fault.Wrap(err, fault.Damaged, "bad_checksum", "%s", reason(err))
	case o.Unchecked:
		return "", nil
	}
	if _, err := os.Stat(backup); err != nil {
		return "", cannotRead(backup, err)
	}
	return "", fault.New(fault.Invalid, "no_checksum", "%s%s is missing: the backup cannot be verified without it",
		backup, checksumSuffix)
}

// copyChecked copies the backup into the draft and returns its checksum.
func copyChecked(ctx context.Context, d *draft, from *os.File, progress func(done, total int64)) (string, error) {
	info, err := from.Stat()
	if err != nil {
		return "", cannotRead(from.Name(), err)
	}
	if err := roomFor(filepath.Dir(d.path), info.Size()); err != nil {
		return "", err
	}
	sum := sha256.New()
	buf := make([]byte, copyChunk)
	for at := int64(0); ; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := from.Read(buf)
		if errors.Is(err, io.EOF) {
			dropCache(from)
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", cannotRead(from.Name(), err)
		}
		_, _ = sum.Write(buf[:n]) // never fails
		if _, err := d.f.Write(buf[:n]); err != nil {
			return "", cannotWrite(d.path, err)
		}
		at += int64(n)
		if progress != nil {
			progress(at, info.Size())
		}
	}
}

// leaveHistory returns the store in the draft, which becomes the one at path, its new incarnation.
func leaveHistory(d *draft, backup, path string) (info RestoreInfo, err error) {
	opts := boltOptions(Options{})
	opts.NoSync, opts.NoFreelistSync = true, false
	opts.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return d.f, nil }
	db, err := bolt.Open(d.path, 0o600, opts)
	if err != nil {
		return info, damagedFile(backup, err)
	}
	db.AllocSize = 0
	err = db.Update(func(btx *bolt.Tx) error {
		st, err := readMeta(btx)
		if err != nil {
			return damagedFile(backup, err)
		}
		if info.Incarnation, err = newIncarnation(path, st.identity); err != nil {
			return err
		}
		info.Node, info.Seq, info.Tables = st.node, st.journal.last, len(st.cat.tables)
		return writeIncarnation(btx, info.Incarnation, st.journal)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return info, err
	}
	size, err := os.Stat(d.path)
	if err != nil {
		return info, cannotRead(d.path, err)
	}
	info.Bytes = size.Size()
	return info, d.reopen(info.Bytes)
}

// writeIncarnation moves the journal to the begin of an incarnation. The records that are there stay, and are followed
// by a step.
func writeIncarnation(btx *bolt.Tx, incarnation uint64, j journalState) error {
	m := btx.Bucket(bucketMeta)
	return errors.Join(
		m.Put(metaIncarnation, binary.BigEndian.AppendUint64(nil, incarnation)),
		m.Put(metaJournal, j.stepTo(incarnation).encode()),
	)
}

package backup

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
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
)

// RestoreOptions configures a restore. The zero value is the careful way.
type RestoreOptions struct {
	Unchecked bool                    // accept a backup without a checksum; an existing one is still compared
	Progress  func(done, total int64) // gets the bytes copied and the total; may be nil
}

// RestoreInfo describes what was restored.
type RestoreInfo struct {
	Path        string `json:"path"`
	Bytes       int64  `json:"bytes"`
	Node        string `json:"node"`
	Incarnation uint64 `json:"incarnation"` // of the restored store: a new one
	Seq         uint64 `json:"seq"`         // the last journal record in the backup
	Tables      int    `json:"tables"`
}

// Restore is store.Restore.
func Restore(ctx context.Context, backup, path string, o RestoreOptions) (info RestoreInfo, err error) {
	want, err := o.checksum(backup)
	if err != nil {
		return info, err
	}
	from, err := file.LockExisting(backup, os.O_RDONLY, file.Options{}.WithDefaults())
	if err != nil {
		return info, err
	}
	defer from.Close() //nolint:errcheck // it was only read
	if err := disk.MakeFolder(filepath.Dir(path), false); err != nil {
		return info, disk.CannotWrite(path, err)
	}
	if err := disk.MustBeNew(path); err != nil {
		return info, err
	}
	d, err := disk.NewDraft(path + file.RestoreSuffix)
	if err != nil {
		return info, err
	}
	defer func() { d.End(err == nil) }()
	sum, err := copyChecked(ctx, d, from, o.Progress)
	if err != nil {
		return info, err
	}
	if want != "" && sum != want {
		return info, fault.New(fault.Damaged, "bad_checksum",
			"%s is not the file that was written: its checksum is not that of %s%s", backup, backup, checksumSuffix)
	}
	if _, err := pages.Verify(d.F, true); err != nil {
		return info, file.DamagedFile(backup, err)
	}
	failpoint.Hit(failpoint.RestoreCopied)
	if info, err = leaveHistory(d, backup, path); err != nil {
		return info, err
	}
	failpoint.Hit(failpoint.RestoreCounted)
	info.Path = path
	return info, d.Publish(path, false)
}

// checksum returns the backup's checksum, or "" if it has none and o allows that.
func (o RestoreOptions) checksum(backup string) (string, error) {
	want, err := readChecksum(backup)
	switch {
	case err == nil:
		return want, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fault.Wrap(err, fault.Damaged, "bad_checksum", "%s", disk.Reason(err))
	case o.Unchecked:
		return "", nil
	}
	if _, err := os.Stat(backup); err != nil {
		return "", disk.CannotRead(backup, err)
	}
	return "", fault.New(fault.Invalid, "no_checksum", "%s%s is missing: the backup cannot be verified without it",
		backup, checksumSuffix)
}

// copyChecked copies the backup into the draft and returns its checksum.
func copyChecked(ctx context.Context, d *disk.Draft, from *os.File, progress func(done, total int64)) (string, error) {
	info, err := from.Stat()
	if err != nil {
		return "", disk.CannotRead(from.Name(), err)
	}
	if err := disk.RoomFor(filepath.Dir(d.Path), info.Size()); err != nil {
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
			disk.DropCache(from)
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", disk.CannotRead(from.Name(), err)
		}
		_, _ = sum.Write(buf[:n]) // never fails
		if _, err := d.F.Write(buf[:n]); err != nil {
			return "", disk.CannotWrite(d.Path, err)
		}
		at += int64(n)
		if progress != nil {
			progress(at, info.Size())
		}
	}
}

// leaveHistory gives the store in the draft, which will be the store at path, a new incarnation.
func leaveHistory(d *disk.Draft, backup, path string) (info RestoreInfo, err error) {
	opts := file.BoltOptions(file.Options{})
	opts.NoSync, opts.NoFreelistSync = true, false
	opts.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return d.F, nil }
	db, err := bolt.Open(d.Path, 0o600, opts)
	if err != nil {
		return info, file.DamagedFile(backup, err)
	}
	db.AllocSize = 0
	err = db.Update(func(btx *bolt.Tx) error {
		st, err := file.ReadMeta(btx)
		if err != nil {
			return file.DamagedFile(backup, err)
		}
		if info.Incarnation, err = file.NewIncarnation(path, st.Node, st.Incarnation); err != nil {
			return err
		}
		info.Node, info.Seq, info.Tables = st.Node, st.Journal.Last, len(st.Cat.ByName)
		return writeIncarnation(btx, info.Incarnation, st)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return info, err
	}
	size, err := os.Stat(d.Path)
	if err != nil {
		return info, disk.CannotRead(d.Path, err)
	}
	info.Bytes = size.Size()
	return info, d.Reopen(info.Bytes)
}

// writeIncarnation moves the journal to the start of an incarnation. Existing records stay; the sequences of later ones jump.
func writeIncarnation(btx *bolt.Tx, incarnation uint64, st file.State) error {
	m := btx.Bucket(format.BucketMeta)
	written := format.LastWritten(m, btx.Bucket(format.BucketJournal), st.Incarnation, st.Journal)
	return errors.Join(
		m.Put(format.MetaWritten, format.NoteWritten(incarnation, written)),
		m.Put(format.MetaIncarnation, binary.BigEndian.AppendUint64(nil, incarnation)),
		m.Put(format.MetaJournal, st.Journal.StepTo(incarnation).Encode()),
	)
}

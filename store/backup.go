package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/failpoint"
)

// BackupInfo describes what is in a backup.
type BackupInfo struct {
	Path        string        `json:"path"`
	Bytes       int64         `json:"bytes"`
	SHA256      string        `json:"sha256"` // of the file, in hex; also in Path + ".sha256"
	Node        string        `json:"node"`
	Incarnation uint64        `json:"incarnation"`
	Seq         uint64        `json:"seq"` // the last journal record in it
	Tables      int           `json:"tables"`
	Took        time.Duration `json:"-"`
	Held        time.Duration `json:"-"` // how long its snapshot held pages of the store back
}

// Backup writes a consistent copy of the store to a new file, while the store is in use: all that was committed when it
// began. The folder must be there, path must not; path + ".sha256" gets the checksum as sha256sum writes it, also where
// there is one without its file. The copy is a store file in good order, closed and verified: Restore takes it, and
// Open does without a scan. It is on disk when Backup returns; one that failed or was cancelled leaves nothing.
//
// The snapshot is held as long as the copy takes, at most Options.BackupDeadline, and meanwhile the store finds no free
// pages: path is on a local disk, not on a network. progress may be nil; it is told the bytes copied and how many there
// are. A disk without room for the copy and 64 MiB more is fault.Full, a taken name fault.Conflict, a store with
// damaged pages, items or journal records fault.Damaged: a backup of these would take the place of one from before.
func (s *Store) Backup(ctx context.Context, path string, progress func(done, total int64)) (info BackupInfo, err error) {
	took := stopwatch()
	if err := mustBeNew(path); err != nil {
		return info, err
	}
	d, err := newDraft(path + ".tmp")
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
	if info, err = s.copyTo(ctx, d.f, progress, s.checkContent); err != nil {
		return info, err
	}
	info.Path = path
	failpoint.Hit(failpoint.BackupCopied)
	if err := writeChecksum(path, info.SHA256); err != nil {
		return info, err
	}
	failpoint.Hit(failpoint.BackupChecksum)
	if err := d.publish(path, false); err != nil {
		_ = os.Remove(path + checksumSuffix)
		return info, err
	}
	info.Took = took()
	return info, nil
}

// checkContent refuses an item or a journal record that is not what was written.
func (s *Store) checkContent(bucket, key, value []byte) error {
	if string(bucket) == string(bucketJournal) {
		_, err := checkRecord(value)
		return err
	}
	if len(bucket) != bucketNameSize || bucket[0] != kindTable {
		return nil
	}
	t := s.cat.Load().byID[binary.BigEndian.Uint32(bucket[1:])]
	if t == nil || t.dropped || row(value).check(key) == nil {
		return nil
	}
	return fmt.Errorf("an item of table %s is not what was written to disk", t.spec.Name)
}

// copyTo writes a snapshot of the store into an empty file, which contents judges if it is not nil.
func (s *Store) copyTo(
	ctx context.Context, f *os.File, progress func(done, total int64), contents func(bucket, key, value []byte) error,
) (info BackupInfo, err error) {
	held := stopwatch()
	snap, err := s.copies.begin(ctx, s)
	if err != nil {
		return info, err
	}
	defer snap.end()
	info.Node, info.Incarnation = s.node, s.Incarnation()
	info.Seq, info.Tables = snap.seq, snap.tables
	sum := sha256.New()
	w := snapshotWriter{ctx: ctx, f: f, sum: sum, from: snap, meta: snap.meta, progress: progress, contents: contents}
	w.reserveFreelist()
	if f.Name() != memoryName {
		if err := roomFor(filepath.Dir(f.Name()), w.meta.used()); err != nil {
			return info, err
		}
	}
	if err := w.pages(); err != nil {
		return info, err
	}
	snap.end()
	info.Held = held()
	dropCache(s.room.f)
	if err := w.freelist(); err != nil {
		return info, err
	}
	info.Bytes, info.SHA256 = w.at, hex.EncodeToString(sum.Sum(nil))
	return info, nil
}

const checksumSuffix = ".sha256"

// writeChecksum writes the line that sha256sum -c reads. It goes to disk before the file has its name: a file without
// its checksum would be worth less than a checksum without its file.
func writeChecksum(path, sum string) error {
	name := filepath.Base(path)
	if escaped := strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r").Replace(name); escaped != name {
		sum, name = "\\"+sum, escaped // as sha256sum has it
	}
	to := path + checksumSuffix
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return cannotWrite(to, err)
	}
	keepOwner(f, filepath.Dir(to))
	_, err = io.WriteString(f, sum+"  "+name+"\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(to)
		return cannotWrite(to, err)
	}
	return nil
}

// readChecksum returns the checksum that lies beside a backup. The name in it does not count: files are moved.
func readChecksum(path string) (string, error) {
	raw, err := os.ReadFile(path + checksumSuffix)
	if err != nil {
		return "", err
	}
	sum, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(raw)), "\\"), " ")
	if b, err := hex.DecodeString(sum); err != nil || len(b) != sha256.Size {
		return "", fmt.Errorf("%s%s holds no SHA-256 checksum", path, checksumSuffix)
	}
	return strings.ToLower(sum), nil
}

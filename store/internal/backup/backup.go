package backup

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
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Info describes a backup.
type Info struct {
	Path        string  `json:"path"`
	Bytes       int64   `json:"bytes"`
	SHA256      string  `json:"sha256"` // of the file, in hex; also in Path + ".sha256"
	Node        string  `json:"node"`
	Incarnation uint64  `json:"incarnation"`
	Seq         uint64  `json:"seq"` // the last journal record in the backup
	Tables      int     `json:"tables"`
	TookSeconds float64 `json:"tookSeconds"`
	HeldSeconds float64 `json:"heldSeconds"` // how long the backup's snapshot kept pages of the store from being reused
}

// Backup is Store.Backup.
func (c *Copies) Backup(ctx context.Context, path string, progress func(done, total int64)) (info Info, err error) {
	began := time.Now()
	if err := disk.MustBeNew(path); err != nil {
		return info, err
	}
	d, err := disk.NewDraft(path + ".tmp")
	if err != nil {
		return info, err
	}
	defer func() { d.End(err == nil) }()
	if info, err = c.CopyTo(ctx, d.F, progress); err != nil {
		return info, err
	}
	if err := pages.VerifyAll(d.F, c.checkContent); err != nil {
		return info, refusal.DamagedData(err, "%v", err)
	}
	info.Path = path
	failpoint.Hit(failpoint.BackupCopied)
	if err := writeChecksum(path, info.SHA256); err != nil {
		return info, err
	}
	failpoint.Hit(failpoint.BackupChecksum)
	if err := d.Publish(path, false); err != nil {
		_ = os.Remove(path + checksumSuffix)
		return info, err
	}
	info.TookSeconds = time.Since(began).Seconds()
	return info, nil
}

// checkContent refuses an item or a journal record that differs from what was written.
func (c *Copies) checkContent(bucket, key, value []byte) error {
	if string(bucket) == string(format.BucketJournal) {
		_, err := format.CheckRecord(value)
		return err
	}
	if len(bucket) != format.BucketNameSize || bucket[0] != format.KindTable {
		return nil
	}
	t := c.E.Cat.Load().ByID[binary.BigEndian.Uint32(bucket[1:])]
	if t == nil || t.Dropped || format.Row(value).Check(key) == nil {
		return nil
	}
	return fmt.Errorf("an item of table %s differs from what was written to disk", t.Spec.Name)
}

const checksumSuffix = ".sha256"

// writeChecksum writes a line in the format of sha256sum -c. It is on disk before the backup gets its name: a checksum without its file
// does less harm than a file without its checksum.
func writeChecksum(path, sum string) error {
	name := filepath.Base(path)
	if escaped := strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r").Replace(name); escaped != name {
		sum, name = "\\"+sum, escaped // the escaping of sha256sum
	}
	to := path + checksumSuffix
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return disk.CannotWrite(to, err)
	}
	disk.KeepOwner(f, filepath.Dir(to))
	_, err = io.WriteString(f, sum+"  "+name+"\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(to)
		return disk.CannotWrite(to, err)
	}
	return nil
}

// readChecksum returns the checksum stored beside a backup. It ignores the file name in it, because files are moved.
func readChecksum(path string) (string, error) {
	raw, err := os.ReadFile(path + checksumSuffix)
	if err != nil {
		return "", err
	}
	sum, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(raw)), "\\"), " ")
	if b, err := hex.DecodeString(sum); err != nil || len(b) != sha256.Size {
		return "", fmt.Errorf("%s%s does not contain a SHA-256 checksum", path, checksumSuffix)
	}
	return strings.ToLower(sum), nil
}

// Package secretfile reads and writes files that hold secrets: keys, API keys, tokens. One rule holds for all of them, and for the
// data directory: only its owner may change it, and nobody outside its owner and group may read it. Windows has no such
// modes; there the rule holds nothing.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Modes that break the rule.
const (
	othersRead  fs.FileMode = 0o004
	othersWrite fs.FileMode = 0o022 // the group's too
)

// How a file or directory breaks the rule.
var (
	ErrWritable = errors.New("other users can change it")
	ErrReadable = errors.New("other users can read it")
)

// Read returns the content of a file of at most limit bytes. A file that breaks the rule is refused, with the command
// that mends it. Errors of the system hold the path.
func Read(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()       //nolint:errcheck // it was only read
	info, err := f.Stat() // of the file that is read, whatever its name stands for by then
	if err != nil {
		return nil, err
	}
	if err := judge(info); err != nil {
		return nil, fmt.Errorf("%w (chmod 600 %s)", err, name)
	}
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("longer than %d bytes", limit)
	}
	return raw, err
}

// Check reports how a file or directory breaks the rule; nil if it does not.
func Check(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return judge(info)
}

func judge(info fs.FileInfo) error {
	mode := info.Mode().Perm()
	switch {
	case runtime.GOOS == "windows":
		return nil
	case mode&othersWrite != 0:
		return ErrWritable
	case mode&othersRead != 0:
		return ErrReadable
	}
	return nil
}

// Write puts a file that only its owner can read in the place of another, or where there was none. A crash leaves the one or
// the other, whole.
func Write(name string, content []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp") // with the mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), name)
	}
	if err != nil {
		_ = os.Remove(draft.Name())
	}
	return err
}

// Package secretfile reads and writes files with secrets: keys, API keys, tokens. One rule applies to all of them and to the data
// directory: only the owner may change it, and nobody outside its owner and group may read it. Windows has no such modes, so the rule is
// not checked there.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Modes that violate the rule.
const (
	othersRead  fs.FileMode = 0o004
	othersWrite fs.FileMode = 0o022 // by the group too
)

// The violations of the rule, and of a limit.
var (
	ErrWritable = errors.New("other users can change it")
	ErrReadable = errors.New("other users can read it")
	ErrLonger   = errors.New("longer")
	ErrNotAFile = errors.New("not a regular file")
)

// Read returns the content of a regular file of at most limit bytes. It refuses a file that violates the rule, with the command that
// fixes it. Errors of the operating system are fs.PathErrors, and so are those of a longer file and of anything but a file.
func Read(name string, limit int64) ([]byte, error) {
	const atOnce = syscall.O_NONBLOCK // opening a named pipe would wait for its writer
	return read(name, limit, atOnce, judgeSecret(name))
}

// ReadAny is Read for files to which the rule does not apply, and for pipes.
func ReadAny(name string, limit int64) ([]byte, error) {
	return read(name, limit, 0, func(fs.FileInfo) error { return nil })
}

func read(name string, limit int64, flags int, judge func(fs.FileInfo) error) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()       //nolint:errcheck // it was only read
	info, err := f.Stat() // of the open file, whatever the name refers to by now
	if err != nil {
		return nil, err
	}
	if err := judge(info); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w than %d bytes", ErrLonger, limit)}
	}
	return raw, err
}

// judgeSecret returns the function that judges an open file with a secret.
func judgeSecret(name string) func(fs.FileInfo) error {
	return func(info fs.FileInfo) error {
		if !info.Mode().IsRegular() {
			return &fs.PathError{Op: "read", Path: name, Err: ErrNotAFile}
		}
		if err := checkMode(info); err != nil {
			return fmt.Errorf("%w (chmod 600 %s)", err, name)
		}
		return nil
	}
}

// Check returns the violation of the rule by a file or directory, or nil.
func Check(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return checkMode(info)
}

func checkMode(info fs.FileInfo) error {
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

// Write creates or replaces a file that only its owner can read. After a crash there is the old or the new file, complete.
func Write(name string, content []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp") // with mode 0600
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

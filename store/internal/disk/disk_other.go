//go:build !linux

package disk

import (
	"errors"
	"os"
	"syscall"

	bolt "go.etcd.io/bbolt"
)

// FreeSpace is unknown on other systems: a full disk is noticed when a write fails.
func FreeSpace(string) (bytes int64, known bool) { return 0, false }

// IsNoSpace reports whether an operation failed because the disk is full. It recognizes Windows' ERROR_DISK_FULL by its number, which no
// other system uses.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.Errno(112))
}

// Allocate extends the file from one size to another and allocates its blocks.
func Allocate(f *os.File, from, to int64) error { return WriteZeros(f, from, to) }

// FillHoles is not possible on other systems.
func FillHoles(*os.File, int64) error { return nil }

// Forget does nothing on other systems.
func Forget(*bolt.DB, *os.File) {}

func DropCache(*os.File) {}

func StartWriting(*os.File, int64, int64) {}

// anonymousFile is not supported on other systems.
func anonymousFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }

//go:build !linux

package store

import (
	"errors"
	"syscall"
)

// freeSpace is not asked on other systems: a full disk is met when it is full.
func freeSpace(string) (bytes int64, known bool) { return 0, false }

// IsNoSpace reports whether the disk was too full for what has failed. It knows Windows' ERROR_DISK_FULL by its number,
// which no other system uses.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.Errno(112))
}

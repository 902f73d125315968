//go:build !linux

package store

import (
	"errors"
	"syscall"
)

// freeSpace is not asked on other systems: a full disk is met when it is full.
func freeSpace(string) (bytes int64, known bool) { return 0, false }

// isNoSpace knows Windows' ERROR_DISK_FULL by its number, which no other system uses.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.Errno(112))
}

//go:build !linux

package measure

import (
	"errors"
	"os"
	"time"
)

func inMemory(string) bool { return false }

// FreeBytes returns an error: the free space is only known on Linux.
func FreeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

// SyncData syncs a file to disk, as a database does.
func SyncData(f *os.File) error { return f.Sync() }

// Forget does nothing.
func Forget(string) error { return nil }

// ownTime returns 0: it is only known on Linux.
func ownTime() time.Duration { return 0 }

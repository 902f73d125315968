//go:build !linux

package measure

import (
	"errors"
	"os"
	"runtime"
	"time"
)

// These are only measured on Linux.
var errNotHere = errors.New("it is only known on Linux")

func fileSystem(string) string { return "unknown file system" }

// FreeBytes returns an error: the free space is only known on Linux.
func FreeBytes(string) (uint64, error) { return 0, errNotHere }

// SyncData syncs a file to disk, as a database does.
func SyncData(f *os.File) error { return f.Sync() }

// Forget does nothing.
func Forget(string) error { return nil }

// CPUTime returns 0: it is only known on Linux.
func CPUTime() time.Duration { return 0 }

func kernel() string { return runtime.GOOS }

func cpuModel() string { return runtime.GOARCH }

//go:build !linux

package measure

import (
	"errors"
	"os"
	"runtime"
	"time"
)

// What only Linux tells is not measured elsewhere.
var errNotHere = errors.New("only Linux tells")

func fileSystem(string) string { return "unknown file system" }

// FreeBytes is the space that a folder's disk has left.
func FreeBytes(string) (uint64, error) { return 0, errNotHere }

// SyncData writes a file to the disk, as a database does.
func SyncData(f *os.File) error { return f.Sync() }

// Forget drops a file from the page cache.
func Forget(string) error { return nil }

// CPUTime is what the process has used so far.
func CPUTime() time.Duration { return 0 }

func kernel() string { return runtime.GOOS }

func cpuModel() string { return runtime.GOARCH }

//go:build !linux

package measure

import (
	"errors"
	"os"
	"os/exec"
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

// ProcessTime is the processor time that another process has used so far.
func ProcessTime(int) time.Duration { return 0 }

// MemoryOf returns a field of the status of a process.
func MemoryOf(int, string) (float64, bool) { return 0, false }

func cpuModel() string { return runtime.GOARCH }

func kernel() string { return runtime.GOOS }

// StartOn starts a command; exited is closed when it has ended. Processors cannot be chosen here.
func StartOn(cmd *exec.Cmd, _ int) (exited <-chan struct{}, err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		_, _ = cmd.Process.Wait()
		close(done)
	}()
	return done, nil
}

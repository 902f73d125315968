//go:build !linux

package main

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

func freeBytes(string) (uint64, error) { return 0, errNotHere }

func syncData(f *os.File) error { return f.Sync() }

func forget(string) error { return nil }

func cpuTime() time.Duration { return 0 }

func processTime(int) time.Duration { return 0 }

func memoryOf(int, string) (float64, bool) { return 0, false }

func cpuModel() string { return runtime.GOARCH }

func kernel() string { return runtime.GOOS }

// startOn starts a command; exited is closed when it has ended. Processors cannot be chosen here.
func startOn(cmd *exec.Cmd, _ int) (exited <-chan struct{}, err error) {
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

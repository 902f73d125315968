//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lockFile takes the lock that bbolt takes, on the same descriptor, but before anything is read: what another process
// is writing looks damaged.
func lockFile(f *os.File, wait time.Duration) error {
	deadline := time.After(wait)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		select {
		case <-deadline:
			return errLockHeld
		case <-again.C:
		}
	}
}

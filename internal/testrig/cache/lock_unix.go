//go:build unix

package cache

import (
	"errors"
	"os"
	"syscall"
)

// lock holds other processes back until unlock is called. They wait as long as a download takes.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // which gives the lock back, whatever it says
}

//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// LockFile takes the same lock that bbolt takes, on the same descriptor, but before anything is read: a file that another process is
// writing looks damaged.
func LockFile(f *os.File, wait time.Duration) error {
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
			return ErrLockHeld
		case <-again.C:
		}
	}
}

// KeepOwner gives a new file the owner of like, the file it replaces or its folder. Root may maintain the files of a node that runs as
// another user, who must be able to open them afterwards. Other users cannot change owners and need not.
func KeepOwner(f *os.File, like string) {
	info, err := os.Stat(like)
	if err != nil || os.Geteuid() != 0 {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // if it fails, opening the file will report it
	}
}

//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// LockFile takes the lock that bbolt takes, on the same descriptor, but before anything is read: what another process
// is writing looks damaged.
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

// KeepOwner gives a new file the owner of what it takes the place of, or of its folder: root may look after the files
// of a node that runs as somebody else, who must be able to open them afterwards. Others than root cannot and need not.
func KeepOwner(f *os.File, like string) {
	info, err := os.Stat(like)
	if err != nil || os.Geteuid() != 0 {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // where it fails, opening the file will tell
	}
}

package store

import (
	"errors"

	"golang.org/x/sys/unix"
)

// freeSpace is what a program may still write into a folder.
func freeSpace(dir string) (bytes int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail * uint64(st.Bsize)), true // the size has another type on every system
}

// IsNoSpace reports whether the disk, or what one user may have of it, was too full for what has failed.
func IsNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

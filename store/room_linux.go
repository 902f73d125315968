package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate extends the file from its size to the given one, with blocks behind it.
func allocate(f *os.File, from, to int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, from, to-from)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return writeZeros(f, from, to)
		}
		return err
	}
}

// fillHoles gives blocks to what a file has none for: bbolt makes new files a page longer than it writes them, and tools
// that copy leave out zeros. Where the file system has no call for it, nothing is known of holes, and that is no error.
func fillHoles(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		}
		return err
	}
}

package disk

import (
	"errors"
	"os"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// FreeSpace is what a program may still write into a folder.
func FreeSpace(dir string) (bytes int64, known bool) {
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

// Allocate extends the file from its size to the given one, with blocks behind it.
func Allocate(f *os.File, from, to int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, from, to-from)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return WriteZeros(f, from, to)
		}
		return err
	}
}

// FillHoles gives blocks to what a file has none for: bbolt makes new files a page longer than it writes them, and tools
// that copy leave out zeros. Where the file system has no call for it, nothing is known of holes, and that is no error.
func FillHoles(f *os.File, size int64) error {
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

// Forget drops a file that was read as a whole from the map and the page cache. What was read in large pieces is cached
// in large pieces, in which scattered writes are four times slower; and the pages count as memory of this process. Both
// calls are advice: an error changes nothing.
func Forget(db *bolt.DB, f *os.File) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, db.Info().Data, uintptr(info.Size()), unix.MADV_DONTNEED)
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// DropCache drops from the page cache what no process has mapped of a file: what a copy read or wrote, not what a
// running store works with.
func DropCache(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// StartWriting has the disk begin with a part of a file that is being written. Else it all goes at the sync, and the
// commits of a store on the same disk wait behind it.
func StartWriting(f *os.File, at, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), at, n, unix.SYNC_FILE_RANGE_WRITE)
}

// anonymousFile is memory of this process as a file.
func anonymousFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

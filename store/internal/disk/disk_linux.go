package disk

import (
	"errors"
	"os"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// FreeSpace returns the number of bytes that can still be written to a folder's disk.
func FreeSpace(dir string) (bytes int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail * uint64(st.Bsize)), true // the type of Bsize differs between architectures
}

// IsNoSpace reports whether an operation failed because the disk or the user's quota on it is full, or the file would get too large.
func IsNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// Allocate extends the file from one size to another and allocates its blocks.
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

// FillHoles allocates missing blocks of a file: bbolt makes new files a page longer than it writes them, and copying tools leave out
// zeros. On file systems that do not support it holes are unknown, which is not an error.
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

// Forget removes a file that was read as a whole from the memory map and the page cache. Data read in large pieces is cached in large
// pieces, in which scattered writes are four times slower; and the pages count as memory of this process. Both calls are advisory, so
// errors do not matter.
func Forget(db *bolt.DB, f *os.File) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, db.Info().Data, uintptr(info.Size()), unix.MADV_DONTNEED)
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// DropCache removes the parts of a file that no process has mapped from the page cache: what a copy read or wrote, but not what a running
// store uses.
func DropCache(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// StartWriting starts writing a part of a file to disk. Otherwise all of it is written at the sync, and the commits of a store on the
// same disk wait for it.
func StartWriting(f *os.File, at, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), at, n, unix.SYNC_FILE_RANGE_WRITE)
}

// anonymousFile returns memory of this process as a file.
func anonymousFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

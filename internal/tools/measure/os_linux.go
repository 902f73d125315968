package measure

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// inMemory reports whether the files of a folder are in memory.
func inMemory(folder string) bool {
	var st unix.Statfs_t
	err := unix.Statfs(folder, &st)
	return err == nil && (st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC)
}

// FreeBytes returns the free space on a folder's disk.
func FreeBytes(folder string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// SyncData syncs a file to disk, as a database does.
func SyncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// Forget drops a file from the page cache.
func Forget(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer Shut(f)
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// ownTime returns the processor time used by this process so far.
func ownTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

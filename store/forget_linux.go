package store

import (
	"os"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// forget drops a file that was read as a whole from the map and the page cache. What was read in large pieces is cached
// in large pieces, in which scattered writes are four times slower; and the pages count as memory of this process. Both
// calls are advice: an error changes nothing.
func forget(db *bolt.DB, f *os.File) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, db.Info().Data, uintptr(info.Size()), unix.MADV_DONTNEED)
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// dropCache drops from the page cache what no process has mapped of a file: what a copy read or wrote, not what a
// running store works with.
func dropCache(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// startWriting has the disk begin with a part of a file that is being written. Else it all goes at the sync, and the
// commits of a store on the same disk wait behind it.
func startWriting(f *os.File, at, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), at, n, unix.SYNC_FILE_RANGE_WRITE)
}

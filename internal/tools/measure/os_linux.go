package measure

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// fileSystem returns the type of the file system of a folder.
func fileSystem(folder string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return "unknown"
	}
	names := map[int64]string{
		unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs", unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs",
		unix.BTRFS_SUPER_MAGIC: "btrfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.F2FS_SUPER_MAGIC: "f2fs",
		unix.NFS_SUPER_MAGIC: "nfs",
	}
	if name, ok := names[int64(st.Type)]; ok { //nolint:unconvert // its type differs between architectures
		return name
	}
	return fmt.Sprintf("type %#x", st.Type)
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

// CPUTime returns the processor time used by the process so far.
func CPUTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return runtime.GOOS
	}
	return "Linux " + unix.ByteSliceToString(u.Release[:])
}

func cpuModel() string {
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if all, err := fs.CPUInfo(); err == nil && len(all) > 0 && all[0].ModelName != "" {
			return all[0].ModelName
		}
	}
	return runtime.GOARCH
}

package measure

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fileSystem is the kind of file system that a folder lies on.
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

// FreeBytes is the space that a folder's disk has left.
func FreeBytes(folder string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// SyncData writes a file to the disk, as a database does.
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

// CPUTime is what the process has used so far.
func CPUTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ProcessTime is the processor time that another process has used so far.
func ProcessTime(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ") // behind the name
	fields, ticks := strings.Fields(rest), 0
	for _, i := range [...]int{11, 12} { // in user mode and in the kernel
		if i < len(fields) {
			n, _ := strconv.Atoi(fields[i])
			ticks += n
		}
	}
	return time.Duration(ticks) * (time.Second / 100)
}

// MemoryOf returns a field of the status of a process in MB: VmHWM is the most it ever had resident, RssAnon what it has
// that is no file. It is false where the system does not tell.
func MemoryOf(pid int, field string) (float64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return float64(kb) / 1024, err == nil
		}
	}
	return 0, false
}

func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return runtime.GOOS
	}
	return "Linux " + unix.ByteSliceToString(u.Release[:])
}

// StartOn starts a command on one processor, counted from 0 among those that this process may use; on all if cpu is
// negative or there are too few. The command is killed when this process ends, however it ends; exited is closed when
// it has.
func StartOn(cmd *exec.Cmd, cpu int) (exited <-chan struct{}, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	done, started := make(chan struct{}), make(chan error)
	go func() {
		// A child has the processors of the thread that starts it, and is killed when that thread ends. The thread is
		// never given back, so it ends with this goroutine, which waits for the child.
		runtime.LockOSThread()
		err := pin(cpu)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			_, _ = cmd.Process.Wait()
		}
		close(done)
	}()
	return done, <-started
}

func pin(cpu int) error {
	if cpu < 0 {
		return nil
	}
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() < 2 {
		return err
	}
	for i := range 1024 {
		if !all.IsSet(i) {
			continue
		}
		if cpu == 0 {
			var one unix.CPUSet
			one.Set(i)
			return unix.SchedSetaffinity(0, &one)
		}
		cpu--
	}
	return nil
}

//go:build unix

package connlimit

import "syscall"

// Files is how many files this process may have open; negative where that is not known.
func Files() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return -1
	}
	return int(min(limit.Cur, 1<<30))
}

//go:build unix

package connlimit

import "syscall"

// Files returns how many files this process may have open, negative if unknown.
func Files() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return -1
	}
	return int(min(limit.Cur, 1<<30))
}

//go:build unix

package store

import (
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of what it takes the place of, or of its folder: root may look after the files
// of a node that runs as somebody else, who must be able to open them afterwards. Others than root cannot and need not.
func keepOwner(f *os.File, like string) {
	info, err := os.Stat(like)
	if err != nil || os.Geteuid() != 0 {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // where it fails, opening the file will tell
	}
}

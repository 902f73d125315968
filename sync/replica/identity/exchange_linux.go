package identity

import "golang.org/x/sys/unix"

// exchange has two files change their names, at one instant. Some file systems cannot.
func exchange(one, other string) error {
	return unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
}

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymousFile is memory of this process as a file.
func anonymousFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

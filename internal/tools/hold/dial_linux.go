package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// chooseLate lets the system choose a port only when it knows where the connection goes: before, it finds none that another connection of
// the same address has, however different its other end is.
func chooseLate(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
	if err == nil {
		err = failed
	}
	return err
}

package ddblocal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// startAlone runs the command in a network namespace of its own and returns a dialer into it.
func (p *process) startAlone() (dialer, error) {
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if err := p.run(); err != nil {
		return nil, err
	}
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", p.cmd.Process.Pid))
	if err == nil {
		err = inside(ns, loopbackUp)
	}
	if err != nil {
		p.end()
		return nil, err
	}
	return func(_ context.Context, _, addr string) (conn net.Conn, err error) {
		dialErr := inside(ns, func() error {
			conn, err = connect(addr)
			return err
		})
		return conn, dialErr
	}, nil
}

// inside calls f on a thread that is in the namespace. The thread ends with the goroutine, still locked, and takes the
// namespace with it.
func inside(ns *os.File, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}

// loopbackUp brings up the loopback interface, which is down in a new namespace.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	req, err := unix.NewIfreq("lo")
	if err == nil {
		req.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
	}
	return errors.Join(err, unix.Close(fd))
}

// connect is net.Dial on this thread: net may use others.
func connect(addr string) (net.Conn, error) {
	to, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), addr)
	defer func() { _ = f.Close() }() // FileConn has a descriptor of its own
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}); err != nil {
		return nil, err
	}
	return net.FileConn(f)
}

package ddblocal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/touchline/touchline/internal/testrig/process"
)

// startAlone runs a command in a new network namespace and returns a dialer of one of its loopback addresses.
func startAlone(cmd *exec.Cmd, addr string) (*process.Process, dialer, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	p, err := process.Start(cmd)
	if err != nil {
		return nil, nil, err
	}
	if err := inside(p.PID(), loopbackUp); err != nil {
		p.Kill()
		return nil, nil, err
	}
	return p, func(ctx context.Context) (conn net.Conn, err error) {
		dialErr := inside(p.PID(), func() error {
			conn, err = new(net.Dialer).DialContext(ctx, "tcp", addr) // for a numeric address, the socket is made on this thread
			return err
		})
		return conn, dialErr
	}, nil
}

// inside calls f on a thread in the namespace of a process. The thread ends with the goroutine, still locked, so that no other goroutine
// runs in the namespace.
func inside(pid int, f func() error) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer ns.Close() //nolint:errcheck // it was only read
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

// loopbackUp enables the loopback interface, which is down in a new namespace.
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

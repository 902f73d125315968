package process

import (
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start starts a command on one processor, counted from 0 among those that this process may use; on all if cpu is negative or there are
// too few.
func Start(cmd *exec.Cmd, cpu int) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
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
			_ = cmd.Wait() // how it ended says nothing: it may have been killed
		}
		close(done)
	}()
	return &Process{cmd, done}, <-started
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

package process

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a command.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	done, started := make(chan struct{}), make(chan error)
	go func() {
		// A child is killed when the thread that started it ends. The thread is never given back, so it ends with this
		// goroutine, which waits for the child.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended says nothing: it may have been killed
		}
		close(done)
	}()
	return &Process{cmd, done}, <-started
}

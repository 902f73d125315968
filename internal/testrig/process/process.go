// Package process runs programs that never outlive the process that started them, however it ends. On systems other than Linux they may.
package process

import (
	"os/exec"
	"time"
)

// Process is a started program.
type Process struct {
	Cmd    *exec.Cmd
	Exited <-chan struct{} // closed when it has ended
}

// PID returns the process id.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

// Await waits until the program ends, and kills it after the given time.
func (p *Process) Await(within time.Duration) {
	select {
	case <-p.Exited:
	case <-time.After(within):
		p.Kill()
	}
}

// Kill kills the program and waits until it has ended.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Exited
}

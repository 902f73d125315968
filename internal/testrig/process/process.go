// Package process runs programs that never outlive the process that started them, however that one ends. Elsewhere than on Linux
// they may.
package process

import (
	"os/exec"
	"time"
)

// Process is a program that has been started.
type Process struct {
	Cmd    *exec.Cmd
	Exited <-chan struct{} // closed when it has ended
}

// PID is its number.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

// Await waits until it has ended by itself, and kills it after a while.
func (p *Process) Await(within time.Duration) {
	select {
	case <-p.Exited:
	case <-time.After(within):
		p.Kill()
	}
}

// Kill ends it as a crash does, and waits until it has ended.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Exited
}

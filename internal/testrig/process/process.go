// Package process runs programs that never outlive the process that started them, however it ends. On systems other than Linux they may.
package process

import (
	"os/exec"
	"time"

	"github.com/touchline/touchline/internal/testrig/wait"
)

// Process is a started program.
type Process struct {
	Cmd    *exec.Cmd
	Exited <-chan struct{} // closed when it has ended
}

// PID returns the process id.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

// Await waits until the program ends, which takes less than the given time on an idle machine. One that hangs is killed.
func (p *Process) Await(within time.Duration) {
	if wait.Try(within, "the program ends", p.HasExited) != nil {
		p.Kill()
	}
}

// HasExited reports whether the program has ended.
func (p *Process) HasExited() bool {
	select {
	case <-p.Exited:
		return true
	default:
		return false
	}
}

// Kill kills the program and waits until it has ended.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Exited
}

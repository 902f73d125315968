package measure

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/touchline/touchline/internal/testrig/process"
)

// Start starts a program and returns the first line that it prints.
func Start(cmd *exec.Cmd) (p *process.Process, line string, err error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if p, err = process.Start(cmd); err != nil {
		return nil, "", err
	}
	if line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		p.Kill()
		return nil, "", fmt.Errorf("%s prints nothing: %w", cmd.Path, err)
	}
	return p, strings.TrimSuffix(line, "\n"), nil
}

// processorTime returns the processor time used by a process so far, by this one if pid is 0. It is 0 if the system does not report it.
func processorTime(pid int) time.Duration {
	if pid == 0 {
		return ownTime()
	}
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// Memory is the resident memory of a process, in MB.
type Memory struct {
	Peak      float64 `json:"peak"` // the maximum so far
	Resident  float64 `json:"resident"`
	Anonymous float64 `json:"anonymous"` // the part that is not file pages
}

// MemoryOf returns the memory of a process, zeros if the system does not report it.
func MemoryOf(pid int) Memory {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return Memory{}
	}
	s, err := p.NewStatus()
	if err != nil {
		return Memory{}
	}
	const mb = 1 << 20
	return Memory{float64(s.VmHWM) / mb, float64(s.VmRSS) / mb, float64(s.RssAnon) / mb}
}

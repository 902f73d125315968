package measure

import (
	"time"

	"github.com/prometheus/procfs"
)

// ErrMemory is why there is no figure where the system does not tell one.
const ErrMemory = "the system does not tell a process's memory"

// ProcessTime is the processor time that another process has used so far; 0 where the system does not tell.
func ProcessTime(pid int) time.Duration {
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

// Memory is what a process has resident, in MB.
type Memory struct {
	Peak      float64 // the most it ever had
	Resident  float64
	Anonymous float64 // of it, what is no file
}

// MemoryOf reads the memory of a process. It is false where the system does not tell.
func MemoryOf(pid int) (Memory, bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return Memory{}, false
	}
	s, err := p.NewStatus()
	const mb = 1 << 20
	return Memory{float64(s.VmHWM) / mb, float64(s.VmRSS) / mb, float64(s.RssAnon) / mb}, err == nil
}

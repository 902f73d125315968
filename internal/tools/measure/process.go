package measure

import (
	"time"

	"github.com/prometheus/procfs"
)

// ErrMemory is the reason for a missing figure about memory.
const ErrMemory = "the system does not report a process's memory"

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
	Peak      float64 // the maximum so far
	Resident  float64
	Anonymous float64 // the part that is not file pages
}

// MemoryOf reads the memory of a process. It returns false if the system does not report it.
func MemoryOf(pid int) (Memory, bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return Memory{}, false
	}
	s, err := p.NewStatus()
	const mb = 1 << 20
	return Memory{float64(s.VmHWM) / mb, float64(s.VmRSS) / mb, float64(s.RssAnon) / mb}, err == nil
}

package simulation_test

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
)

// diskFaults concern the disk below the store, and the replacement of the program above it. Damage to single sectors is left to the
// store's own tests: here a commit is complete or absent, and all earlier ones are there.
func diskFaults() []mishap {
	return []mishap{
		{"disk full", 120, 4, running((*sim).fillDisk)}, // rarely: which commit reaches the limit depends on bbolt's maps
		{"upgrade with a full queue", 400, 0, running(func(_ *sim, l *simLife) {
			l.link.SetMode(simcloud.NoDNS)
			for range 40 {
				l.operate()
			}
			l.n.kill()
			l.n.start()
		})},
		{"fsync EIO", 120, 4, running(func(s *sim, l *simLife) { l.n.breaks(syncFails, s) })},
		{"power cut", 120, 4, running(func(s *sim, l *simLife) { l.n.breaks(powerFails, s) })},
		{"slow fsync", 40, 4, running(func(s *sim, l *simLife) { l.n.breaks(syncCrawls, s) })},
	}
}

// diskFault is what will happen at a commit of a machine.
type diskFault struct {
	kind diskKind
	in   int  // commits until it happens
	late bool // the commit is on disk by then
}

type diskKind int

const (
	syncFails  diskKind = iota + 1 // EIO: unknown what is on disk
	powerFails                     // the machine loses power
	syncCrawls                     // it takes seconds
)

var errDisk = errors.New("input/output error")

// breaks plans a fault of the machine's disk.
func (n *simNode) breaks(kind diskKind, s *sim) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = diskFault{kind: kind, in: 1 + s.luck.n(12), late: kind == syncCrawls || s.luck.once(2)}
}

// watchCommits makes the store's failpoints consult the machines' disks. A store reads its machine's clock when a transaction begins, and
// no time passes until it commits: the process that commits is the one that read it last.
func (s *sim) watchCommits() (stop func()) {
	return failpoint.Arm(func(p failpoint.Point) error {
		if l := s.writer.Load(); l != nil && (p == failpoint.CommitReserved || p == failpoint.CommitWritten) {
			l.commits(p == failpoint.CommitWritten)
		}
		return nil
	})
}

// commits is called for each commit of a process, before it is written and after.
func (l *simLife) commits(written bool) {
	n, s := l.n, l.n.s
	n.mu.Lock()
	f := &n.broken
	due := f.kind != 0 && f.late == written
	if due {
		f.in--
		due = f.in == 0
	}
	kind := f.kind
	if due {
		n.broken = diskFault{}
	}
	n.mu.Unlock()
	if !due || l.dead.Load() || l.store == nil {
		return
	}
	switch kind {
	case syncFails:
		s.trace("%s fsync fails, written %v", n.name, written)
		s.net.Count(map[bool]string{false: "fsync EIO, the commit is lost", true: "fsync EIO, the commit is there"}[written])
		panic(errDisk) // the store treats it as an I/O failure
	case powerFails:
		s.net.Count(map[bool]string{false: "power cut, the commit is lost", true: "power cut, the commit is there"}[written])
		l.dies("a power cut")
	case syncCrawls:
		s.trace("%s fsync takes its time", n.name)
		s.net.Count("slow commit")
		s.sleep(s.luck.span(10*time.Millisecond, 8*time.Second))
	}
}

// guard ends the process when its store has failed, as the program does.
func (l *simLife) guard() {
	select {
	case <-l.ctx.Done():
		return
	case <-l.store.Failed():
	}
	s := l.n.s
	s.sleep(s.luck.span(time.Microsecond, time.Second)) // nothing acknowledged in the meantime may count as done
	if l.ctx.Err() == nil {
		l.dies("its store has failed")
	}
}

// fillDisk gives the file no room for a while.
func (s *sim) fillDisk(l *simLife) {
	n := l.n
	n.kill()
	info, err := os.Stat(filepath.Join(n.disk, "store.db"))
	if err != nil {
		s.violate("%v", err)
		return
	}
	n.maxSize = int(info.Size())
	s.net.Count("ENOSPC")
	n.start()
	if l := n.up(); l != nil && s.luck.once(2) {
		l.readForLong()
	}
	for range 60 {
		if l := n.up(); l != nil {
			l.operate()
		}
		s.sleep(s.span(time.Millisecond, 300*time.Millisecond))
	}
	n.maxSize = 0
	n.kill()
	n.start()
}

// readForLong keeps a View open for a while, so that no freed page can be reused.
func (l *simLife) readForLong() {
	l.n.s.net.Count("ENOSPC with a long reader")
	l.readers.Add(1)
	l.work.Go(func() {
		defer l.readers.Add(-1)
		_ = l.store.View(l.ctx, func(*store.Tx) error {
			return l.n.s.timer.Sleep(l.ctx, l.n.s.luck.span(time.Second, 30*time.Second))
		})
	})
}

package simulation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// copyFaults are of machines that are put back to an earlier state, or run twice.
func copyFaults() []mishap {
	return []mishap{
		{"snapshot", 100, 0, (*sim).snapshot},
		{"snapshot restored", 250, 0, (*sim).restoreSnapshot},
		{"clone running", 700, 0, (*sim).clone},
	}
}

// snap is a machine's disk at some moment.
type snap struct {
	dir  string
	disk disk
	used bool // the machine was put back to it before

	sent, rows int // how many requests had left the machine, and how often its row in the cloud had been written
}

// told counts what a node has sent, and how often it has written its row.
func (b *book) told(node string) (sent, rows int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left[node], b.rows[node]
}

// snapshot keeps a machine's disk as it is.
func (s *sim) snapshot(n *simNode) bool {
	l := n.up()
	if l == nil || len(n.snaps) > 1 || len(n.snaps) == 1 && (s.cloudGoesBack() || s.luck.once(2)) {
		return false
	}
	dir := filepath.Join(s.dir, fmt.Sprintf("%s.%d.snap", n.name, s.count()))
	if err := copyDir(l.dir, dir); err != nil {
		s.violate("%v", err)
	}
	sn := &snap{dir: dir, disk: s.book.disk(n.name)}
	sn.sent, sn.rows = s.book.told(n.name)
	n.snaps = append(n.snaps, sn)
	s.trace("%s snapshot taken", n.name)
	return true
}

// cloudGoesBack reports whether the seed's cloud is restored, or a table recreated. No machine may then be put back to before that, so
// its snapshots go.
func (s *sim) cloudGoesBack() bool { return s.seed%8 == 4 || s.seed%8 == 6 }

// chooses returns the snapshot that a machine is put back to, and keeps it for another time now and then: that may be one
// of a time that was lost meanwhile. nil: there is none.
func (s *sim) chooses(n *simNode) *snap {
	if len(n.snaps) == 0 {
		return nil
	}
	i := s.luck.n(len(n.snaps))
	sn := n.snaps[i]
	if sent, rows := s.book.told(n.name); sent > sn.sent && rows == sn.rows {
		return nil // what has sent for less than a minute, and not written its row, leaves nothing to be noticed by (DESIGN, Limits)
	}
	if sn.used {
		s.net.Count("put back to a snapshot once more")
	}
	sn.used = true
	if s.cloudGoesBack() || s.luck.once(2) {
		n.snaps = slices.Delete(n.snaps, i, i+1)
	}
	return sn
}

// restoreSnapshot puts the machine back to a snapshot: in whole, or its store alone as from a backup.
func (s *sim) restoreSnapshot(n *simNode) bool {
	sn := s.chooses(n)
	if sn == nil {
		return false
	}
	n.kill()
	last := n.disk
	n.disk = sn.dir
	if s.once(2) && last != "" {
		s.net.Count("older file beside its identity")
		dir := fmt.Sprintf("%s.mixed%d", sn.dir, n.runs)
		err := copyDir(last, dir)
		if err == nil {
			err = os.Remove(filepath.Join(dir, "store.db"))
		}
		if err == nil {
			err = copyFile(filepath.Join(sn.dir, "store.db"), filepath.Join(dir, "store.db"))
		}
		if err != nil {
			s.violate("%v", err)
		}
		n.disk = dir
	}
	s.trace("%s is put back to its snapshot", n.name)
	s.book.putBack(n.name, sn.disk)
	n.restored = true
	if points := []string{"identity-new", "identity-incarnation", "identity-flagged"}; s.luck.n(4) > 0 {
		n.killAt.Store(&points[s.luck.n(len(points))]) // while it finds out
	}
	clear(n.reads)
	n.forgets()
	n.start()
	return true
}

// clone runs a copy of a machine beside it for a while, by mistake. Both find out.
func (s *sim) clone(n *simNode) bool {
	l := n.up()
	if l == nil || s.seed%8 != 5 { // two that write under one name are told apart only when they have met
		return false
	}
	s.book.clones(n.name)
	dir := filepath.Join(s.dir, fmt.Sprintf("%s.%d.clone", n.name, n.runs))
	if err := copyDir(l.dir, dir); err != nil {
		s.violate("%v", err)
	}
	c := newSimNode(s, n.name)
	c.disk, c.runs = dir, 1000+n.runs
	s.trace("%s is cloned", n.name)
	c.start()
	for range 30 {
		s.sleep(s.span(10*time.Millisecond, 4*time.Second))
		for _, l := range []*simLife{n.up(), c.up()} {
			if l != nil && s.once(3) {
				l.operate()
			}
		}
	}
	c.kill()
	s.book.lostRuns(n.name, c.runs)
	n.kill()
	n.start()
	return true
}

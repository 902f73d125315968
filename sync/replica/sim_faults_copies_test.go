package replica_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// copyFaults are of machines that are put back to an earlier state, or run twice.
func copyFaults() []mishap {
	return []mishap{
		{"snapshot", 150, 0, (*sim).snapshot},
		{"snapshot restored", 500, 0, (*sim).restoreSnapshot},
		{"clone running", 700, 0, (*sim).clone},
	}
}

// snap is a machine's disk at some moment.
type snap struct {
	dir string
	ops int // how many writes had been acknowledged

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
	if l == nil || n.snap != nil {
		return false
	}
	dir := filepath.Join(s.dir, fmt.Sprintf("%s.%d.snap", n.name, n.runs))
	if err := copyDir(l.dir, dir); err != nil {
		s.violate("%v", err)
	}
	n.snap = &snap{dir: dir, ops: s.book.acked(n.name)}
	n.snap.sent, n.snap.rows = s.book.told(n.name)
	s.trace("%s snapshot taken", n.name)
	return true
}

// restoreSnapshot puts the machine back to its snapshot: in whole, or its store alone as from a backup.
func (s *sim) restoreSnapshot(n *simNode) bool {
	if n.snap == nil {
		return false
	}
	if sent, rows := s.book.told(n.name); sent > n.snap.sent && rows == n.snap.rows {
		return false // what has sent for less than a minute, and not written its row, leaves nothing to be noticed by (DESIGN, Limits)
	}
	n.kill()
	last := n.disk
	n.disk = n.snap.dir
	if s.once(2) && last != "" {
		s.net.Count("older file beside its identity")
		dir := n.snap.dir + ".mixed"
		err := copyDir(last, dir)
		if err == nil {
			err = os.Remove(filepath.Join(dir, "store.db"))
		}
		if err == nil {
			err = copyFile(filepath.Join(n.snap.dir, "store.db"), filepath.Join(dir, "store.db"))
		}
		if err != nil {
			s.violate("%v", err)
		}
		n.disk = dir
	}
	s.trace("%s is put back to its snapshot", n.name)
	s.book.lost(n.name, n.snap.ops)
	n.snap = nil
	n.restored = true
	if points := []string{"identity-new", "identity-incarnation", "identity-flagged"}; s.luck.once(2) {
		n.killAt.Store(&points[s.luck.n(len(points))]) // while it finds out
	}
	clear(n.reads)
	n.start()
	return true
}

// clone runs a copy of a machine beside it for a while: nobody meant that, and both find out.
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

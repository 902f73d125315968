package simulation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// copyFaults restore machines to an earlier state, or run them twice.
func copyFaults() []mishap {
	return []mishap{
		{"snapshot", 100, 0, (*sim).snapshot},
		{"snapshot restored", 250, 0, (*sim).restoreSnapshot},
		{"old disk comes back", 250, 0, (*sim).startOldDisk},
		{"clone running", 700, 0, (*sim).clone},
	}
}

// snap is a snapshot of a machine's disk.
type snap struct {
	dir  string
	disk disk
	used bool // the machine was restored to it before

	sent, rows int // how many requests the machine had sent, and how often its row in the cloud had been written
}

// activity counts what a node has sent, and how often its row was written.
func (b *book) activity(node string) (sent, rows int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left[node], b.rows[node]
}

// snapshot saves a machine's disk.
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
	sn.sent, sn.rows = s.book.activity(n.name)
	n.snaps = append(n.snaps, sn)
	s.trace("%s snapshot taken", n.name)
	return true
}

// cloudGoesBack reports whether the seed's cloud is restored, or a table recreated. No machine may then be restored to a time before
// that, so its snapshots are dropped.
func (s *sim) cloudGoesBack() bool { return s.seed%8 == 4 || s.seed%8 == 6 }

// chooses returns the snapshot that a machine is restored to, and now and then keeps it for another time: it may then be from a timeline
// that was lost meanwhile. nil: there is none.
func (s *sim) chooses(n *simNode) *snap {
	if len(n.snaps) == 0 {
		return nil
	}
	i := s.luck.n(len(n.snaps))
	sn := n.snaps[i]
	if sent, rows := s.book.activity(n.name); sent > sn.sent && rows == sn.rows {
		return nil // sending for less than a minute without writing the row leaves nothing to notice it by (DESIGN, Limits)
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

// restoreSnapshot restores the machine to a snapshot: the whole disk, or only its store as from a backup.
func (s *sim) restoreSnapshot(n *simNode) bool {
	sn := s.chooses(n)
	if sn == nil {
		return false
	}
	n.kill()
	last := n.disk
	s.keepOldDisk(n)
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
	s.startOn(n, sn)
	return true
}

// keepOldDisk keeps the disk of a machine that is replaced, with all that it has acknowledged.
func (s *sim) keepOldDisk(n *simNode) {
	if s.cloudGoesBack() || n.disk == "" || len(n.olds) > 1 {
		return
	}
	old := &snap{dir: n.disk, disk: s.book.disk(n.name)}
	old.sent, old.rows = s.book.activity(n.name)
	n.olds = append(n.olds, old)
}

// startOldDisk starts a disk again that was replaced earlier. What was acknowledged on it holds again; the present disk is replaced, and may
// come back too.
func (s *sim) startOldDisk(n *simNode) bool {
	if len(n.olds) == 0 || n.up() == nil {
		return false
	}
	i := s.luck.n(len(n.olds))
	old := n.olds[i]
	if sent, rows := s.book.activity(n.name); sent > old.sent && rows == old.rows {
		return false // nothing to notice it by, as in chooses
	}
	n.olds = slices.Delete(n.olds, i, i+1)
	n.kill()
	s.keepOldDisk(n)
	n.disk = old.dir
	s.trace("%s is started on its old disk", n.name)
	s.startOn(n, old)
	return true
}

// forgetUnnoticed drops the snapshots of a machine that is replaced whose later state has sent, and written its row no more under a nonce
// that the snapshot does not know: only marks would show what was sent (DESIGN, Limits).
func (s *sim) forgetUnnoticed(n *simNode) {
	sent, _ := s.book.activity(n.name)
	nonce := s.cloud.Item(simSync, attr.Item{intent.SyncKey: attr.S(intent.NodeID(n.name))})["nonce"].Str()
	n.snaps = slices.DeleteFunc(n.snaps, func(sn *snap) bool {
		file, err := os.ReadFile(filepath.Join(sn.dir, "identity.json"))
		if err != nil {
			s.violate("%v", err)
		}
		return sent > sn.sent && nonce != "" && strings.Contains(string(file), nonce)
	})
}

// startOn starts a machine on a disk of an earlier time, which is its disk already.
func (s *sim) startOn(n *simNode, sn *snap) {
	s.forgetUnnoticed(n)
	s.book.putBack(n.name, sn.disk)
	n.restored = true
	if points := []string{"identity-new", "identity-incarnation", "identity-flagged"}; s.luck.n(4) > 0 {
		n.killAt.Store(&points[s.luck.n(len(points))]) // while it notices the restore
	}
	clear(n.reads)
	n.forgets()
	n.start()
}

// clone runs a copy of a machine beside it for a while, by mistake. Both notice it.
func (s *sim) clone(n *simNode) bool {
	l := n.up()
	if l == nil || s.seed%8 != 5 { // two nodes of one name can be distinguished only once they have met
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

package replica_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// mishap is something that happens to the world. rare says in one of how many events.
type mishap struct {
	name string
	rare int
	do   func(*sim, *simNode)
}

func mishaps() []mishap {
	return []mishap{
		{"lasting fault", 40, func(s *sim, n *simNode) {
			if l := n.up(); l != nil {
				modes := simcloud.Modes()
				mode := modes[s.n(len(modes))]
				l.link.SetMode(mode)
				s.trace("%s network: %s", n.name, mode)
				s.timer.After(s.span(300*time.Millisecond, 3*time.Minute), func() { l.link.SetMode(simcloud.None) })
			}
		}},
		{"crash", 90, func(_ *sim, n *simNode) { n.kill() }},
		{"crash at a failpoint", 60, func(s *sim, n *simNode) {
			if n.up() != nil && n.killIn.Load() == 0 {
				n.killIn.Store(int32(1 + s.n(40)))
			}
		}},
		{"crash loop", 400, func(s *sim, n *simNode) {
			for range 3 {
				n.kill()
				n.start()
				s.sleep(s.span(time.Millisecond, 2*time.Second))
			}
		}},
		{"start", 15, func(_ *sim, n *simNode) {
			if n.up() == nil {
				n.start()
			}
		}},
		{"pause 25 s", 250, func(s *sim, n *simNode) { n.pause(25*time.Second, false) }},
		{"suspend", 300, func(s *sim, n *simNode) { n.pause(s.span(time.Second, 10*time.Minute), true) }},
		{"clock step", 150, func(s *sim, n *simNode) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.offset += s.about(2 * time.Hour)
		}},
		{"clock right", 100, func(_ *sim, n *simNode) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.offset = 0
		}},
		{"1970 at boot", 400, func(s *sim, n *simNode) {
			n.kill()
			n.mu.Lock()
			n.offset = -time.Since(time.Unix(100, 0))
			n.mu.Unlock()
			n.start()
		}},
		{"snapshot", 150, (*sim).snapshot},
		{"snapshot restored", 500, (*sim).restoreSnapshot},
		{"clone running", 700, (*sim).clone},
		{"lock row deleted by hand", 300, func(s *sim, _ *simNode) {
			_ = s.foreign().Delete(simLocks, attr.Item{"lockKey": attr.S("match:m0")})
		}},
		{"lock row of the original application", 400, func(s *sim, _ *simNode) {
			_ = s.foreign().Put(simLocks, attr.Item{
				"lockKey": attr.S("match:m1"), "holder": attr.S("original"),
				"expiresAt": attr.Int(time.Now().Add(s.span(time.Second, 20*time.Second)).UnixMilli()),
			})
		}},
		{"TTL", 30, func(s *sim, _ *simNode) {
			early := s.span(0, 2*time.Second)
			if s.once(2) {
				early = -s.span(0, 10*time.Minute)
			}
			if n := s.cloud.Expire(time.Now().Add(early)); n > 0 && early > 0 {
				s.net.Count("TTL early")
			} else if n > 0 {
				s.net.Count("TTL late")
			}
		}},
		{"cloud restored to T-k", 1500, func(s *sim, _ *simNode) {
			if s.seed%8 != 4 { // what it takes from others is not judged in the others
				return
			}
			to := time.Now().Add(-s.span(time.Second, 5*time.Minute))
			s.cloud.Restore(to, appTables()...)
			s.book.restored(to)
		}},
		{"disk full", 400, (*sim).fillDisk},
		{"upgrade with a full queue", 400, func(s *sim, n *simNode) {
			l := n.up()
			if l == nil {
				return
			}
			l.link.SetMode(simcloud.NoDNS)
			for range 40 {
				l.operate()
			}
			n.kill()
			n.start()
		}},
		{"foreign", 6, func(s *sim, _ *simNode) { s.foreignWrite() }},
	}
}

func appTables() (names []string) {
	for _, spec := range simSpecs() {
		if spec.Policy != store.PolicyLocal {
			names = append(names, spec.Name)
		}
	}
	return names
}

func (s *sim) foreign() simcloud.Foreign { return simcloud.Foreign{Cloud: s.cloud, Name: "foreign"} }

// foreignWrite is the original backend at work on what nodes share.
func (s *sim) foreignWrite() {
	f, id := s.foreign(), s.id("foreign")
	key := itemKey(s)
	var err error
	switch s.n(7) {
	case 0:
		s.net.Count("foreign PutItem")
		err = f.Put("items", attr.Item{"pk": key["pk"], "v": attr.S(id)})
	case 1:
		s.net.Count("foreign DeleteItem")
		err = f.Delete("items", key)
	case 2: // what it read, sidecar and all, with one change
		s.net.Count("foreign read-modify-put")
		if it := s.cloud.Item("items", key); it != nil {
			it = maps.Clone(it)
			it["v"] = attr.S(id)
			err = f.Put("items", it)
		}
	case 3:
		s.book.foreignCounts("c0", 5)
		err = f.Update("counters", pk("c0"), "ADD n :k", expr.Params{Values: attr.Item{":k": attr.Int(5)}})
	case 4:
		err = f.Update("settings", pk(fmt.Sprintf("s%d", s.n(3))), "SET v = :v", expr.Params{Values: attr.Item{":v": attr.S(id)}})
	default:
		s.net.Count("foreign UpdateItem")
		err = f.Update("items", key, "SET "+string(rune('a'+s.n(3)))+" = :v", expr.Params{Values: attr.Item{":v": attr.S(id)}})
	}
	if err != nil {
		s.violate("a foreign write: %v", err)
	}
}

// snapshot keeps a machine's disk as it is.
func (s *sim) snapshot(n *simNode) {
	l := n.up()
	if l == nil || n.snap != nil {
		return
	}
	dir := filepath.Join(s.dir, fmt.Sprintf("%s.%d.snap", n.name, n.runs))
	if err := copyDir(l.dir, dir); err != nil {
		s.violate("%v", err)
	}
	n.snap = &snap{dir: dir, ops: s.book.acked(n.name)}
	s.trace("%s snapshot taken", n.name)
}

// restoreSnapshot puts the machine back to its snapshot: in whole, or its store alone as from a backup.
func (s *sim) restoreSnapshot(n *simNode) {
	if n.snap == nil {
		return
	}
	n.kill()
	last := n.disk
	n.disk = n.snap.dir
	s.net.Count("snapshot restored")
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
	n.start()
}

// clone runs a copy of a machine beside it for a while: nobody meant that, and both find out.
func (s *sim) clone(n *simNode) {
	l := n.up()
	if l == nil || s.seed%8 != 5 { // two that write under one name are told apart only when they have met
		return
	}
	s.book.clones(n.name)
	dir := filepath.Join(s.dir, fmt.Sprintf("%s.%d.clone", n.name, n.runs))
	if err := copyDir(l.dir, dir); err != nil {
		s.violate("%v", err)
	}
	c := &simNode{s: s, name: n.name, disk: dir, rate: 1, runs: 1000 + n.runs}
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
}

// fillDisk gives the file no room for a while.
func (s *sim) fillDisk(n *simNode) {
	l := n.up()
	if l == nil {
		return
	}
	n.kill()
	info, err := os.Stat(filepath.Join(n.disk, "store.db"))
	if err != nil {
		s.violate("%v", err)
		return
	}
	n.maxSize = int(info.Size())
	s.net.Count("ENOSPC")
	n.start()
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

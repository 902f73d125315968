package simulation_test

import (
	"context"
	"errors"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
)

// What makes histories difficult: most seeds have their own constants of the protocol, and faults come in clusters, on one item and on
// the nodes that work on it.

// usual reports whether a seed's world has the constants of production.
func usual(seed uint64) bool { return picked(seed, "usual limits", 4) }

// limits returns the limits of all nodes of a seed.
func (s *sim) limits() replica.Limits {
	l := replica.UsualLimits()
	if usual(s.seed) {
		return l
	}
	d := newDice(s.seed, 0x6c696d)
	l.Marks = d.n(3)
	l.Signed = d.span(20*time.Second, 3*time.Minute)
	l.Tell = d.span(time.Second, time.Minute)
	l.Page = 1 + d.n(4)
	l.Aside = 1 + d.n(8)
	l.Scan = 1 + d.n(4)
	l.InFlight = 1 + d.n(8)
	l.Folds = d.n(4)
	l.Heads = 1 + d.n(2)
	if s.seed%8 == 4 {
		l.Marks = replica.UsualLimits().Marks // a restore puts back writes from further back than marks are kept here
	}
	return l
}

// clusterFaults are several faults within some seconds.
func clusterFaults() []mishap {
	return []mishap{
		{"cluster", 25, 0, (*sim).cluster},
		{"unreadable for a while", 150, 2, running((*sim).unreadable)},
	}
}

// answersLost are faults after which a node cannot know whether what it sent was done.
func answersLost() []simcloud.Fault {
	return []simcloud.Fault{
		simcloud.DropAnswer, simcloud.ErrorApplied, simcloud.LateLost, simcloud.LateCopy, simcloud.ResetMidBody, simcloud.Duplicate,
		simcloud.DropRequest, simcloud.ErrorDropped,
	}
}

// cluster is some seconds in which two nodes and a foreign writer work on one item, answers are lost, and processes die between an answer
// and its record.
func (s *sim) cluster(n *simNode) bool {
	if usual(s.seed) {
		return false
	}
	s.hot = 1 + max(0, s.luck.n(10)-4) // the first is the one that transactions have a condition on
	defer func() { s.hot = 0 }()
	other := s.nodes[s.luck.n(len(s.nodes))]
	faults := answersLost()
	for range 3 + s.luck.n(6) {
		for _, at := range []*simNode{n, other} {
			l := at.up()
			if l == nil {
				continue
			}
			for range 1 + s.luck.n(2) {
				l.contend()
				synctest.Wait()
			}
			switch s.luck.n(4) {
			case 0:
				l.link.Next(faults[s.luck.n(len(faults))])
			case 1:
				l.link.Next(faults[s.luck.n(len(faults))], faults[s.luck.n(len(faults))])
			}
		}
		for range s.luck.n(3) {
			s.foreignWrite()
		}
		s.sleep(s.luck.span(time.Millisecond, 2*time.Second))
		switch s.luck.n(8) {
		case 0:
			n.killAt.Store(new([]string{"answer", "settle", "settled", "attempted", "send"}[s.luck.n(5)]))
		case 1:
			n.kill()
		case 2:
			n.pause(s.luck.span(time.Second, time.Minute), s.luck.once(2))
		}
		if n.up() == nil {
			n.start()
		}
		if s.broken() {
			break
		}
	}
	return true
}

// contend makes an application write the item that everybody writes at the moment.
func (l *simLife) contend() {
	s := l.n.s
	names := []string{
		"create", "put", "set", "set if seen", "put what was read", "delete", "delete if seen", "delete if seen", "count", "row", "pair", "pair", "setting",
	}
	name := names[s.luck.n(len(names))]
	for _, o := range operations() {
		if o.name == name {
			l.write(o.name, func(w *writing) error { return o.do(w, s) })
		}
	}
}

// unreadable damages a node's record of a counter while the answer to a write on it arrives: that write cannot be settled while others
// are, and the process dies before it can be.
func (s *sim) unreadable(l *simLife) {
	key := pk([]string{"c0", "c1", "c2"}[s.luck.n(3)])
	count := func(l *simLife) {
		l.write("count", func(w *writing) error {
			return w.update("counters", key, "", 1, "ADD n :k", "", attr.Item{":k": attr.Int(1)})
		})
	}
	count(l)
	s.sleep(s.luck.span(time.Millisecond, 10*time.Millisecond))
	at, was := l.damage(key)
	if at == nil {
		return
	}
	s.trace("%s cannot read what it has of %s", l.n.name, keyText(key))
	for range 8 {
		s.sleep(s.luck.span(10*time.Millisecond, 300*time.Millisecond))
		if l.n.up() == l {
			l.operate()
			synctest.Wait()
		}
	}
	n := l.n
	n.killAt.Store(nil)
	n.killIn.Store(0)
	if n.up() == nil {
		n.start()
	}
	if l = n.up(); l == nil {
		return
	}
	l.set(at, was)
	n.damaged.Store(false)
	if s.luck.once(2) {
		n.kill()
		n.start()
	}
	if l = n.up(); l != nil {
		count(l)
	}
}

// damage makes the node's record of a counter unreadable; nil: there is none.
func (l *simLife) damage(key attr.Item) (at, was []byte) {
	_ = l.store.View(context.Background(), func(tx *store.Tx) error {
		raw, err := tx.RawKey("counters", key)
		if err != nil {
			return err
		}
		k := append([]byte("counters\x00"), raw...)
		v, err := tx.Side("shadow").Get(k)
		if err == nil && v != nil {
			at, was = k, append([]byte(nil), v...)
		}
		return err
	})
	if at != nil {
		l.n.damaged.Store(true)
		l.set(at, []byte("unreadable"))
	}
	return at, was
}

func (l *simLife) set(key, value []byte) {
	err := l.store.Update(context.Background(), func(tx *store.Tx) error { return tx.Side("shadow").Set(key, value) })
	if err != nil && !l.dead.Load() && l.store.Err() == nil && !errors.Is(err, errKilled) {
		l.n.s.violate("%s: %v", l.n.name, err)
	}
}

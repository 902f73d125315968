package simulation_test

import (
	"fmt"
	"maps"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
)

// plots are clusters with a purpose: each brings about, within seconds, the situation that one guard of the protocol exists for.
func plots() []mishap {
	return []mishap{
		{"a lock is taken over", 40, 2, (*sim).takeover},
		{"a condition comes back", 30, 2, running((*sim).comesBack)},
		{"a page is lost", 25, 2, running((*sim).losesPage)},
		{"put back within seconds", 60, 3, (*sim).putBackSoon},
		{"expired on its way", 40, 3, running((*sim).expiresOnItsWay)},
		{"a write falls with others", 15, 4, running((*sim).fallsWithOthers)},
		{"a stamp far ahead", 60, 3, always((*sim).stampAhead)},
		{"the cloud has transactions now", 1, 0, (*sim).gainsTransactions},
	}
}

// dwells reports whether a seed concentrates on something, which then happens ten times as often.
func (s *sim) dwells(what string) bool {
	switch what {
	case "cloud restored to T-k":
		return s.seed%8 == 4
	case "clone running":
		return s.seed%8 == 5
	case "snapshot", "snapshot restored", "old disk comes back":
		return !s.cloudGoesBack() && picked(s.seed, "machines put back", 3)
	}
	return false
}

// takeover lets another node take a lock while its holder's state is in flight: what the holder sends is lost, and sometimes its machine
// pauses once its renewal is answered.
func (s *sim) takeover(*simNode) bool {
	for _, n := range s.nodes {
		l := n.up()
		if l == nil {
			continue
		}
		match, held := l.holding()
		if held == nil {
			continue
		}
		s.trace("the lock of %s is taken over from %s", match, n.name)
		switch s.luck.n(4) {
		case 0, 1:
			s.slowRenewal(l)
			return true
		case 2: // often its machine does not pause
			l.link.Next(simcloud.LateLost, simcloud.LateLost)
			l.poll(match, held.Fence())
			s.sleep(s.luck.span(time.Millisecond, 100*time.Millisecond))
			_ = s.foreign().Delete(simLocks, attr.Item{"lockKey": attr.S("match:" + match)})
			s.rest(25 * time.Second)
			return true
		}
		for range 4 + s.luck.n(8) {
			l.link.Next(simcloud.DropRequest)
		}
		l.poll(match, held.Fence())
		s.sleep(s.luck.span(time.Millisecond, 100*time.Millisecond))
		n.pause(s.luck.span(12*time.Second, 40*time.Second), s.luck.once(2))
		s.rest(50 * time.Second)
		return true
	}
	return false
}

// slowRenewal pauses a machine when the cloud has accepted a renewal, and cuts its network when it resumes.
func (s *sim) slowRenewal(l *simLife) {
	l.n.pausesRenewed.Store(true)
	for range 60 {
		s.rest(250 * time.Millisecond)
		if !l.n.pausesRenewed.Load() {
			break
		}
	}
	l.n.pausesRenewed.Store(false)
	l.link.SetMode(simcloud.Partition)
	s.rest(14 * time.Second)
	l.link.SetMode(simcloud.None)
}

// rest lets time pass, and checks locks meanwhile.
func (s *sim) rest(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end) && !s.broken(); {
		s.sleep(min(time.Until(end), 200*time.Millisecond))
		for _, n := range s.nodes {
			if l := n.up(); l != nil {
				s.book.terms(l)
			}
		}
		synctest.Wait()
	}
}

// holding returns a lock that the process holds, or nil.
func (l *simLife) holding() (match string, held *lease.Lease) {
	l.turnsMu.Lock()
	defer l.turnsMu.Unlock()
	for m := range simMatches {
		match = fmt.Sprintf("m%d", m)
		if held = l.held[match]; held != nil && held.Err() == nil {
			return match, held
		}
	}
	return "", nil
}

// comesBack makes the condition of writes hold, fail, and hold again, while copies of the writes are in flight.
func (s *sim) comesBack(l *simLife) {
	if s.plain && s.luck.once(2) {
		s.copyComesLate(l)
		return
	}
	key := pk(fmt.Sprintf("i%d", 1+s.luck.n(5)))
	guard := pk("i0")
	flip := func(there bool) {
		f, id := s.foreign(), s.id("foreign")
		set := func(key attr.Item, update string) {
			_ = f.Update("items", key, update, expr.Params{Values: attr.Item{":v": attr.S(id)}})
		}
		if there {
			set(guard, "SET v = :v")
			set(key, "SET a = :v, v = :v")
			return
		}
		_ = f.Delete("items", guard)
		_ = f.Update("items", key, "REMOVE a", expr.Params{})
	}
	flip(true)
	s.sleep(s.luck.span(time.Second, 15*time.Second))
	for range 2 + s.luck.n(3) {
		if l = l.n.up(); l == nil || s.broken() {
			return
		}
		l.link.Next(simcloud.LateLost, simcloud.LateLost)
		l.write("set while", func(w *writing) error {
			id := s.id(w.l.n.name)
			return w.update("items", key, id, 0, "SET b = :v", "attribute_exists(a)", attr.Item{":v": attr.S(id)})
		})
		l.write("pair", func(w *writing) error { return pair(w, s) })
		synctest.Wait()
		s.sleep(s.luck.span(100*time.Millisecond, 2*time.Second))
		flip(false)
		s.sleep(s.luck.span(9*time.Second, 14*time.Second)) // they have been sent again
		flip(true)
		s.sleep(s.luck.span(time.Second, 20*time.Second))
	}
}

// copyComesLate keeps the first copy of a create in flight while its repeat is applied and another node deletes the item: without a
// proof, only the hold refuses the copy.
func (s *sim) copyComesLate(l *simLife) {
	key := pk(fmt.Sprintf("i%d", 1+s.luck.n(5)))
	_ = s.foreign().Delete("items", key)
	s.sleep(15 * time.Second) // all have read that
	if l = l.n.up(); l == nil {
		return
	}
	l.link.Next(simcloud.LateLost)
	l.write("create", func(w *writing) error {
		id := s.id(w.l.n.name)
		return w.put("items", attr.Item{"pk": key["pk"], "v": attr.S(id)}, id, "attribute_not_exists(pk)", nil)
	})
	synctest.Wait()
	s.sleep(30 * time.Second) // it was sent again, and all have read that
	for _, n := range s.nodes {
		if other := n.up(); other != nil && other != l {
			other.write("delete", func(w *writing) error { return w.remove("items", key, "", nil) })
			synctest.Wait()
			return
		}
	}
}

// losesPage makes others write, and kills the process once it has read that.
func (s *sim) losesPage(l *simLife) {
	n := l.n
	n.killAt.Store(new("feed-page"))
	for range 60 {
		for range s.luck.n(3) {
			s.foreignWrite()
		}
		s.sleep(s.luck.span(100*time.Millisecond, time.Second))
		if n.up() == nil {
			n.start()
			return
		}
	}
}

// putBackSoon restores a machine to a state in which it had not sent what is now in flight.
func (s *sim) putBackSoon(n *simNode) bool {
	if s.cloudGoesBack() || n.up() == nil {
		return false
	}
	for range 3 + s.luck.n(4) {
		if l := n.up(); l != nil {
			l.contend()
			synctest.Wait()
		}
	}
	n.snaps = nil
	if !s.snapshot(n) {
		return false
	}
	faults := answersLost()
	for range 4 + s.luck.n(8) {
		l := n.up()
		if l == nil {
			n.start()
			continue
		}
		for range s.luck.n(3) {
			l.link.Next(faults[s.luck.n(len(faults))])
		}
		l.contend()
		synctest.Wait()
		s.sleep(s.luck.span(time.Millisecond, 4*time.Second))
	}
	s.sleep(s.luck.span(time.Millisecond, 70*time.Second))
	if s.restoreSnapshot(n) {
		s.net.Count("snapshot restored")
	}
	return true
}

// expiresOnItsWay makes rows expire while a change to them waits.
func (s *sim) expiresOnItsWay(l *simLife) {
	n := l.n
	key := pk(fmt.Sprintf("r%d", s.luck.n(3)))
	row := func(l *simLife, lasts time.Duration) {
		l.write("row", func(w *writing) error {
			id := s.id(w.l.n.name)
			ttl := attr.Int(w.tx.Now().Add(lasts).Unix())
			return w.update("rows", key, id, 0, "SET v = :v, #ttl = :ttl", "", attr.Item{":v": attr.S(id), ":ttl": ttl})
		})
		synctest.Wait()
	}
	row(l, s.luck.span(15*time.Second, 40*time.Second))
	s.sleep(s.luck.span(5*time.Second, 12*time.Second)) // it is there
	if l = n.up(); l == nil {
		return
	}
	l.link.SetMode(simcloud.NoDNS)
	touch := func() {
		l.write("row touched", func(w *writing) error {
			if it, err := w.tx.Get("rows", key); err != nil || it == nil {
				return err // another node has shortened its TTL: readers no longer see what is written to it, as in DynamoDB
			}
			id := s.id(w.l.n.name)
			return w.update("rows", key, id, 0, "SET v = :v", "", attr.Item{":v": attr.S(id)})
		})
		synctest.Wait()
	}
	touch()
	s.sleep(40 * time.Second)
	if s.luck.once(3) && n.up() == l { // in place of the expired one
		row(l, s.luck.span(5*time.Minute, 10*time.Minute))
	}
	if s.luck.n(3) > 0 {
		s.cloud.Expire(time.Now())
	}
	if s.luck.once(2) {
		n.killAt.Store(new([]string{"answer", "settle", "attempted", "send"}[s.luck.n(4)]))
	}
	for range s.luck.n(3) {
		l.link.Next(answersLost()[s.luck.n(len(answersLost()))])
	}
	l.link.SetMode(simcloud.None)
	s.sleep(s.luck.span(100*time.Millisecond, 5*time.Second))
	other := s.nodes[s.luck.n(len(s.nodes))].up()
	if other != nil && s.luck.once(3) {
		row(other, s.luck.span(20*time.Second, 10*time.Minute))
	}
	if n.up() == nil {
		n.start()
	}
}

// fallsWithOthers makes writes wait behind one that the cloud never accepts, or whose condition fails.
func (s *sim) fallsWithOthers(l *simLife) {
	poison := s.luck.once(2)
	key := pk(fmt.Sprintf("i%d", 1+s.luck.n(5)))
	if poison {
		key = pk("poison" + l.n.name)
	}
	set := func(update, condition string) {
		l.write("set while", func(w *writing) error {
			id := s.id(w.l.n.name)
			return w.update("items", key, id, 0, update, condition, attr.Item{":v": attr.S(id)})
		})
		synctest.Wait()
	}
	set("SET w = :v", "")
	s.sleep(s.luck.span(time.Second, 4*time.Second))
	if l = l.n.up(); l == nil {
		return
	}
	l.link.SetMode(simcloud.NoDNS)
	if poison {
		l.write("poison", func(w *writing) error {
			id := s.id(w.l.n.name)
			return w.update("items", key, id, 0, "SET v = :v, g = :g", "", attr.Item{":v": attr.S(id), ":g": attr.Int(1)})
		})
		set("SET c = :v", "attribute_exists(w)") // so that it is not folded into the first
	} else {
		set("SET b = :v", "attribute_exists(w)")
		l.write("put what was read", func(w *writing) error { return putAgain(w, s, key) })
		synctest.Wait()
		_ = s.foreign().Update("items", key, "REMOVE w", expr.Params{})
	}
	s.sleep(s.luck.span(100*time.Millisecond, 2*time.Second))
	l.link.SetMode(simcloud.None)
	s.sleep(s.luck.span(2*time.Second, 8*time.Second))
}

// putAgain puts an item as read, with another value.
func putAgain(w *writing, s *sim, key attr.Item) error {
	it, err := w.tx.Get("items", key)
	if err != nil || it == nil {
		return err
	}
	id := s.id(w.l.n.name)
	next := maps.Clone(it)
	next["v"] = attr.S(id)
	return w.put("items", next, id, "", nil)
}

// stampAhead leaves an invalid time on a setting, as from a clock that is years ahead.
func (s *sim) stampAhead(*simNode) {
	far := attr.Int(time.Now().Add(24 * time.Hour).UnixMicro())
	_ = s.foreign().Update("settings", pk(fmt.Sprintf("s%d", s.luck.n(3))), "SET #t = :far", expr.Params{
		Names: map[string]string{"#t": intent.AttrTime}, Values: attr.Item{":far": far},
	})
}

// gainsTransactions gives transactions to a cloud that had none: what was sent without a proof before is repeated by nodes that use
// transactions now, and others have deleted it meanwhile.
func (s *sim) gainsTransactions(*simNode) bool {
	if !s.plain || s.gained || !picked(s.seed/10, "gains", 2) || s.count() < simEvents()/3 {
		return false
	}
	s.gained = true
	for _, n := range s.nodes {
		if l := n.up(); l != nil {
			l.link.Next(simcloud.DropAnswer, simcloud.DropAnswer, simcloud.ErrorApplied, simcloud.DropAnswer)
			for range 4 {
				l.does("create")
				s.sleep(s.luck.span(time.Millisecond, 200*time.Millisecond))
			}
		}
	}
	s.sleep(s.luck.span(100*time.Millisecond, 2*time.Second))
	for _, n := range s.nodes {
		n.kill()
	}
	s.trace("the cloud has transactions from now on")
	s.cloud.GainTransactions()
	rest := s.nodes[1:]
	s.nodes[0].start()
	s.sleep(30 * time.Second)
	if l := s.nodes[0].up(); l != nil {
		for i := range 6 {
			l.write("delete", func(w *writing) error { return w.remove("items", pk(fmt.Sprintf("i%d", i)), "", nil) })
			synctest.Wait()
		}
	}
	s.sleep(s.luck.span(2*time.Second, 10*time.Second))
	for _, n := range rest {
		n.start()
	}
	return true
}

// does makes an application perform one operation.
func (l *simLife) does(name string) {
	for _, o := range operations() {
		if o.name == name {
			l.write(o.name, func(w *writing) error { return o.do(w, l.n.s) })
			synctest.Wait()
		}
	}
}

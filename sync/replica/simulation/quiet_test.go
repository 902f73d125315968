package simulation_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// What may stand still after healing, and for how long.
const (
	// standsStill is the longest time that a write may wait without a reason that has a name, and that everything together may take from
	// the last such reason to the end: feeds pass within half a minute, a node that was short of room takes locks after two, and a table
	// that was missing is looked for every five.
	standsStill = 6 * time.Minute
	// held is the longest hold: a request that may still create an item is valid for 15 minutes, by a clock that is a minute off at most.
	held = 16 * time.Minute
	// replays is the longest time for which absent items stay after a restore of the cloud (restore.replayFor), with one look at a table.
	replays = 65 * time.Minute
)

// quiet waits until nothing is in flight. Quarantined batches are discarded only after everything else has drained: they hold up only
// what waits behind them on their items. Whatever stands still for more than some minutes without a legitimate reason is a violation.
func (s *sim) quiet() {
	if s.book.anew != nil {
		s.restart()
	}
	began, still, feeds, most := time.Now(), newStillness(s), newFeedWatch(s), s.count()+60*simEvents()
	for !s.broken() && s.count() < most {
		s.sleep(30 * time.Second)
		waiting, others := 0, 0
		for _, n := range s.nodes {
			if l := n.up(); l != nil {
				l.link.SetMode(simcloud.None)
				w, o := l.pending()
				waiting, others = waiting+w, others+o
				if l.replaying() { // what is absent stays here until then
					waiting, others = waiting+1, others+1
				}
			}
		}
		still.check(others > 0)
		feeds.check()
		switch {
		case waiting > 0 && others == 0:
			s.net.Count("others drained beside poison")
			s.release()
		case waiting == 0 && s.lastWords():
		case waiting == 0:
			s.idle.Store(true)
			s.cloud.Expire(time.Now().Add(-time.Minute))
			before, fit := s.book.changes(), s.fit()
			s.sleep(time.Minute) // time for the feeds to pass, and for locks to be taken
			// Otherwise a late copy has arrived, as the protocol accepts it once its life has ended, and everybody must read that too.
			if fit && s.pendingAll() == 0 && s.book.changes() == before {
				return
			}
		}
	}
	if !s.broken() {
		s.violate("no quiet %v after healing: %d events", time.Since(began), s.count())
	}
}

// lastWords makes an application change each setting while nothing else is in flight: that is its last value, whatever time the stored
// one carries. It does so once, and reports whether it did now.
func (s *sim) lastWords() bool {
	if s.book.lastWord != nil {
		return false
	}
	s.book.lastWord = map[string]string{}
	s.sleep(time.Minute) // so that all know what was deleted last
	for i := range 3 {
		l := s.nodes[s.luck.n(len(s.nodes))].up()
		if l == nil {
			continue
		}
		key, id := fmt.Sprintf("s%d", i), s.id(l.n.name)
		if l.write("setting", func(w *writing) error {
			return w.update("settings", pk(key), id, 0, "SET v = :v", "", attr.Item{":v": attr.S(id)})
		}) {
			s.book.lastWord[key] = id
		}
	}
	return true
}

// settled checks that the last values are there. A recreated table has lost the items below them.
func (b *book) settled() {
	if b.epoch > 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(b.lastWord)) {
		if is := b.s.cloud.Item("settings", pk(key))["v"].Str(); is != b.lastWord[key] {
			b.s.violate("setting %s is %s, and the last word was %s", key, is, b.lastWord[key])
		}
	}
}

// fit reports whether all nodes may take locks. A node that was short of room leaves them to others for another two minutes, and if all
// of them were, no node holds any until then.
func (s *sim) fit() bool {
	for _, n := range s.nodes {
		if l := n.up(); l != nil && l.rep.Usable() != nil {
			return false
		}
	}
	return true
}

// changes counts the images that items have had in the cloud.
func (b *book) changes() (all int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, images := range b.images {
		all += len(images)
	}
	return all
}

func (s *sim) pendingAll() (all int) {
	for _, n := range s.nodes {
		if l := n.up(); l != nil {
			waiting, _ := l.pending()
			all += waiting
		}
	}
	return all
}

// pending counts the batches of the outbox, and those of them that do not depend on what is quarantined.
func (l *simLife) pending() (waiting, others int) {
	poisoned := l.poisoned()
	_ = l.store.View(context.Background(), func(tx *store.Tx) error {
		return outbox.Each(tx, func(u *outbox.Batch) (bool, error) {
			waiting++
			stuck := false
			err := u.EachPlace(func(table string, key attr.Item, _ bool) error {
				stuck = stuck || poisoned[table+" "+keyText(key)]
				return nil
			})
			if !stuck {
				others++
			}
			return true, err
		})
	})
	return waiting, others
}

// poisoned lists the items on which something waits for an operator.
func (l *simLife) poisoned() map[string]bool {
	out := map[string]bool{}
	for _, c := range l.quarantined() {
		for _, e := range c.Entries() {
			out[e.Table+" "+keyText(e.Key)] = true
		}
	}
	return out
}

func (l *simLife) quarantined() (out []*conflict.Record) {
	for _, c := range l.conflicts() {
		if c.State == conflict.StateOpen && c.Kind == conflict.KindQuarantine {
			out = append(out, c)
		}
	}
	return out
}

// release acts as the operator who discards what is quarantined.
func (s *sim) release() {
	for _, n := range s.nodes {
		l := n.up()
		if l == nil {
			continue
		}
		for _, c := range l.quarantined() {
			s.book.passesPoison(l, c)
			s.net.Count(map[bool]string{true: "too large quarantined", false: "poison quarantined"}[c.Code == "too_large"])
			_, err := l.rep.Conflicts().Discard(context.Background(), c.ID)
			s.trace("%s: operator discards conflict %d: %v", n.name, c.ID, err)
		}
	}
}

// waiting describes what waits, and why.
func (l *simLife) waiting() string {
	st, err := l.rep.Status(context.Background())
	if err != nil {
		return err.Error()
	}
	out := fmt.Sprintf("link %+v node %+v\n", st.LinkState, st.Node)
	_ = l.store.View(context.Background(), func(tx *store.Tx) error {
		return tx.Side("outbox").Each(nil, nil, func(k, _ []byte) (bool, error) {
			out += fmt.Sprintf("worker %d seq %d, ", k[0], binary.BigEndian.Uint64(k[1:]))
			return len(out) < 1000, nil
		})
	})
	for _, w := range st.Workers {
		for _, p := range w.Parked {
			out += fmt.Sprintf("worker %d: %s %s: %s until %v\n", w.Worker, p.WriteID, p.Table, p.Why, p.Until)
		}
	}
	return out
}

func (l *simLife) conflicts() (out []*conflict.Record) {
	for q := (conflict.Query{Limit: 1000}); ; {
		found, next, err := l.rep.Conflicts().List(context.Background(), q)
		if err != nil {
			l.n.s.violate("%s: conflicts: %v", l.n.name, err)
			return out
		}
		out = append(out, found...)
		if next == 0 {
			return out
		}
		q.Before = next
	}
}

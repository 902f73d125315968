package simulation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// lockFaults come from writers that ignore the rules of the locks.
func lockFaults() []mishap {
	return []mishap{
		{"lock row deleted by hand", 300, 0, always(func(s *sim, _ *simNode) {
			_ = s.foreign().Delete(simLocks, attr.Item{"lockKey": attr.S("match:m0")})
		})},
		{"lock row of the original application", 400, 0, always(func(s *sim, _ *simNode) {
			_ = s.foreign().Put(simLocks, attr.Item{
				"lockKey": attr.S("match:m1"), "holder": attr.S("original"),
				"expiresAt": attr.Int(time.Now().Add(s.span(time.Second, 20*time.Second)).UnixMilli()),
			})
		})},
		{"locks table restored", 300, 2, always(func(s *sim, _ *simNode) {
			to := time.Now().Add(-s.luck.span(time.Second, time.Hour))
			s.trace("the locks table is restored to %s", to)
			s.cloud.Restore(to, simLocks)
		})},
	}
}

// cloudFaults concern the service, its tables and the permissions on them.
func cloudFaults() []mishap {
	return []mishap{
		{"TTL", 30, 0, func(s *sim, _ *simNode) bool {
			early := s.span(0, 2*time.Second)
			if s.once(2) {
				early = -s.span(0, 10*time.Minute)
			}
			n := s.cloud.Expire(time.Now().Add(early))
			if n > 0 {
				s.net.Count(map[bool]string{true: "TTL early", false: "TTL late"}[early > 0])
			}
			return n > 0
		}},
		{"cloud restored to T-k", 1500, 0, func(s *sim, _ *simNode) bool {
			if s.seed%8 != 4 { // what it takes from other nodes is judged only there
				return false
			}
			to := time.Now().Add(-s.span(time.Second, 5*time.Minute))
			if last, ok := s.book.lastRestore(); ok && to.After(last) && !s.allKnowTheTables() {
				to = last // otherwise a node might not learn what the previous restore took: DESIGN, Limits
			}
			s.cloud.Restore(to, appTables()...)
			s.book.restored(to)
			s.diesOfRestore()
			return true
		}},
		{"table re-created empty", 150, 0, (*sim).recreate},
		{"table not found", 100, 4, always(func(s *sim, _ *simNode) {
			table := s.anyTable()
			s.trace("the cloud has no table %s", table)
			s.cloud.Hide(table, true)
			s.timer.After(s.luck.span(time.Second, 3*time.Minute), func() { s.cloud.Hide(table, false) })
		})},
		{"access denied on a table", 100, 4, running(func(s *sim, l *simLife) {
			table := s.anyTable()
			s.trace("%s may not use table %s", l.n.name, table)
			l.link.Deny(table, true)
			s.timer.After(s.luck.span(time.Second, 3*time.Minute), func() { l.link.Deny(table, false) })
		})},
	}
}

// allKnowTheTables reports whether every node has checked the cloud's present tables, and none can be restored to a time before that.
func (s *sim) allKnowTheTables() bool {
	for _, n := range s.nodes {
		l := n.up()
		if l == nil || len(n.snaps) > 0 {
			return false
		}
		for _, table := range appTables() {
			if l.seen(table).ID != s.cloud.TableID(table) {
				return false
			}
		}
	}
	return true
}

// anyTable draws one of the cloud's tables, for rare faults.
func (s *sim) anyTable() string {
	specs := cloudSpecs()
	return specs[s.luck.n(len(specs))].Name
}

func appTables() (names []string) {
	for _, spec := range simSpecs() {
		if spec.Policy != store.PolicyLocal {
			names = append(names, spec.Name)
		}
	}
	return names
}

// foreignFaults come from writers of shared items that do not know the nodes.
func foreignFaults() []mishap {
	return []mishap{{"foreign", 6, 0, always(func(s *sim, _ *simNode) { s.foreignWrite() })}}
}

func (s *sim) foreign() simcloud.Foreign { return simcloud.Foreign{Cloud: s.cloud, Name: "foreign"} }

// foreignWrite is the original backend writing to what nodes share.
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
	case 2: // what it read, sidecar included, with one change
		s.net.Count("foreign read-modify-put")
		if it := s.cloud.Item("items", key); it != nil {
			it = maps.Clone(it)
			it["v"] = attr.S(id)
			err = f.Put("items", it)
		}
	case 3:
		if err = f.Update("counters", pk("c0"), "ADD n :k", expr.Params{Values: attr.Item{":k": attr.Int(5)}}); err == nil {
			s.book.foreignCounts("c0", 5)
		}
	case 4:
		err = f.Update("settings", pk(fmt.Sprintf("s%d", s.n(3))), "SET v = :v", expr.Params{Values: attr.Item{":v": attr.S(id)}})
	default:
		s.net.Count("foreign UpdateItem")
		err = f.Update("items", key, "SET "+string(rune('a'+s.n(3)))+" = :v", expr.Params{Values: attr.Item{":v": attr.S(id)}})
	}
	if e, ok := errors.AsType[*intent.Error](err); err != nil && (!ok || e.Class != intent.NoTable) {
		s.violate("a foreign write: %v", err)
	}
}

// tableSeen is what a node has stored about a table of the cloud.
type tableSeen struct {
	ID    string    `json:"id"`
	Until time.Time `json:"until"` // what the table lacks stays here until then
}

func (l *simLife) seen(table string) (seen tableSeen) {
	_ = l.store.View(context.Background(), func(tx *store.Tx) error {
		text, err := tx.Side("identity").Get([]byte("table/" + table))
		if err == nil && text != nil {
			err = json.Unmarshal(text, &seen)
		}
		return err
	})
	return seen
}

// replaying reports whether this node or another is still sending again what a restored cloud has lost.
func (l *simLife) replaying() bool {
	now := time.Now() // it is by the cloud's clock
	return slices.ContainsFunc(append(appTables(), simSync), func(table string) bool { return now.Before(l.seen(table).Until) })
}

// doubtful lists the writes that wait on an item and are not in the view.
func (l *simLife) doubtful(table string, key attr.Item) (seqs []uint64, err error) {
	err = l.store.View(context.Background(), func(tx *store.Tx) error {
		w := l.rep.Outbox().Begin(tx)
		it, err := w.Load(table, key)
		if err != nil {
			return err
		}
		entries, err := w.Entries(it)
		if err == nil {
			_, seqs = intent.View(it.Remote.Known, entries, w.Env)
		}
		return err
	})
	return seqs, err
}

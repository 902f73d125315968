package simulation_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
)

// anew describes a table that was dropped and recreated empty. Nodes stop sending to it, report that, and delete nothing. An operator who
// intended it restarts them, and then they send what they know.
type anew struct {
	table string
	since uint64                       // the last effect before it was recreated
	had   map[string]map[string]string // node, item: what it showed then
}

// recreate recreates a table, once in one seed of eight, because less can be judged there.
func (s *sim) recreate(*simNode) bool {
	if s.seed%8 != 6 || s.book.anew != nil || s.count() < simEvents()/4 {
		return false
	}
	tables := []string{"items", "firsts", "pairs", "settings", "rows"}
	a := &anew{table: tables[s.n(len(tables))], had: map[string]map[string]string{}}
	there := map[string]bool{} // what only one node has may still be refused
	for _, it := range s.cloud.Items(a.table) {
		there[keyText(keyIn(it))] = true
	}
	for _, n := range s.nodes {
		if l := n.up(); l != nil && (l.checkedTable(a.table) || s.acknowledged(n.name, a.table, time.Now().Add(-time.Minute))) {
			a.had[n.name] = l.rows(a.table, false)
			maps.DeleteFunc(a.had[n.name], func(key, _ string) bool { return !there[key] })
		}
	}
	s.trace("table %s is made anew", a.table)
	s.cloud.Recreate(a.table)
	s.diesOfRestore()
	s.book.madeAnew(a)
	return true
}

// diesOfRestore kills some processes while they find out that a table was replaced.
func (s *sim) diesOfRestore() {
	for _, n := range s.nodes {
		switch s.luck.n(4) {
		case 0:
			n.killAt.Store(new("restore-noticed"))
		case 1:
			n.killAt.Store(new("restore-requeued"))
		}
	}
}

// checkedTable reports whether a node has checked a table of the cloud. For a node that has not, and to which the cloud has acknowledged
// nothing there, or only within the last minute, the recreated table is the one that always existed (DESIGN.md).
func (l *simLife) checkedTable(table string) (has bool) {
	err := l.store.View(context.Background(), func(tx *store.Tx) error {
		book, err := tx.Side(identity.Side).Get([]byte("table/" + table))
		has = book != nil
		return err
	})
	if err != nil {
		l.n.s.violate("%s: %v", l.n.name, err)
	}
	return has
}

// acknowledged reports whether the cloud has accepted a write of a node to a table before a time.
func (s *sim) acknowledged(node, table string, before time.Time) bool {
	return slices.ContainsFunc(s.cloud.Log(0), func(e simcloud.Effect) bool {
		return e.By == node && e.Table == table && e.At.Before(before)
	})
}

// rows lists the items of a table as applications see them; with hidden, also those kept past their TTL.
func (l *simLife) rows(table string, hidden bool) map[string]string {
	out := map[string]string{}
	err := l.store.View(context.Background(), func(tx *store.Tx) error {
		if hidden {
			tx.ShowExpired()
		}
		for it, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			out[keyText(keyIn(it))] = tell(it)
		}
		return nil
	})
	if err != nil {
		l.n.s.violate("%s: %v", l.n.name, err)
	}
	return out
}

func (b *book) madeAnew(a *anew) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.epoch++ // everything sent before is sent again
	a.since = b.latest
	b.anew = a
}

// stopsAt records that a process reports that it sends nothing to a table.
func (l *simLife) stopsAt(table, why string) {
	if strings.HasPrefix(why, "it was created again") {
		l.n.s.net.Count("a recreated table was reported")
		l.n.stopped.Store(&table)
	}
}

// heedsStop checks that it indeed sends nothing.
func (n *simNode) heedsStop(table string) {
	if stopped := n.stopped.Load(); stopped != nil && *stopped == table {
		n.s.violate("%s sends to table %s although it reports it stopped", n.name, table)
	}
}

// restart acts as the operator who intended it: it restarts the nodes once they have noticed.
func (s *sim) restart() {
	s.sleep(10 * time.Minute) // they check every five
	for _, n := range s.nodes {
		if l := n.up(); l != nil {
			s.book.checkpoint(l)
		}
		n.kill()
		n.start()
	}
}

// kept checks that no node has deleted anything because the new table lacks it.
func (b *book) kept(recorded map[string]*conflict.Record) {
	a := b.anew
	if a == nil || a.table == "rows" { // they expire
		return
	}
	deleted := map[string]bool{}
	for _, e := range b.s.cloud.Log(a.since) {
		if e.Table == a.table && e.New == nil {
			deleted[keyText(e.Key)] = true
		}
	}
	for _, act := range b.acts {
		if act.table == a.table && act.op == store.OpDelete {
			deleted[keyText(act.key)] = true
		}
	}
	for _, n := range b.s.nodes {
		l := n.up()
		if l == nil || n.restored {
			continue
		}
		there := l.rows(a.table, false)
		for key, it := range a.had[n.name] {
			if there[key] == "" && !deleted[key] && !b.refusedSince(n.name, key, it, recorded) {
				b.s.violate("%s had %s %s when the table was recreated: %s is gone", n.name, a.table, key, it)
			}
		}
	}
}

// refusedSince reports whether what a node showed when the table was recreated was a write of its own that never reached the cloud and is
// recorded: the node had not read what the cloud had there.
func (b *book) refusedSince(node, key, it string, recorded map[string]*conflict.Record) bool {
	return slices.ContainsFunc(b.ofItem[node+" "+b.anew.table+" "+key], func(a *act) bool {
		return a.id != "" && a.after <= b.anew.since && len(b.shown[a.id]) == 0 && strings.Contains(it, strconv.Quote(a.id)) &&
			onNone(recorded[fmt.Sprintf("%s %d", node, a.seq)], a)
	})
}

// onNone reports whether a record is of a write to an item that did not exist.
func onNone(c *conflict.Record, a *act) bool {
	return c != nil && slices.ContainsFunc(c.Entries(), func(e *intent.Entry) bool {
		return e.Table == a.table && attr.EqualItems(e.Key, a.key) && e.Life.Kind == intent.LifeNone
	})
}

// lacks reports whether nodes may have items of a table that the cloud does not have.
func (b *book) lacks(table string) bool { return b.anew != nil && b.anew.table == table }

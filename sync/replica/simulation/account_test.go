package simulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// A write folded into one whose commit failed but is on disk all the same is not lost: the account knows both.
func TestAccountOfAFailedCommit(t *testing.T) {
	for name, there := range map[string]bool{"the commit is there": true, "the commit is lost": false} {
		t.Run(name, func(t *testing.T) {
			s := &sim{plain: true}
			s.book = newBook(s)
			set := act{node: "n1", seq: 7, table: "items", key: pk("i3"), op: store.OpUpdate, what: "set", id: "n1.1"}
			later := set
			later.seq, later.id, later.maybe = 8, "n1.2", true
			s.book.acts = []*act{&set, &later}
			if there {
				s.book.effects["n1 8"] = []effectAt{{n: 1, at: time.Unix(1, 0), item: "items i3"}}
			}
			s.book.account(nil)
			if s.broken() == there {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

// A write whose only answer was that it had not reached the cloud may be folded into the next one of its item. A write that may have
// reached it counts as lost if it is nowhere.
func TestAccountOfAWriteThatCameBack(t *testing.T) {
	for _, c := range []struct {
		sent, back int
		lost       bool
	}{{1, 1, false}, {2, 2, false}, {1, 0, true}, {2, 1, true}} {
		t.Run(fmt.Sprintf("%d of %d", c.back, c.sent), func(t *testing.T) {
			s := &sim{plain: true}
			s.book = newBook(s)
			set := act{node: "n1", seq: 7, table: "items", key: pk("i3"), op: store.OpUpdate, what: "set", id: "n1.1"}
			later := set
			later.seq, later.id = 8, "n1.2"
			s.book.acknowledge(&set)
			for i := range c.sent {
				s.book.sends("n1 7.123456789", &intent.Call{Op: store.OpUpdate, Table: "items", Key: pk("i3")})
				if i < c.back {
					s.book.comesBack("n1 7.123456789", &intent.Call{Op: store.OpUpdate, Table: "items", Key: pk("i3")})
				}
			}
			s.book.acknowledge(&later)
			s.book.effects["n1 8"] = []effectAt{{n: 1, at: time.Unix(1, 0), item: "items i3"}}
			if s.book.account(nil); s.broken() != c.lost {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

// A node must keep what it showed of a recreated table if the cloud had it, but not a write of its own that never reached the cloud and
// was refused since.
func TestShownOfATableMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name               string
		came, refused, own bool
		on                 intent.LifeKind
	}{
		{name: "refused", refused: true, own: true},
		{name: "in the cloud once", refused: true, came: true},
		{name: "in no record"},
		{name: "written on what was there", refused: true, on: intent.LifeOurs},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sim{plain: true}
			s.book = newBook(s)
			a := &act{node: "n1", seq: 7, table: "pairs", key: pk("p0-left"), op: store.OpUpdate, what: "pair", id: "n1.1"}
			s.book.acknowledge(a)
			if c.came {
				s.book.shown["n1.1"] = []time.Time{time.Unix(1, 0)}
			}
			s.book.anew = &anew{table: "pairs", since: 1}
			recorded := map[string]*conflict.Record{}
			if c.refused {
				recorded = refusedWrite(a)
				recorded["n1 7"].Decided[0].Entry.Life.Kind = c.on
			}
			shown := tell(row("p0-left", "v", "n1.1"))
			if got := s.book.refusedSince("n1", "p0-left", shown, recorded); got != c.own {
				t.Errorf("its own, refused: %v", got)
			}
			if s.book.refusedSince("n1", "p0-left", tell(row("p0-left", "v", "n1.10")), recorded) {
				t.Error("another's value counts as its own")
			}
		})
	}
}

// lostTime returns a restored node that gave number 7 to one write in the lost timeline and to another one now. The first write has had
// an effect in the cloud.
func lostTime(t *testing.T, first, now *act, counts int64) *sim {
	t.Helper()
	s := &sim{plain: true}
	s.cloud = simcloud.New(simcloud.Options{})
	s.cloud.Create(cloudSpecs()...)
	s.net = simcloud.NewNetwork(s.cloud, nil, 1)
	s.book = newBook(s)
	if _, err := s.cloud.Write("n1", intent.Call{
		Op: store.OpPut, Table: "counters", Item: attr.Item{"pk": attr.S("c0"), "n": attr.Int(counts)},
	}); err != nil {
		t.Fatal(err)
	}
	snapshot := s.book.disk("n1")
	first.node, first.seq = "n1", 7
	now.node, now.seq = "n1", 7
	s.book.acknowledge(first)
	s.book.effects["n1 7"] = []effectAt{{n: 1, at: time.Unix(1, 0), item: first.table + " " + keyText(first.key)}}
	s.book.latest = 1
	s.book.putBack("n1", snapshot)
	s.book.acknowledge(now)
	return s
}

func refusedWrite(a *act) map[string]*conflict.Record {
	return map[string]*conflict.Record{"n1 7": {
		Head: conflict.Head{Kind: conflict.KindRefused}, Decided: []conflict.Decided{{Entry: &intent.Entry{Write: intent.Write{Seq: 7, Table: a.table, Key: a.key}}}},
	}}
}

// A counter may include what was counted in a lost timeline, whatever is recorded of the write that has its number now. What is counted
// now is not covered by an effect that its number had in the lost timeline.
func TestCountersOfALostTime(t *testing.T) {
	for name, c := range map[string]struct {
		countsNow bool
		counter   int64
		broken    bool
	}{
		"counted there, had its effect":        {counter: 3},
		"counted there, had none":              {counter: 0},
		"counted there, applied twice":         {counter: 6, broken: true},
		"counted now, recorded as not applied": {countsNow: true, counter: 0},
		"counted now, recorded, and applied":   {countsNow: true, counter: 3, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			set := &act{table: "items", key: pk("i4"), op: store.OpUpdate, what: "set", id: "n1.1"}
			count := &act{table: "counters", key: pk("c0"), op: store.OpUpdate, what: "count", inc: 3}
			first, now := count, set
			if c.countsNow {
				first, now = set, count
			}
			s := lostTime(t, first, now, c.counter)
			if !c.countsNow {
				delete(s.book.effects, "n1 7") // it was folded into a later write there
			}
			s.book.counters(refusedWrite(now))
			if s.broken() != c.broken {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

// An effect that another write had under the same number in a lost timeline does not settle the fate of this write.
func TestAccountOfALostTime(t *testing.T) {
	for name, item := range map[string]string{"of the same item": "i4", "of another item": "i3"} {
		t.Run(name, func(t *testing.T) {
			first := &act{table: "items", key: pk(item), op: store.OpUpdate, what: "set", id: "n1.1"}
			now := &act{table: "items", key: pk("i4"), op: store.OpUpdate, what: "set", id: "n1.2"}
			s := lostTime(t, first, now, 0)
			if s.book.account(nil); !s.broken() {
				t.Error("a write without an effect and a record was not missed")
			}
		})
	}
}

// A key won in a lost timeline was won once, whichever write asked for it again under the same number.
func TestFirstsOfALostTime(t *testing.T) {
	first := &act{table: "firsts", key: pk("f2"), op: store.OpPut, what: "first", id: "n1.1"}
	now := &act{table: "firsts", key: pk("f2"), op: store.OpPut, what: "first", id: "n1.2"}
	s := lostTime(t, first, now, 0)
	if s.book.firsts(refusedWrite(now)); s.broken() {
		t.Errorf("violated: %v", s.failed)
	}
	other := &act{node: "n2", seq: 8, table: "firsts", key: pk("f2"), op: store.OpPut, what: "first", id: "n2.1"}
	s.book.acknowledge(other)
	s.book.effects["n2 8"] = []effectAt{{n: 2, at: time.Unix(2, 0), item: "firsts f2"}}
	if s.book.firsts(nil); !s.broken() {
		t.Error("two winners were accepted")
	}
}

package simulation_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// judged is a world of two nodes, with the effects that the cloud reports.
type judged struct {
	*sim
	at time.Time
}

func newJudged() *judged {
	s := &sim{plain: true, seed: 4} // the usual marks
	s.net = simcloud.NewNetwork(nil, nil, 1)
	s.book = newBook(s)
	s.nodes = []*simNode{newSimNode(s, "n0"), newSimNode(s, "n1")}
	return &judged{s, time.Unix(1e9, 0)}
}

// effect adds a change of an item under a node's mark; sequence 0 means a foreign writer.
func (j *judged) effect(by string, seq uint64, op store.Op, was, is attr.Item) {
	j.at = j.at.Add(time.Second)
	e := &simcloud.Effect{N: j.book.latest + 1, At: j.at, Table: "items", Key: pk("i1"), Op: op, Old: was, New: is, By: by}
	if seq > 0 {
		e.Mark = fmt.Sprintf("%s %d.123456789", by, seq)
	}
	j.book.effect(e)
}

// The marks that an effect leaves are judged: none goes back, and none is removed while copies may arrive.
func TestJudgesMarks(t *testing.T) {
	item := func(life, mark string, updated int64) attr.Item {
		it := attr.Item{"pk": attr.S("i1"), intent.AttrLife: attr.S(life)}
		if mark != "" {
			n, _ := attr.N(mark)
			it[intent.AttrMark+"n1"] = n
		}
		if updated > 0 {
			it[intent.AttrTime] = attr.Int(updated)
		}
		return it
	}
	for name, c := range map[string]struct {
		was, is attr.Item
		op      store.Op
		settled time.Duration // how long before the effect; 0: never
		broken  bool
	}{
		"it stays":                        {was: item("n1.1.5", "7.5", 0), is: item("n1.1.5", "7.5", 0), op: store.OpPut},
		"taken back":                      {was: item("n1.1.5", "7.5", 0), is: item("n1.1.5", "6.5", 0), op: store.OpPut, broken: true},
		"taken away":                      {was: item("n1.1.5", "7.5", 0), is: item("n1.1.5", "", 0), op: store.OpUpdate, broken: true},
		"taken away too early":            {was: item("n1.1.5", "7.5", 0), is: item("n1.1.5", "", 0), op: store.OpUpdate, settled: time.Second, broken: true},
		"taken away when all is over":     {was: item("n1.1.5", "7.5", 0), is: item("n1.1.5", "", 0), op: store.OpUpdate, settled: time.Hour},
		"of another life":                 {was: item("n1.1.5", "7.5", 0), is: item("n0.1.9", "", 0), op: store.OpPut},
		"the life is another by a label":  {was: item("n1.1.5", "", 0), is: item("~n0.1.9", "", 0), op: store.OpUpdate, broken: true},
		"an older time":                   {was: item("n1.1.5", "", 1e15), is: item("n1.1.5", "", 1e14), op: store.OpUpdate, broken: true},
		"a time that was none, far ahead": {was: item("n1.1.5", "", 9e15), is: item("n1.1.5", "", 1e14), op: store.OpUpdate},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudged()
			if c.settled > 0 {
				j.book.settledBy["n1"] = []reportedAt{{7, j.at.Add(-c.settled)}}
			}
			j.effect("n0", 9, c.op, c.was, c.is)
			if j.broken() != c.broken {
				t.Errorf("violated: %v", j.failed)
			}
		})
	}
}

// A Put on a life that a late copy without a proof has begun again is not judged by the marks of the second: its base may be the first.
func TestJudgesMarksOfALifeBegunTwice(t *testing.T) {
	item := func(mark int64) attr.Item {
		return attr.Item{"pk": attr.S("i1"), intent.AttrLife: attr.S("n1.1.5"), intent.AttrMark + "n1": attr.Int(mark)}
	}
	for name, c := range map[string]struct {
		proofs bool
		endsIt string
		op     store.Op
		broken bool
	}{
		"a Put":                    {endsIt: "foreign", op: store.OpPut},
		"an update":                {endsIt: "foreign", op: store.OpUpdate, broken: true},
		"where creates have proof": {proofs: true, endsIt: "foreign", op: store.OpPut, broken: true},
		"a node has ended it":      {endsIt: "n0", op: store.OpPut, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudged()
			j.plain = !c.proofs
			j.book.lives["items "+keyText(pk("i1"))+" n1.1.5"] = livedAt{began: 1, cut: c.endsIt == "foreign"}
			j.effect("n0", 9, c.op, item(7), item(6))
			if j.broken() != c.broken {
				t.Errorf("violated: %v", j.failed)
			}
		})
	}
}

// An update is judged by the life on which it was written, and adds its value once, whatever its number.
func TestJudgesLives(t *testing.T) {
	image := func(life, v string) attr.Item {
		return attr.Item{"pk": attr.S("i1"), "v": attr.S(v), intent.AttrLife: attr.S(life)}
	}
	for name, c := range map[string]struct {
		life   string // the life that the update meets; n1.1.5 existed when it was written
		upsert bool   // it was written where no item existed
		again  bool   // it comes again under another number
		came   uint64 // it was written behind create 8 of its node; the write of that node that came to the next life before it
		broken bool
	}{
		"on its life":                      {life: "n1.1.5"},
		"on the next":                      {life: "n1.1.6", broken: true},
		"on the next, made for none":       {life: "n1.1.6", upsert: true},
		"on one that its own node began":   {life: "n0.1.6"},
		"its value is brought once more":   {life: "n1.1.5", again: true, broken: true},
		"on one that a foreign writer has": {life: "~n1.1.6"},
		"behind a create that has moved":   {life: "n1.1.6", came: 8},
		"behind a create that has not":     {life: "n1.1.6", came: 7, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudged()
			for _, id := range []string{"n0.1", "n0.2", "n1.1", "n1.2", "n1.3"} {
				j.book.issued[id] = true
			}
			if c.came > 0 {
				j.book.acknowledge(&act{node: "n0", seq: 8, table: "items", key: pk("i1"), op: store.OpUpdate, id: "n0.2", upsert: true})
				j.effect("n0", 8, store.OpUpdate, nil, image("n0.1.8", "n0.2"))
				j.effect("foreign", 0, store.OpDelete, image("n0.1.8", "n0.2"), nil)
			} else {
				j.effect("n1", 5, store.OpPut, nil, image("n1.1.5", "n1.1"))
			}
			j.book.acknowledge(&act{node: "n0", seq: 9, table: "items", key: pk("i1"), op: store.OpUpdate, id: "n0.1", upsert: c.upsert})
			if c.life != "n1.1.5" {
				j.effect("n1", 6, store.OpPut, nil, image(c.life, "n1.2"))
			}
			if c.came > 0 {
				j.effect("n0", c.came, store.OpUpdate, image(c.life, "n1.2"), image(c.life, "n0.2"))
			}
			j.effect("n0", 9, store.OpUpdate, image(c.life, "n1.2"), image(c.life, "n0.1"))
			if c.again {
				j.effect("n1", 7, store.OpUpdate, image(c.life, "n0.1"), image(c.life, "n1.3"))
				j.effect("n0", 12, store.OpUpdate, image(c.life, "n1.3"), image(c.life, "n0.1"))
			}
			if j.broken() != c.broken {
				t.Errorf("violated: %v", j.failed)
			}
		})
	}
}

// A holder is refused its own lock only if its own renewal is: a clone of its node may be refused what the original keeps.
func TestJudgesRefusedLocks(t *testing.T) {
	const renewing = "SET expiresAt = :e, rvn = :rvn, ttlMs = :ttl"
	const taking = "SET holder = :me, expiresAt = :e, rvn = :rvn, ttlMs = :ttl, fence = :fence"
	const ifHeld = "holder = :me AND fence = :f"
	change := func(holder, update, condition string, values attr.Item) lease.Change {
		all := attr.Item{":me": attr.S(holder), ":e": attr.Int(1), ":rvn": attr.S("r"), ":ttl": attr.Int(10000)}
		maps.Copy(all, values)
		return lease.Change{Key: "match:m0", Update: update, Condition: condition, Values: all}
	}
	held := func(fence int64) attr.Item { return attr.Item{":f": attr.Int(fence)} }
	begins := attr.Item{":fence": attr.Int(7)}
	seen := func(values attr.Item) attr.Item {
		values = maps.Clone(values)
		values[":seen"] = attr.S("was")
		return values
	}
	for name, c := range map[string]struct {
		refused lease.Change
		broken  bool
	}{
		"its renewal":                      {change("n0#b4", renewing, ifHeld+" AND rvn = :seen", seen(held(7))), true},
		"its renewal under an older fence": {change("n0#b4", renewing, ifHeld, held(6)), false},
		"a clone that would take it":       {change("n0#b3", taking, "rvn = :seen", seen(begins)), false},
		"a clone's renewal":                {change("n0#b3", renewing, ifHeld, held(7)), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSim(t, 1)
				locks := s.net.Link("n0", time.Now, nil).Locks(simLocks)
				for _, done := range []lease.Change{
					change("n0#b4", taking, "attribute_not_exists(lockKey)", begins), change("n0#b4", renewing, ifHeld, held(7)),
				} {
					if _, err := locks.Update(t.Context(), done); err != nil {
						t.Fatal(err)
					}
				}
				_, err := locks.Update(t.Context(), c.refused)
				if _, refused := errors.AsType[*lease.ConditionFailedError](err); !refused || s.broken() != c.broken {
					t.Errorf("%v, violated: %v", err, s.failed)
				}
			})
		})
	}
}

// A refusal may be recorded of an entry that has created its item if it was sent in a lost timeline, and only then.
func TestJudgesRefusalsOfALostTime(t *testing.T) {
	for name, c := range map[string]struct {
		sentIn int // the timeline of the second send
		broken bool
	}{
		"sent in the time that was lost": {sentIn: 1},
		"sent in its own":                {sentIn: 2, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudged()
			a := &act{node: "n1", seq: 5, table: "items", key: pk("i1")}
			item := "items " + keyText(pk("i1"))
			j.book.acts, j.book.begun, j.book.timelines["n1"] = []*act{a}, 2, []int{2}
			j.book.sent[sending{"n1 5", item, c.sentIn}] = 3
			j.book.effects["n1 5"] = []effectAt{{made: true, item: item, n: 3}}
			j.book.refusals(map[string]*conflict.Record{"n1 5": {
				Head: conflict.Head{Code: string(intent.CodeCondition)}, Decided: []conflict.Decided{{Entry: &intent.Entry{Write: intent.Write{Seq: 5, Table: "items", Key: pk("i1")}}}},
			}})
			if j.broken() != c.broken {
				t.Errorf("violated: %v", j.failed)
			}
		})
	}
}

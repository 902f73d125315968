package simulation_test

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Writes that waited when a timeline was lost take effect in the order written, whatever their numbers: a create up to the fork keeps its
// number behind a renumbered update whose life another node has ended.
func TestOrderBehindWhatWasRenumbered(t *testing.T) {
	const (
		earlier = uint64(9)<<40 + 10
		create  = uint64(9)<<40 + 20
		anew    = uint64(14)<<40 + 1<<39 + 1
	)
	for name, c := range map[string]struct {
		written uint64 // the original number of the renumbered one
		closed  uint64 // the mark of this one is closed in between; 0: none
		life    string // the life that the create is on
		broken  bool
	}{
		"written before, on another life": {written: earlier, life: "n0.9.8"},
		"written before, on its life":     {written: earlier, life: "n0.9.7", broken: true},
		"written after":                   {written: create + 1, life: "n0.9.8", broken: true},
		"nobody knows when":               {life: "n0.9.8", broken: true},
		"its own mark was closed":         {written: earlier, closed: create, life: "n0.9.8", broken: true},
		"one before it was closed":        {written: earlier, closed: create - 5, life: "n0.9.8"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sim{plain: true}
			s.net = simcloud.NewNetwork(nil, nil, 1)
			s.book = newBook(s)
			b := s.book
			if c.written > 0 {
				b.acknowledge(&act{node: "n1", seq: c.written, table: "settings", key: pk("s0"), op: store.OpUpdate, id: "n1.1"})
			}
			b.acknowledge(&act{node: "n1", seq: create, table: "settings", key: pk("s0"), op: store.OpUpdate, id: "n1.2", upsert: true})
			effect := func(seq uint64, life, was, is string, closes bool) {
				image := func(id string) attr.Item {
					return attr.Item{"pk": attr.S("s0"), "v": attr.S(id), intent.AttrLife: attr.S(life)}
				}
				b.latest++
				e := &simcloud.Effect{N: b.latest, Table: "settings", Key: pk("s0"), Op: store.OpUpdate, Old: image(was), New: image(is), By: "n1"}
				b.marked(e, "settings s0", fmt.Sprintf("n1 %d", seq), seq, closes)
			}
			effect(anew, "n0.9.7", "n0.5", "n1.1", false)
			if c.closed > 0 {
				effect(c.closed, c.life, "n0.6", "n0.6", true)
			}
			effect(create, c.life, "n0.6", "n1.2", false)
			if s.broken() != c.broken {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

// A create that waited in a snapshot, and that the lost timeline had folded into a later write, applies again if a foreign writer has
// ended the life that both copies name: nothing is left to recognize it by. If a node has ended that life, its tombstone is left,
// and without a snapshot nothing is sent a second time.
func TestOrderOfACreateCopiedByASnapshot(t *testing.T) {
	const (
		create = uint64(1)<<40 + 4
		folded = uint64(1)<<40 + 28
		later  = uint64(4)<<40 + 148
		life   = "n0.1.1099511627780"
		anew   = "~n0.3.3298534883335"
	)
	for name, c := range map[string]struct {
		life    string // of the item that the foreign writer replaces
		back    bool   // the machine is put back to the snapshot
		foreign bool   // a foreign writer replaces it
		broken  bool
	}{
		"taken by a foreign writer":       {life: life, back: true, foreign: true},
		"ended by a node":                 {life: life, back: true, broken: true},
		"another life was taken":          {life: "n0.1.1099511627803", back: true, foreign: true, broken: true},
		"taken, and nothing was put back": {life: life, foreign: true, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sim{plain: true}
			s.net = simcloud.NewNetwork(nil, nil, 1)
			s.book = newBook(s)
			b := s.book
			b.issued["n0.3"], b.issued["foreign.80"] = true, true
			b.acknowledge(&act{node: "n0", seq: create, table: "items", key: pk("i3"), op: store.OpUpdate, id: "n0.3", upsert: true})
			image := func(id, life string) attr.Item {
				return attr.Item{"pk": attr.S("i3"), "v": attr.S(id), intent.AttrLife: attr.S(life)}
			}
			effect := func(by string, seq uint64, op store.Op, was, is attr.Item) {
				e := &simcloud.Effect{N: b.latest + 1, Table: "items", Key: pk("i3"), Op: op, Old: was, New: is, By: by}
				if seq > 0 {
					e.Mark = fmt.Sprintf("%s %d.123456789", by, seq)
				}
				b.effect(e)
			}
			effect("n0", folded, store.OpPut, nil, image("n0.3", c.life))
			if c.foreign {
				overwritten := attr.Item{"pk": attr.S("i3"), "v": attr.S("foreign.80")}
				effect("foreign", 0, store.OpPut, image("n0.3", c.life), overwritten)
				effect("n0", 0, store.OpUpdate, overwritten, image("foreign.80", anew))
				effect("n0", later, store.OpDelete, image("foreign.80", anew), nil)
			} else {
				effect("n0", later, store.OpDelete, image("n0.3", c.life), nil)
			}
			if c.back {
				b.putBack("n0", disk{acts: map[*act]bool{b.acts[0]: true}})
			}
			effect("n0", create, store.OpUpdate, nil, image("n0.3", life))
			if s.broken() != c.broken {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

// A create without a proof whose mark was closed without its node being told is decided again if another node has deleted the item with
// the mark: it is applied. A copy from before the closing must not arrive any more, and a copy must not apply while the mark is there.
func TestOrderOfACreateWhoseClosingIsForgotten(t *testing.T) {
	const (
		create = uint64(1)<<40 + 14
		mark   = "n1 1099511627790.327798957"
		label  = "~n1.1.1099511627790"
		life   = "n1.1.1099511627790"
	)
	for name, c := range map[string]struct {
		again   bool // it is sent after the closing
		closes  bool // it is sent only to close the mark again
		deleted bool // the item with the mark
		behind  bool // what its node wrote later has had an effect
		broken  bool
	}{
		"sent again, and the item was deleted":      {again: true, deleted: true},
		"a copy from before":                        {deleted: true, broken: true},
		"closed again, and a copy from before":      {again: true, closes: true, deleted: true, broken: true},
		"sent again, and the item is there":         {again: true, broken: true},
		"sent again, and what is behind it applied": {again: true, deleted: true, behind: true, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sim{plain: true}
			s.net = simcloud.NewNetwork(nil, nil, 1)
			s.book = newBook(s)
			b := s.book
			b.issued["n1.57"], b.issued["foreign.80"] = true, true
			b.acknowledge(&act{node: "n1", seq: create, table: "items", key: pk("i4"), op: store.OpPut, id: "n1.57"})
			image := func(id, life string) attr.Item {
				return attr.Item{"pk": attr.S("i4"), "v": attr.S(id), intent.AttrLife: attr.S(life)}
			}
			effect := func(by, mark string, op store.Op, was, is attr.Item) {
				b.effect(&simcloud.Effect{N: b.latest + 1, Table: "items", Key: pk("i4"), Op: op, Old: was, New: is, By: by, Mark: mark})
			}
			sends := func(values attr.Item) {
				b.sends(mark, &intent.Call{Op: store.OpPut, Table: "items", Key: pk("i4"), Params: expr.Params{Values: values}})
			}
			closing := attr.Item{":x": attr.Int(1)}
			there := attr.Item{"pk": attr.S("i4"), "v": attr.S("foreign.80")}
			effect("foreign", "", store.OpPut, nil, there)
			sends(nil)
			sends(closing)
			was := image("foreign.80", label)
			effect("n1", mark+"1", store.OpUpdate, there, was)
			if c.deleted {
				effect("n0", "", store.OpDelete, was, nil)
				was = nil
			}
			if c.behind {
				effect("n1", fmt.Sprintf("n1 %d.123456789", create+2), store.OpDelete, image("foreign.80", "n0.1.9"), nil)
			}
			switch {
			case c.closes:
				sends(closing)
			case c.again:
				sends(nil)
			}
			is := image("n1.57", life)
			if was != nil {
				is = image("n1.57", label)
			}
			effect("n1", mark, store.OpPut, was, is)
			if s.broken() != c.broken {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

// A copy of a write from a lost timeline may arrive after what its node has written since: the node has no trace of it.
func TestOrderOfACopyFromALostTime(t *testing.T) {
	const (
		lost  = uint64(5)<<40 + 102
		later = uint64(7)<<40 + 37
		mark  = "n4 5497558138982.316972571"
		life  = "n4.5.5497558138982"
	)
	for name, c := range map[string]struct {
		kept   bool // the disk that its machine is restored to contains it
		twice  bool // it had its effect before, and another node has deleted the item
		again  bool // it is sent again after that
		marked bool // the item has a later mark of its node
		broken bool
	}{
		"a copy":                        {},
		"its node still has it":         {kept: true, broken: true},
		"it had come before":            {twice: true, broken: true},
		"its node sends it":             {again: true, broken: true},
		"a later mark is to refuse it":  {marked: true, broken: true},
		"its node has it, and sends it": {kept: true, again: true, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sim{plain: true}
			s.net = simcloud.NewNetwork(nil, nil, 1)
			s.book = newBook(s)
			b := s.book
			b.issued["n4.222"], b.issued["n3.265"] = true, true
			b.acknowledge(&act{node: "n4", seq: lost, table: "items", key: pk("i3"), op: store.OpPut, id: "n4.222"})
			image := func(id, life string) attr.Item {
				return attr.Item{"pk": attr.S("i3"), "v": attr.S(id), intent.AttrLife: attr.S(life)}
			}
			effect := func(by, mark string, op store.Op, was, is attr.Item) {
				b.effect(&simcloud.Effect{N: b.latest + 1, Table: "items", Key: pk("i3"), Op: op, Old: was, New: is, By: by, Mark: mark})
			}
			sends := func() { b.sends(mark, &intent.Call{Op: store.OpPut, Table: "items", Key: pk("i3")}) }
			sends()
			if c.twice {
				effect("n4", mark, store.OpPut, nil, image("n4.222", life))
				effect("n3", "n3 4398046511199.1", store.OpDelete, image("n4.222", life), nil)
			}
			d := disk{acts: map[*act]bool{}}
			if c.kept {
				d.acts[b.acts[0]] = true
			}
			b.putBack("n4", d)
			was := image("n3.265", "n3.4.4398046511200")
			effect("n3", "n3 4398046511200.396833782", store.OpUpdate, nil, was)
			if c.marked {
				there := image("n3.265", "n3.4.4398046511200")
				there[intent.AttrMark+"n4"] = attr.Int(int64(later))
				effect("n4", fmt.Sprintf("n4 %d.683411595", later), store.OpUpdate, was, there)
				was = there
			} else {
				effect("n4", fmt.Sprintf("n4 %d.683411595", later), store.OpDelete, was, nil)
				was = nil
			}
			if c.again {
				sends()
			}
			effect("n4", mark, store.OpPut, was, image("n4.222", life))
			if s.broken() != c.broken {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}

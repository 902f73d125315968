package main

import (
	"fmt"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Every fifth single update goes to an item that gets ten of them. Sixteen such items get theirs in turn: close enough for several updates
// of one item to be in flight together, where their order could be lost, but not with the bare client, which keeps no order.
const (
	inTurnEach = 5
	turns      = 10
	open       = 16
)

// write is one write of the application.
type write struct {
	op   store.Op
	id   int // negative: an item in the partition shared by all such items
	pair int // the item updated in the same transaction; 0: no transaction
	turn int // number of the update, from 1, if the item gets several; 0: only one
}

// plan distributes the mix evenly over the writes.
func plan(m mix, writes int) []write {
	out := make([]write, 0, writes)
	var inTurn sharing
	for i := range writes {
		w := write{op: store.OpDelete, id: i + 1}
		if m.follows {
			w.id = -w.id
		}
		switch part := i * 37 % 100; {
		case part < m.updates:
			w.op = store.OpUpdate
		case part < m.updates+m.creates:
			w.op = store.OpPut
		}
		if m.together {
			if i%2 == 1 {
				continue
			}
			w.pair = i + 2
		} else if w.op == store.OpUpdate {
			inTurn.share(&w)
		}
		out = append(out, w)
	}
	if m.together {
		for len(out) < writes { // a transaction stands for two writes
			out = append(out, write{})
		}
	}
	return out
}

// sharing assigns updates to items that get several.
type sharing struct {
	updates int
	ids     [open]int
}

func (s *sharing) share(w *write) {
	s.updates++
	if s.updates%inTurnEach != 0 {
		return
	}
	n := s.updates/inTurnEach - 1
	place := n % open
	w.turn = n/open%turns + 1
	if w.turn == 1 {
		s.ids[place] = w.id
	}
	w.id = s.ids[place]
}

func keyOf(id int) attr.Item {
	if id < 0 {
		return attr.Item{"pk": attr.S(onePartition), "sk": attr.S(fmt.Sprintf("p%07d", -id))}
	}
	return attr.Item{"pk": attr.S(fmt.Sprintf("p%07d", id)), "sk": attr.S("item")}
}

const onePartition = "match"

// nameOf returns the part of a key that is unique to its item.
func nameOf(key attr.Item) string {
	if pk := key["pk"].Str(); pk != onePartition {
		return pk
	}
	return key["sk"].Str()
}

func itemOf(id int) attr.Item {
	it := keyOf(id)
	it["n"] = attr.Int(0)
	it["text"] = attr.S(strings.Repeat("x", 470))
	return it
}

const seenAt = "2026-11-21T12:00:00Z"

// update returns an update of the write's item, or of the other one in its transaction. One of several updates to an item appends its
// number to a list, which shows the order in which they arrived.
func (w write) update(table string, id int) *store.UpdateItem {
	u := &store.UpdateItem{Table: table, Key: keyOf(id), Update: "SET n = :n, seen = :t"}
	u.Values = attr.Item{":n": attr.Int(int64(id)), ":t": attr.S(seenAt)}
	if w.turn > 0 {
		u.Update += ", turns = list_append(if_not_exists(turns, :none), :turn)"
		u.Values[":none"], u.Values[":turn"] = attr.L(), attr.L(attr.Int(int64(w.turn)))
	}
	return u
}

// prepares reports whether the write's item must exist before.
func (w write) prepares() bool { return w.op != 0 && w.op != store.OpPut && w.turn <= 1 }

// leaves returns the item after the write if it is the item's last one; nil: no item.
func (w write) leaves() attr.Item {
	if w.op == 0 || w.op == store.OpDelete {
		return nil
	}
	it := itemOf(w.id)
	if w.op == store.OpPut {
		return it
	}
	it["n"], it["seen"] = attr.Int(int64(w.id)), attr.S(seenAt)
	var list []attr.Value
	for turn := range w.turn {
		list = append(list, attr.Int(int64(turn+1)))
	}
	if w.turn > 0 {
		it["turns"] = attr.L(list...)
	}
	return it
}

// perform writes to the store: the item that must exist first if prepare is set, otherwise the write itself.
func (w write) perform(tx *store.Tx, table string, prepare bool) (err error) {
	put := func(id int) error {
		_, err := tx.Put(store.PutItem{Table: table, Item: itemOf(id), Condition: "attribute_not_exists(pk)", NoOld: true})
		return err
	}
	switch {
	case w.op == 0:
	case prepare && !w.prepares():
	case prepare:
		if err = put(w.id); err == nil && w.pair != 0 {
			err = put(w.pair)
		}
	case w.pair != 0:
		one, two := w.update(table, w.id), w.update(table, w.pair)
		err = tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: one}, {Update: two}}})
	case w.op == store.OpUpdate:
		_, err = tx.Update(*w.update(table, w.id))
	case w.op == store.OpPut:
		err = put(w.id)
	default:
		_, err = tx.Delete(store.DeleteItem{Table: table, Key: keyOf(w.id), NoOld: true})
	}
	return err
}

package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/flow"
)

// act is one write acknowledged to an application.
type act struct {
	node   string
	run    int
	seq    uint64
	table  string
	key    attr.Item
	op     store.Op
	what   string // which operation of the applications
	id     string // the value it wrote; "": it deletes, or counts
	inc    int64
	upsert bool      // it found no item
	whole  attr.Item // the item it puts
	at     time.Time // when it was acknowledged
	txn    int       // the same for all of one TransactWrite; 0: alone
	after  uint64    // the last effect in the cloud when it was acknowledged
	maybe  bool      // the process died during it: it may be applied or not
	gone   bool      // on a disk that was restored to an earlier state, so nothing is promised
	undone bool      // gone, with everything the node had recorded since
}

// writing is one Update of an application.
type writing struct {
	l    *simLife
	tx   *store.Tx
	what string
	acts []*act
	txn  int
	next func() // called when acknowledged; nil: nothing
}

func (w *writing) note(table string, key attr.Item, op store.Op, id string, inc int64, was attr.Item) {
	w.acts = append(w.acts, &act{
		node: w.l.n.name, run: w.l.n.runs, seq: w.tx.Seq(), table: table, key: key, op: op, what: w.what, id: id, inc: inc,
		upsert: was == nil, txn: w.txn,
	})
}

func (w *writing) put(table string, item attr.Item, id, condition string, values attr.Item) error {
	key := keyIn(item)
	was, err := w.tx.Put(store.PutItem{Table: table, Item: item, Condition: condition, Params: expr.Params{Values: values}})
	if err == nil {
		w.note(table, key, store.OpPut, id, 0, was)
		w.acts[len(w.acts)-1].whole = item
	}
	return err
}

func (w *writing) update(table string, key attr.Item, id string, inc int64, update, condition string, values attr.Item) error {
	params := expr.Params{Values: values}
	if strings.Contains(update, "#ttl") {
		params.Names = map[string]string{"#ttl": "ttl"}
	}
	images, err := w.tx.Update(store.UpdateItem{Table: table, Key: key, Update: update, Condition: condition, Params: params})
	if err == nil {
		w.note(table, key, store.OpUpdate, id, inc, images.Old)
	}
	return err
}

func (w *writing) remove(table string, key attr.Item, condition string, values attr.Item) error {
	was, err := w.tx.Delete(store.DeleteItem{Table: table, Key: key, Condition: condition, Params: expr.Params{Values: values}})
	if err == nil && was != nil {
		w.note(table, key, store.OpDelete, "", 0, was)
	}
	return err
}

func keyIn(item attr.Item) attr.Item {
	key := attr.Item{"pk": item["pk"]}
	if sk := item["sk"]; !sk.IsZero() {
		key["sk"] = sk
	}
	return key
}

// write runs one Update of an application and books it if acknowledged.
func (l *simLife) write(what string, fn func(*writing) error) bool {
	var w *writing
	err := l.store.Update(context.Background(), func(tx *store.Tx) error {
		w = &writing{l: l, tx: tx, what: what}
		return fn(w)
	})
	s := l.n.s
	_, refused := errors.AsType[*store.ConditionFailedError](err)
	_, canceled := errors.AsType[*store.TransactionCanceledError](err)
	switch {
	case err == nil:
		if l.store.Err() != nil {
			s.violate("%s %s was acknowledged by a store that has failed", l.n.name, what)
		}
		for _, a := range w.acts {
			a.maybe = l.dead.Load()
			s.book.acknowledge(a)
			s.trace("%s %s %s %s seq %d id %s inc %d", l.n.name, what, a.table, keyText(a.key), a.seq, a.id, a.inc)
		}
		if w.next != nil {
			w.next()
		}
		if !l.dead.Load() {
			s.book.reads(l, w.acts)
		}
		return !l.dead.Load()
	case refused, canceled, l.dead.Load():
	case l.store.Err() != nil:
		s.net.Count("write refused by a store that has failed")
		if w != nil { // it was part of the failed commit
			for _, a := range w.acts {
				a.maybe = true
				s.book.acknowledge(a)
			}
		}
	case noRoom(err):
		s.net.Count("write refused by the budget of what waits")
	case kinds.Is(err, kinds.Full), kinds.Is(err, kinds.Unavailable), kinds.Is(err, kinds.Throttled):
		s.net.Count("write refused for room")
	case l.n.damaged.Load():
		s.net.Count("write refused for what cannot be read")
	case kinds.Is(err, kinds.Invalid), kinds.Is(err, kinds.Conflict):
		s.trace("%s %s refused: %v", l.n.name, what, err)
		s.net.Count("refused: " + what)
	default:
		s.violate("%s %s: %v", l.n.name, what, err)
	}
	return false
}

// noRoom reports whether the replicator accepts no more writes for now.
func noRoom(err error) bool {
	_, is := errors.AsType[*flow.RefusedError](err)
	return is
}

// operation is one kind of write; weight is its relative frequency.
type operation struct {
	name   string
	weight int
	do     func(*writing, *sim) error
}

func itemKey(s *sim) attr.Item {
	if s.hot > 0 && s.luck.n(4) > 0 {
		return pk(fmt.Sprintf("i%d", s.hot-1))
	}
	return pk(fmt.Sprintf("i%d", s.n(6)))
}

// operations are what applications do to shared tables.
func operations() []operation {
	return []operation{
		{"create", 4, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			return w.put("items", attr.Item{"pk": itemKey(s)["pk"], "v": attr.S(id)}, id, "attribute_not_exists(pk)", nil)
		}},
		{"put", 2, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			return w.put("items", attr.Item{"pk": itemKey(s)["pk"], "v": attr.S(id), "n": attr.Int(1)}, id, "", nil)
		}},
		{"set", 6, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			field := string(rune('a' + s.n(3)))
			return w.update("items", itemKey(s), id, 0, "SET "+field+" = :v", "", attr.Item{":v": attr.S(id)})
		}},
		{"set if seen", 5, setIfSeen},
		{"set if there", 3, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			return w.update("items", itemKey(s), id, 0, "SET v = :v", "attribute_exists(pk)", attr.Item{":v": attr.S(id)})
		}},
		{"put what was read", 3, putRead},
		{"nested", 2, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			if s.once(2) {
				return w.update("items", itemKey(s), id, 0, "SET m = :m", "", attr.Item{":m": attr.M(attr.Item{"x": attr.S(id)})})
			}
			return w.update("items", itemKey(s), id, 0, "SET m.x = :v", "", attr.Item{":v": attr.S(id)})
		}},
		{"remove", 2, func(w *writing, s *sim) error {
			return w.update("items", itemKey(s), "", 0, "REMOVE a, m", "attribute_exists(v)", nil)
		}},
		{"delete", 3, func(w *writing, s *sim) error { return w.remove("items", itemKey(s), "", nil) }},
		{"delete if seen", 2, func(w *writing, s *sim) error {
			key := itemKey(s)
			it, err := w.tx.Get("items", key)
			if err != nil || it["v"].IsZero() {
				return err
			}
			return w.remove("items", key, "v = :v", attr.Item{":v": it["v"]})
		}},
		{"count", 8, func(w *writing, s *sim) error {
			k := int64(1 + s.n(3))
			return w.update("counters", pk(fmt.Sprintf("c%d", s.n(3))), "", k, "ADD n :k", "", attr.Item{":k": attr.Int(k)})
		}},
		{"count twice", 2, func(w *writing, s *sim) error {
			key := pk(fmt.Sprintf("c%d", s.n(3)))
			if err := w.update("counters", key, "", 1, "SET n = if_not_exists(n, :zero) + :k", "", attr.Item{
				":k": attr.Int(1), ":zero": attr.Int(0),
			}); err != nil {
				return err
			}
			return w.update("counters", key, "", 2, "ADD n :k", "", attr.Item{":k": attr.Int(2)})
		}},
		{"first", 4, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			return w.put("firsts", attr.Item{
				"pk": attr.S(fmt.Sprintf("f%d", s.n(3))), "sk": attr.S(fmt.Sprint(s.count() / 300)), "v": attr.S(id),
			}, id, "attribute_not_exists(pk)", nil)
		}},
		{"pair", 4, pair},
		{"links", 4, links},
		{"setting", 4, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			return w.update("settings", pk(fmt.Sprintf("s%d", s.n(3))), id, 0, "SET v = :v", "", attr.Item{":v": attr.S(id)})
		}},
		{"setting put", 1, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			return w.put("settings", attr.Item{"pk": attr.S(fmt.Sprintf("s%d", s.n(3))), "v": attr.S(id)}, id, "", nil)
		}},
		{"setting delete", 1, func(w *writing, s *sim) error {
			return w.remove("settings", pk(fmt.Sprintf("s%d", s.n(3))), "", nil)
		}},
		{"row", 3, func(w *writing, s *sim) error {
			id := s.id(w.l.n.name)
			ttl := attr.Int(w.tx.Now().Add(s.span(10*time.Second, 10*time.Minute)).Unix())
			key := pk(fmt.Sprintf("r%d", s.n(3)))
			if s.once(2) {
				return w.put("rows", attr.Item{"pk": key["pk"], "v": attr.S(id), "ttl": ttl}, id, "attribute_not_exists(pk)", nil)
			}
			return w.update("rows", key, id, 0, "SET v = :v, #ttl = :ttl", "", attr.Item{":v": attr.S(id), ":ttl": ttl})
		}},
		{"note", 1, func(w *writing, s *sim) error {
			_, err := w.tx.Put(store.PutItem{Table: "notes", Item: attr.Item{"pk": attr.S(w.l.n.name)}})
			return err
		}},
		{"poison", 1, writePoison},
	}
}

// writePoison writes something the cloud never accepts: a number where an index has a string key, or an item that is too large. Sometimes
// on a shared item.
func writePoison(w *writing, s *sim) error {
	if !s.once(3) {
		return nil
	}
	id, key := s.id(w.l.n.name), pk("poison"+w.l.n.name)
	if s.luck.once(2) {
		return w.update("items", key, id, 0, "SET v = :v, g = :g", "", attr.Item{":v": attr.S(id), ":g": attr.Int(1)})
	}
	if s.luck.once(6) {
		key = pk(fmt.Sprintf("i%d", s.luck.n(6)))
	}
	return w.update("items", key, id, 0, "SET v = :v, big = :b", "", attr.Item{
		":v": attr.S(id), ":b": attr.B(make([]byte, simMaxItem)),
	})
}

func setIfSeen(w *writing, s *sim) error {
	key := itemKey(s)
	it, err := w.tx.Get("items", key)
	if err != nil || it["v"].IsZero() {
		return err
	}
	id := s.id(w.l.n.name)
	return w.update("items", key, id, 0, "SET v = :v", "v = :seen", attr.Item{":v": attr.S(id), ":seen": it["v"]})
}

func putRead(w *writing, s *sim) error {
	key := itemKey(s)
	it, err := w.tx.Get("items", key)
	if err != nil || it == nil {
		return err
	}
	id := s.id(w.l.n.name)
	next := maps.Clone(it)
	next["v"] = attr.S(id)
	delete(next, "c")
	return w.put("items", next, id, "", nil)
}

// pair writes two items that must never be seen apart, on condition of a third.
func pair(w *writing, s *sim) error {
	if s.seed%10 == 9 {
		return nil // a cloud without transactions
	}
	id := s.id(w.l.n.name)
	p := s.n(3)
	left, right := pk(fmt.Sprintf("p%d-left", p)), pk(fmt.Sprintf("p%d-right", p))
	seen, err := w.tx.Get("items", pk("i0"))
	if err != nil {
		return err
	}
	check := store.ConditionCheck{Table: "items", Key: pk("i0"), Condition: "attribute_not_exists(pk)"}
	if seen != nil {
		check.Condition = "attribute_exists(pk)"
	}
	update := func(key attr.Item) *store.UpdateItem {
		return &store.UpdateItem{Table: "pairs", Key: key, Update: "SET v = :v", Params: expr.Params{Values: attr.Item{":v": attr.S(id)}}}
	}
	items := []store.WriteItem{{Update: update(left)}, {Update: update(right)}}
	if s.once(2) {
		items = append(items, store.WriteItem{Check: &check})
	}
	was, err := w.tx.Get("pairs", left)
	if err != nil {
		return err
	}
	before := w.tx.Seq()
	if err := w.tx.TransactWrite(store.TransactWrite{Items: items}); err != nil {
		return err
	}
	w.txn = s.ids
	w.note("pairs", left, store.OpUpdate, id, 0, was)
	w.note("pairs", right, store.OpUpdate, id, 0, was)
	w.acts[0].seq, w.acts[1].seq = before+1, before+2
	return nil
}

// operate makes an application of the node perform one operation.
func (l *simLife) operate() {
	s := l.n.s
	ops := operations()
	total := 0
	for _, o := range ops {
		total += o.weight
	}
	at := s.n(total)
	for _, o := range ops {
		if at -= o.weight; at < 0 {
			l.write(o.name, func(w *writing) error { return o.do(w, s) })
			return
		}
	}
}

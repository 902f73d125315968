package intent

import (
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// op is a write of an application. Values are JSON.
type op struct {
	op        store.Op
	table, id string
	item      attr.Item
	update    string
	condition string
	values    attr.Item
	names     map[string]string
	read      bool
}

func values(pairs ...any) attr.Item {
	out := attr.Item{}
	for i := 0; i < len(pairs); i += 2 {
		v, err := attr.MarshalValue(pairs[i+1])
		if err != nil {
			panic(err)
		}
		out[pairs[i].(string)] = v
	}
	return out
}

func put(table, id, condition string, pairs ...any) op {
	it := values(pairs...)
	it["pk"] = attr.S(id)
	return op{op: store.OpPut, table: table, id: id, item: it, condition: condition}
}

func update(table, id, text, condition string, pairs ...any) op {
	return op{op: store.OpUpdate, table: table, id: id, update: text, condition: condition, values: values(pairs...)}
}

func remove(table, id, condition string, pairs ...any) op {
	return op{op: store.OpDelete, table: table, id: id, condition: condition, values: values(pairs...)}
}

func check(table, id, condition string, pairs ...any) op {
	return op{table: table, id: id, condition: condition, values: values(pairs...)}
}

func (o op) reading() op { o.read = true; return o }

// prepare judges a write on the view, as the store does; false: it is refused there.
func (n *node) prepare(o op, seq uint64, atomic bool) (Subject, bool) {
	k := at(o.table, key(o.id))
	spec := n.w.specs[o.table]
	known, pending := n.known[k], n.Item(o.table, key(o.id))
	view, _ := View(known, pending, n.env())
	params := expr.Params{Names: o.names}
	if len(o.values) > 0 {
		params.Values = o.values
	}
	w := &store.Write{
		Seq: seq, Txn: seq, Spec: spec, Key: key(o.id), Op: o.op, Read: o.read, Atomic: atomic, Sends: spec.Sends(),
		Request: store.Request{Update: o.update, Condition: o.condition, Params: params},
	}
	b, err := expr.Bind(expr.Request{Update: o.update, Condition: o.condition, Params: params})
	if err != nil {
		n.w.t.Fatal(err)
	}
	w.Bound = b
	if b.Condition != nil {
		if ok, err := b.Condition.Match(expr.Item(view)); err != nil || !ok {
			return Subject{}, false
		}
	}
	if view != nil {
		w.Old = attr.Encode(nil, view)
	}
	switch o.op {
	case store.OpPut:
		w.New = attr.Encode(nil, o.item)
	case store.OpUpdate:
		from := view
		if from == nil {
			if !b.Update.Creates() {
				w.Seq = 0
				break
			}
			from = key(o.id)
		}
		now, err := b.Update.Apply(from)
		if err != nil {
			return Subject{}, false
		}
		w.New = attr.Encode(nil, now)
	case store.OpDelete:
		if view == nil {
			w.Seq = 0
		}
	default:
		w.Seq = 0
	}
	return Subject{Write: w, Known: known, Pending: pending}, true
}

// write is one write of the application; nil: refused, or nothing to send.
func (n *node) write(o op) *Entry {
	s, ok := n.prepare(o, n.seq+1, false)
	if !ok || s.Write.Seq == 0 {
		return nil
	}
	e, err := Compile(s.Write, s.Known, s.Pending, n.env())
	if err != nil {
		if fault.Is(err, fault.Conflict) {
			return nil
		}
		n.w.t.Fatal(err)
	}
	n.seq++
	if e != nil {
		e.Proof = e.Proof && !n.w.older
		n.queue = append(n.queue, e)
	}
	return e
}

// transact is one TransactWrite of the application.
func (n *node) transact(ops ...op) ([]*Entry, error) {
	var subjects []Subject
	seq := n.seq
	for _, o := range ops {
		s, ok := n.prepare(o, seq+1, true)
		if !ok {
			return nil, fault.New(fault.Conflict, "refused", "refused here")
		}
		s.Write.Txn = n.seq + 1
		if s.Write.Seq != 0 {
			seq++
		}
		subjects = append(subjects, s)
	}
	entries, err := CompileAll(subjects, n.env())
	if err != nil {
		return nil, err
	}
	n.seq = seq
	n.queue = append(n.queue, entries...)
	slices.SortFunc(n.queue, func(a, b *Entry) int { return int(a.Seq) - int(b.Seq) })
	return entries, nil
}

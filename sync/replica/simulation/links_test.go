package simulation_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// link is a write that waits behind another.
type link struct{ node, id string }

// links writes an item, others that name it or the last one of this process, and the item again, which waits for those. Now and then one
// goes ahead.
func links(w *writing, s *sim) error {
	chain := fmt.Sprintf("l%d", s.n(3))
	put := func(after ...string) (string, error) {
		id := s.id(w.l.n.name)
		key := attr.Item{"pk": attr.S(chain), "sk": attr.S(id)}
		p := store.PutItem{Table: "links", Item: attr.Item{"pk": key["pk"], "sk": key["sk"], "v": attr.S(id)}, Condition: "attribute_not_exists(pk)"}
		p.Ahead = s.once(3)
		for _, other := range after {
			p.After = append(p.After, store.ItemRef{Table: "links", Key: attr.Item{"pk": key["pk"], "sk": attr.S(other)}})
			s.book.linked(id, link{w.l.n.name, other})
		}
		if _, err := w.tx.Put(p); err != nil {
			return "", err
		}
		w.note("links", key, store.OpPut, id, 0, nil)
		return id, nil
	}
	first, err := put()
	if err != nil {
		return err
	}
	last := first
	for range 1 + s.n(2) {
		named := []string{first}
		if before := w.l.links[chain]; before != "" {
			named = append(named, before)
		}
		if last, err = put(named...); err != nil {
			return err
		}
	}
	id, key := s.id(w.l.n.name), attr.Item{"pk": attr.S(chain), "sk": attr.S(first)}
	s.book.linked(id, link{w.l.n.name, last})
	_, err = w.tx.Update(store.UpdateItem{Table: "links", Key: key, Update: "SET w = :v", Params: expr.Params{Values: attr.Item{":v": attr.S(id)}}})
	if err != nil {
		return err
	}
	w.note("links", key, store.OpUpdate, id, 0, key)
	w.next = func() { w.l.links[chain] = last }
	return nil
}

// linked records that a write waits behind another.
func (b *book) linked(id string, l link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.behind[id] = append(b.behind[id], l)
}

// follows is called for an id that has reached the cloud: what it waits behind must be there.
func (b *book) follows(id string) {
	for _, l := range b.behind[id] {
		if len(b.shown[l.id]) == 0 {
			b.early[l] = id
		}
	}
}

// links checks that nothing came before what it waits behind, unless that ended in a conflict log.
func (b *book) links(recorded map[string]*conflict.Record) {
	known := map[string]bool{}
	for _, a := range b.acts {
		known[a.id] = known[a.id] || a.undone || recorded[fmt.Sprintf("%s %d", a.node, a.seq)] != nil
	}
	for _, l := range slices.SortedFunc(maps.Keys(b.early), func(x, y link) int { return cmp.Compare(x.id, y.id) }) {
		if !known[l.id] && b.epoch == 0 && !b.cloned[l.node] {
			b.s.violate("%s came before %s, which it was to follow", b.early[l], l.id)
		}
	}
}

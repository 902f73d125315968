package intent

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Queue finds pending entries.
type Queue interface {
	// Item returns the pending entries of an item, in order.
	Item(table string, key attr.Item) []*Entry
	// Transaction returns all entries of a cloud transaction, in order.
	Transaction(txn uint64) []*Entry
}

// Tail returns what a rejected batch takes along: the later entries, never sent, that carry its effect, with their transactions and
// in turn what those take along, in the order written.
func Tail(u *Batch, q Queue) []*Entry {
	return closure(u, q, (*Entry).carries)
}

// QueuedBehind returns what waits behind a quarantined batch: all later entries of its items, their transactions, and what waits
// behind those.
func QueuedBehind(u *Batch, q Queue) []*Entry {
	return closure(u, q, func(*Entry, *Entry) bool { return true })
}

func closure(u *Batch, q Queue, takes func(rejected, later *Entry) bool) []*Entry {
	taken := map[uint64]bool{}
	work := slices.Clone(u.Entries)
	for _, e := range work {
		taken[e.Seq] = true
	}
	var out []*Entry
	add := func(e *Entry) {
		if !taken[e.Seq] {
			taken[e.Seq] = true
			out, work = append(out, e), append(work, e)
		}
	}
	for len(work) > 0 {
		e := work[0]
		work = work[1:]
		for _, l := range q.Item(e.Table, e.Key) {
			if l.Earliest() <= e.Earliest() || l.isQuarantined() || !takes(e, l) {
				continue
			}
			if l.Txn == 0 {
				add(l)
				continue
			}
			for _, member := range q.Transaction(l.Txn) {
				add(member)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Entry) int { return cmp.Compare(a.Earliest(), b.Earliest()) })
	return out
}

// carries reports whether a later entry carries the effect of a rejected one, because it was computed from a view that had it. An ADD,
// which the cloud computes, and an entry with a condition of its own do not.
func (e *Entry) carries(later *Entry) bool {
	switch {
	case later.Sent > 0:
		return false
	case later.Behind == e.Seq:
		return true
	case e.Policy == store.PolicyState || e.Policy == store.PolicyNewest:
		return false // it is an image, or a later stamp: decided separately
	}
	return later.falls()
}

// falls reports whether the entry is taken along with the rejected entry that it was written on.
func (e *Entry) falls() bool {
	if e.Op != store.OpUpdate || e.ReplacesExpired {
		return true
	}
	if e.Condition != "" || !e.Read {
		return false
	}
	c := expr.SplitUpdate(e.Update)
	return c.Set != "" || c.Remove != ""
}

package table

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Refusal is a transaction that the cloud refused. Later are the writes that were queued on what it had written, and fall with it: later writes to
// the same rows, with the rest of their transactions.
type Refusal struct {
	Writes []Refused // of the transaction, in order; not empty
	Later  []Refused
	Get    func(key attr.Item) (attr.Item, error) // reads another row as it is at this node; rows that the transaction checked, as they are in the cloud
}

// MergeRule says what becomes of one kind of refusal, so that no person has to decide.
type MergeRule struct {
	Kind    string // the kind and what becomes of it, in one sentence
	Applies func(r *Refusal) bool
	Resolve func(r *Refusal) (writes []store.WriteItem, ok bool) // the writes that take its place; ok is false if a person has to decide after all
}

// Merge resolves a refusal by the first of the rules that applies. ok is false if none does: a person decides.
func Merge(rules []MergeRule, r *Refusal) (writes []store.WriteItem, ok bool) {
	for i := range rules {
		if rules[i].Applies(r) {
			return rules[i].Resolve(r)
		}
	}
	return nil, false
}

// First returns the first write of the refused transaction.
func (r *Refusal) First() *Refused { return &r.Writes[0] }

// IsAlone reports whether a single write was refused, and nothing was queued on it.
func (r *Refusal) IsAlone() bool { return len(r.Writes) == 1 && len(r.Later) == 0 }

// To returns the refused writes to a row, in order.
func (r *Refusal) To(key attr.Item) (all []Refused) {
	for _, list := range [][]Refused{r.Writes, r.Later} {
		for i := range list {
			if attr.EqualItems(list[i].Key, key) {
				all = append(all, list[i])
			}
		}
	}
	return all
}

// IsTaken reports whether the write was to create a row that another had created first.
func (r *Refused) IsTaken() bool { return r.Base == nil && r.Remote != nil }

// IsGone reports whether the row that the write was to change had been deleted.
func (r *Refused) IsGone() bool { return r.Base != nil && r.Remote == nil }

// IsThere reports whether the cloud has the row as the write left it here, so that nothing is left to do.
func (r *Refused) IsThere() bool { return attr.EqualItems(r.View, r.Remote) }

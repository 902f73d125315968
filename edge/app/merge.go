package app

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Refusals resolves a transaction that the cloud refused. all are its writes, behind the later writes to the same items, with the rest of
// their transactions. get reads another row of the table from this node. ok is false if a person has to decide. docs/merges.md says how to write one.
type Refusals func(all, behind []table.Refused, get func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool)

// Merge returns a conflict handler that applies rules. A person decides if what they return is too much for one transaction: hundreds of later writes
// to the same items may have been refused with it.
func Merge(rules Refusals) conflict.MergeFunc {
	return func(c conflict.MergeCase) (writes []store.WriteItem, ok bool) {
		var all, behind []table.Refused
		for i, e := range c.Entries {
			it := &c.Items[i]
			all = append(all, table.Refused{
				Key: e.Key, Again: conflict.Again(e), Txn: e.Txn, Base: it.Base, View: it.View, Remote: it.Remote, Late: c.Code == string(intent.CodeLate),
			})
		}
		for _, e := range c.Tail {
			behind = append(behind, table.Refused{Key: e.Key, Again: conflict.Again(e), Txn: e.Txn})
		}
		writes, ok = rules(all, behind, func(key attr.Item) (attr.Item, error) { return c.Get(c.Entries[0].Table, key) })
		if len(writes) > table.Slice {
			return nil, false
		}
		return writes, ok
	}
}

package table

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Refused is a write of a transaction that the cloud did not take: its item as it was, as it was seen here, and as it is by now, nil: no
// item; and what asks for it again, with the checks of its transaction where it is the first one. What stands behind such a write, and goes
// with it, has no images.
type Refused struct {
	Key, Base, View, Remote attr.Item
	Again                   []store.WriteItem
	Txn                     uint64 // the transaction that it was written in; 0: it was written by itself
	Late                    bool   // it was not sent in time
}

// Updates is the update that it makes; empty: it makes none.
func (r *Refused) Updates() string {
	if len(r.Again) == 0 || r.Again[0].Update == nil {
		return ""
	}
	return r.Again[0].Update.Update
}

// Drops reports whether it removes a row, whatever that is by then.
func (r *Refused) Drops() bool {
	return len(r.Again) > 0 && r.Again[0].Delete != nil && r.Again[0].Delete.Condition == ""
}

// Keys is the key of a table or an index, of two texts.
func Keys(partition, sort string) store.KeySpec {
	return store.KeySpec{
		Partition: store.KeyAttr{Name: partition, Type: store.KeyString}, Sort: store.KeyAttr{Name: sort, Type: store.KeyString},
	}
}

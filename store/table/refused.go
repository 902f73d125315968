package table

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Refused is a write that the cloud refused. Base is the item before the write, View as it was seen here, and Remote as it is now; nil
// means no item. Again has the write, to request it again, and the checks of its transaction if it is the first one. Writes that were
// queued after a refused one, and are refused with it, have no images. Several writes may have been combined into one, whose values then have
// other names than the application gave them: rely on attributes, not on the names of values.
type Refused struct {
	Key, Base, View, Remote attr.Item
	Again                   []store.WriteItem
	Txn                     uint64 // the transaction it was part of; 0: it was written alone
	Late                    bool   // it was not sent in time
}

// Updates returns the update expression of the write, or "" if it is not an update.
func (r *Refused) Updates() string {
	if len(r.Again) == 0 || r.Again[0].Update == nil {
		return ""
	}
	return r.Again[0].Update.Update
}

// Drops reports whether the write deletes a row unconditionally.
func (r *Refused) Drops() bool {
	return len(r.Again) > 0 && r.Again[0].Delete != nil && r.Again[0].Delete.Condition == ""
}

// Keys returns the key of a table or an index with two strings.
func Keys(partition, sort string) store.KeySpec {
	return store.KeySpec{
		Partition: store.KeyAttr{Name: partition, Type: store.KeyString}, Sort: store.KeyAttr{Name: sort, Type: store.KeyString},
	}
}

package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// deleteItem removes an item.
type deleteItem struct {
	writing
	key wire.Item
}

func (r *deleteItem) members(m *wire.Member) {
	m.Item("Key", &r.key)
	r.writing.members(m)
}

func (r *deleteItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	c.returnValues(r.returnValues)
	c.onConditionCheckFailure("returnValuesOnConditionCheckFailure", r.onFailure)
	c.returnItemCollectionMetrics(r.metrics)
	c.required("key", r.key.Set)
	r.constrainExpected(c)
}

func (r *deleteItem) run(c *call) error {
	del := store.DeleteItem{Table: tableName(r.table.V), Key: r.key.V, NoOld: r.returnValues.V != "ALL_OLD"}
	expressions, err := r.whole(&r.key)
	if err == nil {
		del.Condition, _, del.Params, err = r.bindLegacy(expressions...)
	}
	if err != nil {
		return numberDetected(err)
	}
	return r.do(c, del.Key, func(tx *store.Tx) (im store.Images, err error) {
		im.Old, err = tx.Delete(del)
		return im, err
	})
}

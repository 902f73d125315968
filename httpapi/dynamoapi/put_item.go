package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// putItem creates an item or replaces it as a whole.
type putItem struct {
	writing
	item wire.Item
}

func (r *putItem) members(m *wire.Member) {
	m.Item("Item", &r.item)
	r.writing.members(m)
}

func (r *putItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	c.required("item", r.item.Set)
	r.constrainExpected(c)
	c.returnValues(r.returnValues)
	c.onConditionCheckFailure("returnValuesOnConditionCheckFailure", r.onFailure)
	c.returnItemCollectionMetrics(r.metrics)
}

func (r *putItem) run(c *call) error {
	put := store.PutItem{Table: tableName(r.table.V), Item: r.item.V, NoOld: r.returnValues.V != "ALL_OLD"}
	expressions, err := r.whole(&r.item)
	if err == nil {
		put.Condition, _, put.Params, err = r.bindLegacy(expressions...)
		if err != nil && attr.Size(put.Item) > attr.MaxItemSize {
			err = attr.TooLarge() // which the store finds, but the service finds it before what was found here
		}
	}
	if err != nil {
		return numberDetected(err)
	}
	return r.do(c, put.Item, func(tx *store.Tx) (im store.Images, err error) {
		im.Old, err = tx.Put(put)
		return im, err
	})
}

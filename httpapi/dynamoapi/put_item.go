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

func (r *putItem) touches(visit func(action, table string)) { visit("PutItem", r.table.V) }

func (r *putItem) run(c *call) error {
	put, err := r.put()
	if err != nil {
		return numberDetected(err)
	}
	images, account, err := r.do(c, func(tx *store.Tx) (im store.Images, err error) {
		im.Old, err = tx.Put(put)
		return im, err
	})
	if err != nil {
		return err
	}
	if r.returnValues.V == "ALL_OLD" && images.Old != nil {
		named(c.out, "Attributes", images.Old)
	}
	account.done(c.out, put.Item)
	return nil
}

// put makes the checks of the request and returns it as the store takes it.
func (r *putItem) put() (put store.PutItem, err error) {
	expressions := []expression{{"ConditionExpression", r.condition}}
	if err := r.check(expressions, r.legacy.names(false)...); err != nil {
		return put, err
	}
	if r.item.Err != nil {
		return put, r.item.Err
	}
	if err := r.checkOld(); err != nil {
		return put, err
	}
	put = store.PutItem{Table: tableName(r.table.V), Item: r.item.V, NoOld: r.returnValues.V != "ALL_OLD"}
	put.Condition, _, put.Params, err = r.bindLegacy(expressions...)
	if err != nil && attr.Size(put.Item) > attr.MaxItemSize {
		err = attr.TooLarge() // which the store finds, but the service finds it before what was found here
	}
	return put, err
}

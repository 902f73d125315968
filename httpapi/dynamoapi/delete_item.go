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

func (r *deleteItem) touches(visit func(action, table string)) { visit("DeleteItem", r.table.V) }

func (r *deleteItem) run(c *call) error {
	del, err := r.delete()
	if err != nil {
		return numberDetected(err)
	}
	images, account, err := r.do(c, func(tx *store.Tx) (im store.Images, err error) {
		im.Old, err = tx.Delete(del)
		return im, err
	})
	if err != nil {
		return err
	}
	if r.returnValues.V == "ALL_OLD" && images.Old != nil {
		named(c.out, "Attributes", images.Old)
	}
	account.done(c.out, del.Key)
	return nil
}

// delete makes the checks of the request and returns it as the store takes it.
func (r *deleteItem) delete() (del store.DeleteItem, err error) {
	expressions := []expression{{"ConditionExpression", r.condition}}
	if err := r.check(expressions, r.legacy.names(false)...); err != nil {
		return del, err
	}
	if r.key.Err != nil {
		return del, r.key.Err
	}
	if err := r.checkOld(); err != nil {
		return del, err
	}
	del = store.DeleteItem{Table: tableName(r.table.V), Key: r.key.V, NoOld: r.returnValues.V != "ALL_OLD"}
	del.Condition, _, del.Params, err = r.bindLegacy(expressions...)
	return del, err
}

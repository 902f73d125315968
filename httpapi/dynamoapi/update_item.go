package dynamoapi

import (
	"errors"

	"github.com/touchline/touchline/httpapi/dynamoapi/legacy"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/expr"
)

// updateItem changes attributes of an item, or creates it.
type updateItem struct {
	writing
	key    wire.Item
	update wire.Opt[string]
}

func (r *updateItem) members(m *wire.Member) {
	m.Item("Key", &r.key)
	m.Text("UpdateExpression", &r.update)
	r.legacy.updateMembers(m)
	r.writing.members(m)
}

func (r *updateItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	c.returnItemCollectionMetrics(r.metrics)
	c.returnValues(r.returnValues)
	c.onConditionCheckFailure("returnValuesOnConditionCheckFailure", r.onFailure)
	c.required("key", r.key.Set)
	r.constrainExpected(c)
	r.legacy.constrainUpdates(c)
}

func (r *updateItem) run(c *call) error {
	update, err := r.asked()
	if err != nil {
		return numberDetected(err)
	}
	err = r.do(c, update.Key, func(tx *store.Tx) (store.Images, error) { return tx.Update(update) })
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == expr.CodeOperand && r.legacy.updates.Set {
		return errValidation("Type mismatch for attribute to update")
	}
	return err
}

// asked makes the checks of the request and returns it as the store takes it.
func (r *updateItem) asked() (u store.UpdateItem, err error) {
	expressions := []expression{{"UpdateExpression", r.update}, {"ConditionExpression", r.condition}}
	if err := r.check(expressions, r.legacy.names(false)...); err != nil {
		return u, err
	}
	if r.key.Err != nil {
		return u, r.key.Err
	}
	if err := legacy.CheckChanges(r.legacy.updates.V); err != nil {
		return u, err
	}
	u = store.UpdateItem{Table: tableName(r.table.V), Key: r.key.V}
	u.Condition, u.Update, u.Params, err = r.bindLegacy(expressions...)
	if r.update.Set {
		u.Update = r.update.V
	}
	return u, err
}

package dynamoapi

import (
	"errors"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
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

func (r *updateItem) touches(visit func(action, table string)) { visit("UpdateItem", r.table.V) }

func (r *updateItem) run(c *call) error {
	update, err := r.asked()
	if err != nil {
		return numberDetected(err)
	}
	images, account, err := r.do(c, func(tx *store.Tx) (store.Images, error) { return tx.Update(update) })
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == expr.CodeOperand && r.legacy.updates.Set {
		return errValidation("Type mismatch for attribute to update")
	}
	if err != nil {
		return err
	}
	if show := r.shown(images); len(show) > 0 {
		named(c.out, "Attributes", show)
	}
	account.done(c.out, update.Key)
	return nil
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
	if err := r.legacy.checkUpdates(); err != nil {
		return u, err
	}
	u = store.UpdateItem{Table: tableName(r.table.V), Key: r.key.V}
	u.Condition, u.Update, u.Params, err = r.bindLegacy(expressions...)
	if r.update.Set {
		u.Update = r.update.V
	}
	return u, err
}

// shown returns the attributes that are to be returned.
func (r *updateItem) shown(images store.Images) attr.Item {
	switch r.returnValues.V {
	case "ALL_OLD":
		return images.Old
	case "ALL_NEW":
		return images.New
	case "UPDATED_OLD":
		return images.Updated().Old
	case "UPDATED_NEW":
		return images.Updated().New
	}
	return nil
}

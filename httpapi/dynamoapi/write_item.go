package dynamoapi

import (
	"errors"

	"github.com/touchline/touchline/httpapi/dynamoapi/legacy"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// writing is the common part of PutItem, UpdateItem and DeleteItem.
type writing struct {
	ofTable
	condition wire.Opt[string]
	params
	legacy       legacyParams
	returnValues wire.Opt[string]
	onFailure    wire.Opt[string] // ReturnValuesOnConditionCheckFailure
	capacity     wire.Opt[string]
	metrics      wire.Opt[string] // ReturnItemCollectionMetrics
}

func (r *writing) members(m *wire.Member) {
	m.Text("TableName", &r.table)
	m.Text("ConditionExpression", &r.condition)
	m.Text("ReturnValues", &r.returnValues)
	m.Text("ReturnValuesOnConditionCheckFailure", &r.onFailure)
	m.Text("ReturnConsumedCapacity", &r.capacity)
	m.Text("ReturnItemCollectionMetrics", &r.metrics)
	r.legacy.expectedMembers(m)
	r.params.members(m)
}

// constrainExpected checks the members whose violations all three report at the same place.
func (r *writing) constrainExpected(c *constraints) {
	r.legacy.constrainOperator(c)
	r.legacy.constrainExpected(c)
}

// returnedItem returns what a write returns of its item.
func returnedItem(what string, images store.Images) attr.Item {
	switch what {
	case "ALL_OLD":
		return images.Old
	case "ALL_NEW":
		return images.New
	case "UPDATED_OLD":
		return images.OnlyUpdated().Old
	case "UPDATED_NEW":
		return images.OnlyUpdated().New
	}
	return nil
}

// whole checks a put or delete. wrong is the error of its item or key. These operations can return only the old item.
func (r *writing) whole(wrong error) ([]expression, error) {
	expressions := []expression{{"ConditionExpression", r.condition}}
	if err := r.check(expressions, r.legacy.names(false)...); err != nil {
		return nil, err
	}
	if wrong != nil {
		return nil, wrong
	}
	if r.returnValues.Set && r.returnValues.V != "ALL_OLD" && r.returnValues.V != "NONE" {
		return nil, errValidation("ReturnValues can only be ALL_OLD or NONE")
	}
	return expressions, nil
}

// bindLegacy is bind for a request that may have legacy parameters. It also returns their expressions.
func (r *writing) bindLegacy(expressions ...expression) (condition, update string, p expr.Params, err error) {
	if err := legacy.CheckExpected(r.legacy.expected.V); err != nil {
		return "", "", p, err
	}
	r.alone = true
	if p, err = r.bind(expressions...); err != nil || !r.legacy.expected.Set && !r.legacy.updates.Set {
		return r.condition.V, "", p, err
	}
	b := legacy.NewBuilder(p)
	condition, update = b.Condition(r.legacy.expected.V, r.legacy.operator.V == "OR"), b.Update(r.legacy.updates.V)
	return condition, update, b.Params(), nil
}

// do runs a write and writes its answer. key is the key of the item, or an item that contains it.
func (r *writing) do(c *call, key attr.Item, write func(tx *store.Tx) (store.Images, error)) error {
	units, collections := newConsumption(r.capacity), newCollections(r.metrics)
	var spec store.TableSpec // read only if needed
	if collections != nil || r.legacy.operator.Set {
		d, err := c.table(r.table.V)
		if err != nil {
			return err
		}
		spec = d.Spec
	}
	if err := r.legacy.checkOperator(); err != nil {
		return err
	}
	var images store.Images
	err := c.update(false, func(tx *store.Tx) (err error) {
		units.watch(tx, false)
		images, err = write(tx)
		return err
	})
	if err != nil {
		return withoutOld(err, r.onFailure)
	}
	if show := returnedItem(r.returnValues.V, images); len(show) > 0 {
		writeItem(c.out, "Attributes", show)
	}
	units.one(c.out)
	collections.recordWrite(&spec, key)
	collections.one(c.out)
	return nil
}

// putItem creates an item or replaces it completely.
type putItem struct {
	writing
	item wire.Encoded // encoded as stored
}

func (r *putItem) members(m *wire.Member) {
	m.DecodeEncoded("Item", &r.item)
	r.writing.members(m)
}

func (r *putItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	c.require("item", r.item.Set)
	r.constrainExpected(c)
	c.returnValues(r.returnValues)
	c.onConditionCheckFailure("returnValuesOnConditionCheckFailure", r.onFailure)
	c.returnItemCollectionMetrics(r.metrics)
}

func (r *putItem) run(c *call) error {
	put := store.PutItem{Table: tableName(r.table.V), NoOld: r.returnValues.V != "ALL_OLD"}
	expressions, err := r.whole(r.item.Err)
	if err == nil {
		put.Condition, _, put.Params, err = r.bindLegacy(expressions...)
		if err != nil && r.tooLarge() {
			err = attr.TooLarge() // the store would find it, but the service reports it first
		}
	}
	var item attr.Item // only for ReturnItemCollectionMetrics
	if err == nil && r.metrics.Set {
		item, err = r.item.V.Decode()
	}
	if err != nil {
		return numberDetected(err)
	}
	return r.do(c, item, func(tx *store.Tx) (im store.Images, err error) {
		im.Old, err = tx.PutEncoded(put, r.item.V)
		return im, err
	})
}

// tooLarge reports whether the item is above the size limit, whatever else is wrong with it.
func (r *putItem) tooLarge() bool {
	item, err := r.item.V.Decode()
	return err == nil && attr.Size(item) > attr.MaxItemSize
}

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
	c.require("key", r.key.Set)
	r.constrainExpected(c)
	r.legacy.constrainUpdates(c)
}

func (r *updateItem) run(c *call) error {
	update, err := r.storeUpdate()
	if err != nil {
		return numberDetected(err)
	}
	err = r.do(c, update.Key, func(tx *store.Tx) (store.Images, error) { return tx.Update(update) })
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == expr.CodeOperand && r.legacy.updates.Set {
		return errValidation("Type mismatch for attribute to update")
	}
	return err
}

// storeUpdate checks the request and returns it for the store.
func (r *updateItem) storeUpdate() (u store.UpdateItem, err error) {
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
	c.require("key", r.key.Set)
	r.constrainExpected(c)
}

func (r *deleteItem) run(c *call) error {
	del := store.DeleteItem{Table: tableName(r.table.V), Key: r.key.V, NoOld: r.returnValues.V != "ALL_OLD"}
	expressions, err := r.whole(r.key.Err)
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

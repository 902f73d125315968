package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/legacy"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// writing is what PutItem, UpdateItem and DeleteItem have in common.
type writing struct {
	table     wire.Opt[string]
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

// constrainExpected is about the members whose place is the same in all three.
func (r *writing) constrainExpected(c *constraints) {
	r.legacy.constrainOperator(c)
	r.legacy.constrainExpected(c)
}

// checkOld refuses values that only an update returns.
func (r *writing) checkOld() error {
	if r.returnValues.Set && r.returnValues.V != "ALL_OLD" && r.returnValues.V != "NONE" {
		return errValidation("ReturnValues can only be ALL_OLD or NONE")
	}
	return nil
}

// bindLegacy is bind for a request that may have old parameters: it gives their expressions too.
func (r *writing) bindLegacy(expressions ...expression) (condition, update string, p expr.Params, err error) {
	if err := r.legacy.checkExpected(); err != nil {
		return "", "", p, err
	}
	r.alone = true
	if p, err = r.bind(expressions...); err != nil || !r.legacy.expected.Set && !r.legacy.updates.Set {
		return r.condition.V, "", p, err
	}
	b := legacy.NewBuilder(p)
	condition, update = r.legacy.condition(b), r.legacy.update(b)
	return condition, update, b.Params(), nil
}

// account is what a write is held in: the units that it consumed, the collections that it wrote to.
type account struct {
	units       *consumption
	collections *collections
	spec        store.TableSpec // of the table; it is read only where somebody asked for the collections
}

// do runs a write on the table of the request and accounts for it. do gives the images of the item.
func (r *writing) do(c *call, write func(tx *store.Tx) (store.Images, error)) (images store.Images, a account, err error) {
	a = account{units: newConsumption(r.capacity), collections: newCollections(r.metrics)}
	if a.collections != nil || r.legacy.operator.Set {
		d, err := c.table(r.table.V)
		if err != nil {
			return images, a, err
		}
		a.spec = d.Spec
	}
	if err := r.legacy.checkOperator(); err != nil {
		return images, a, err
	}
	err = c.update(false, func(tx *store.Tx) (err error) {
		a.units.watch(tx, false)
		images, err = write(tx)
		return err
	})
	return images, a, withoutOld(err, r.onFailure)
}

// done writes the members that all writes of one item have, behind the attributes. The key is the item's or has it in it.
func (a *account) done(out *wire.Encoder, key attr.Item) {
	a.units.one(out)
	a.collections.wrote(&a.spec, key)
	a.collections.one(out)
}

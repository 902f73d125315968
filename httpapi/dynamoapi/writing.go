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

func (r *writing) touches(operation string, visit func(action, table string)) {
	visit(operation, r.table.V)
}

// constrainExpected is about the members whose place is the same in all three.
func (r *writing) constrainExpected(c *constraints) {
	r.legacy.constrainOperator(c)
	r.legacy.constrainExpected(c)
}

// shown returns the attributes that are to be returned.
func (r *writing) shown(images store.Images) attr.Item {
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

// whole makes the checks of a request that puts or deletes an item, of which only an update returns anything but the old one.
func (r *writing) whole(subject *wire.Item) ([]expression, error) {
	expressions := []expression{{"ConditionExpression", r.condition}}
	if err := r.check(expressions, r.legacy.names(false)...); err != nil {
		return nil, err
	}
	if subject.Err != nil {
		return nil, subject.Err
	}
	if r.returnValues.Set && r.returnValues.V != "ALL_OLD" && r.returnValues.V != "NONE" {
		return nil, errValidation("ReturnValues can only be ALL_OLD or NONE")
	}
	return expressions, nil
}

// bindLegacy is bind for a request that may have old parameters: it gives their expressions too.
func (r *writing) bindLegacy(expressions ...expression) (condition, update string, p expr.Params, err error) {
	if err := legacy.CheckExpected(r.legacy.expected.V); err != nil {
		return "", "", p, err
	}
	r.alone = true
	if p, err = r.bind(expressions...); err != nil || !r.legacy.expected.Set && !r.legacy.updates.Set {
		return r.condition.V, "", p, err
	}
	b := legacy.NewBuilder(p)
	condition, update = r.legacy.condition(b), b.Update(r.legacy.updates.V)
	return condition, update, b.Params(), nil
}

// do runs a write of the item with that key, or with the key in it, and writes the answer.
func (r *writing) do(c *call, key attr.Item, write func(tx *store.Tx) (store.Images, error)) error {
	units, collections := newConsumption(r.capacity), newCollections(r.metrics)
	var spec store.TableSpec // read only where somebody asked for the collections
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
	if show := r.shown(images); len(show) > 0 {
		named(c.out, "Attributes", show)
	}
	units.one(c.out)
	collections.wrote(&spec, key)
	collections.one(c.out)
	return nil
}

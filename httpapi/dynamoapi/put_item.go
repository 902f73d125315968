package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// putItem creates an item or replaces it as a whole.
type putItem struct {
	table     wire.Opt[string]
	item      wire.Item
	condition wire.Opt[string]
	params
	returnValues wire.Opt[string]
	onFailure    wire.Opt[string] // ReturnValuesOnConditionCheckFailure
	capacity     wire.Opt[string]
	metrics      wire.Opt[string] // ReturnItemCollectionMetrics
}

func (r *putItem) field(d *wire.Decoder, name string) error {
	switch name {
	case "TableName":
		return d.OptText(&r.table)
	case "Item":
		return d.Item(&r.item)
	case "ConditionExpression":
		return d.OptText(&r.condition)
	case "ReturnValues":
		return d.OptText(&r.returnValues)
	case "ReturnValuesOnConditionCheckFailure":
		return d.OptText(&r.onFailure)
	case "ReturnConsumedCapacity":
		return d.OptText(&r.capacity)
	case "ReturnItemCollectionMetrics":
		return d.OptText(&r.metrics)
	}
	return r.params.field(d, name)
}

func (r *putItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	c.required("item", r.item.Set)
	c.returnValues(r.returnValues)
	c.onConditionCheckFailure("returnValuesOnConditionCheckFailure", r.onFailure)
	c.returnItemCollectionMetrics(r.metrics)
}

func (r *putItem) touches(visit func(action, table string)) { visit("PutItem", r.table.V) }

func (r *putItem) run(c *call) error {
	expressions := []expression{{"ConditionExpression", r.condition}}
	if err := r.check(expressions); err != nil {
		return err
	}
	if r.item.Err != nil {
		return r.item.Err
	}
	if r.returnValues.Set && r.returnValues.V != "ALL_OLD" && r.returnValues.V != "NONE" {
		return errValidation("ReturnValues can only be ALL_OLD or NONE")
	}
	params, err := r.bind(expressions...)
	if err != nil {
		return err
	}
	put := store.PutItem{
		Table: tableName(r.table.V), Item: r.item.V, Condition: r.condition.V, Params: params, NoOld: r.returnValues.V != "ALL_OLD",
	}
	var old attr.Item
	err = c.update(func(tx *store.Tx) (err error) {
		old, err = tx.Put(put)
		return err
	})
	if err != nil {
		return withoutOld(err, r.onFailure)
	}
	if !put.NoOld && old != nil {
		named(c.out, "Attributes", old)
	}
	return nil
}

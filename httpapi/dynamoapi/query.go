package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// query reads items of one partition of a table or an index, in the order of the sort key.
type query struct {
	reading
	keyCondition wire.Opt[string]
	forward      wire.Opt[bool]
}

func (r *query) field(d *wire.Decoder, name string) error {
	switch name {
	case "KeyConditionExpression":
		return d.OptText(&r.keyCondition)
	case "ScanIndexForward":
		return d.Bool(&r.forward)
	}
	return r.reading.field(d, name)
}

func (r *query) constrain(c *constraints) {
	r.constrainSelect(c)
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	r.constrainLimit(c)
}

func (r *query) touches(visit func(action, table string)) { visit("Query", r.table.V) }

func (r *query) run(c *call) error {
	expressions := []expression{
		{"ProjectionExpression", r.projection}, {"FilterExpression", r.filter}, {"KeyConditionExpression", r.keyCondition},
	}
	if err := r.check(expressions); err != nil {
		return err
	}
	if err := r.checkStart(); err != nil {
		return err
	}
	if !r.keyCondition.Set {
		return errValidation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	params, err := r.bind(expressions...)
	if err != nil {
		return err
	}
	if err := r.checkConsistent(c); err != nil {
		return err
	}
	q := store.Query{
		Table: tableName(r.table.V), Index: r.index.V, KeyCondition: r.keyCondition.V, Filter: r.filter.V, Projection: r.projection.V,
		Params: params, Select: r.what(), Descending: r.forward.Set && !r.forward.V, Limit: r.limitOf(), StartKey: r.start.V,
	}
	return r.page(c, func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error) { return tx.QueryEncoded(q, use) })
}

package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// getItem reads one item by its key.
type getItem struct {
	table      wire.Opt[string]
	key        wire.Item
	projection wire.Opt[string]
	params
	legacy     legacyParams // AttributesToGet
	consistent wire.Opt[bool]
	capacity   wire.Opt[string]
}

func (r *getItem) field(d *wire.Decoder, name string) error {
	switch name {
	case "TableName":
		return d.OptText(&r.table)
	case "Key":
		return d.Item(&r.key)
	case "ProjectionExpression":
		return d.OptText(&r.projection)
	case "ConsistentRead":
		return d.Bool(&r.consistent)
	case "ReturnConsumedCapacity":
		return d.OptText(&r.capacity)
	}
	if known, err := r.legacy.field(d, name); known {
		return err
	}
	return r.params.field(d, name)
}

func (r *getItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	r.legacy.constrainAttributes(c)
	c.table("tableName", r.table)
	c.required("key", r.key.Set)
}

func (r *getItem) touches(visit func(action, table string)) { visit("GetItem", r.table.V) }

func (r *getItem) run(c *call) error {
	get, err := r.get()
	if err != nil {
		return numberAlone(err)
	}
	used := newConsumption(r.capacity)
	err = c.view(func(tx *store.Tx) error {
		used.watchReads(tx, func(string) bool { return r.consistent.V }, false)
		if get.Projection == "" {
			return tx.GetEncoded(get.Table, get.Key, func(e attr.Encoded) error {
				c.out.Name("Item")
				return c.out.Encoded(e)
			})
		}
		it, err := tx.GetItem(get)
		if it != nil {
			named(c.out, "Item", it)
		}
		return err
	})
	used.one(c.out)
	return err
}

// get makes the checks of the request and returns it as the store takes it.
func (r *getItem) get() (store.GetItem, error) {
	expressions := []expression{{"ProjectionExpression", r.projection}}
	if err := r.check(expressions, r.legacy.names(false)...); err != nil {
		return store.GetItem{}, err
	}
	if r.key.Err != nil {
		return store.GetItem{}, r.key.Err
	}
	projection, params, err := r.projected(r.projection, &r.legacy)
	return store.GetItem{Table: tableName(r.table.V), Key: r.key.V, Projection: projection, Params: params}, err
}

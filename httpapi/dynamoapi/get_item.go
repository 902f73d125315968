package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// getItem reads one item by key.
type getItem struct {
	ofTable
	key        wire.Item
	projection wire.Opt[string]
	params
	legacy     legacyParams // AttributesToGet
	consistent wire.Opt[bool]
	capacity   wire.Opt[string]
}

func (r *getItem) members(m *wire.Member) {
	m.Text("TableName", &r.table)
	m.Item("Key", &r.key)
	m.Text("ProjectionExpression", &r.projection)
	m.Bool("ConsistentRead", &r.consistent)
	m.Text("ReturnConsumedCapacity", &r.capacity)
	r.legacy.members(m)
	r.params.members(m)
}

func (r *getItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	r.legacy.constrainAttributes(c)
	c.table("tableName", r.table)
	c.require("key", r.key.Set)
}

func (r *getItem) run(c *call) error {
	get, err := r.get()
	if err != nil {
		return numberAlone(err)
	}
	if r.consistent.V {
		c.refresh(get.Table, get.Key)
	}
	used := newConsumption(r.capacity)
	err = c.view(func(tx *store.Tx) error {
		used.watchReads(tx, func(string) bool { return r.consistent.V }, false)
		if get.Projection == "" {
			return tx.GetEncoded(get.Table, get.Key, func(e attr.Encoded) error {
				c.out.Name("Item")
				return c.out.WriteEncoded(e)
			})
		}
		it, err := tx.GetItem(get)
		if it != nil {
			writeItem(c.out, "Item", it)
		}
		return err
	})
	used.one(c.out)
	return err
}

// get checks the request and returns it for the store.
func (r *getItem) get() (store.GetItem, error) {
	expressions := []expression{{"ProjectionExpression", r.projection}}
	if err := r.check(expressions, r.legacy.names(false)...); err != nil {
		return store.GetItem{}, err
	}
	if r.key.Err != nil {
		return store.GetItem{}, r.key.Err
	}
	projection, params, err := r.projectionOf(r.projection, &r.legacy)
	return store.GetItem{Table: tableName(r.table.V), Key: r.key.V, Projection: projection, Params: params}, err
}

package dynamoapi

import (
	"fmt"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxTransactItems is how many actions a transaction may have.
const maxTransactItems = 100

// transactGetItems reads items as of one instant.
type transactGetItems struct {
	gets     wire.Opt[[]wire.Opt[getItem]] // an element without its Get is not set
	capacity wire.Opt[string]
}

func (r *transactGetItems) members(m *wire.Member) {
	wire.Array(m, "TransactItems", maxTransactItems, &r.gets, wire.Objects("TransactGetItem", getMembers))
	m.Text("ReturnConsumedCapacity", &r.capacity)
}

func getMembers(get *wire.Opt[getItem], m *wire.Member) {
	wire.Object(m, "Get", "Get", get, (*getItem).members)
}

func (r *transactGetItems) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	if !c.required("transactItems", r.gets.Set) {
		return
	}
	c.elements("transactItems", len(r.gets.V), maxTransactItems)
	for i, g := range r.gets.V {
		at := fmt.Sprintf("transactItems.%d.member.get", i+1)
		if c.required(at, g.Set) {
			c.table(at+".tableName", g.V.table)
			c.required(at+".key", g.V.key.Set)
		}
	}
}

func (r *transactGetItems) touches(_ string, visit func(action, table string)) {
	for _, g := range r.gets.V {
		visit("GetItem", g.V.table.V)
	}
}

// parts implements parted.
func (r *transactGetItems) parts() int { return len(r.gets.V) }

func (r *transactGetItems) run(c *call) error {
	var gets []store.GetItem
	for _, g := range r.gets.V {
		get, err := g.V.get()
		if err != nil {
			return err
		}
		gets = append(gets, get)
	}
	used := newConsumption(r.capacity)
	got, err := c.transactGet(gets, used)
	if err != nil {
		return err
	}
	responses(c.out, got)
	used.all(c.out)
	return nil
}

// transactGet reads items as they were together at one moment.
func (c *call) transactGet(gets []store.GetItem, used *consumption) (got []attr.Item, err error) {
	err = c.view(func(tx *store.Tx) (err error) {
		used.watchReads(tx, func(string) bool { return true }, true)
		got, err = tx.TransactGet(gets)
		return err
	})
	return got, err
}

// responses writes items, each in an object of its own, which is empty where there is none.
func responses(out *wire.Encoder, items []attr.Item) {
	out.NamedArray("Responses")
	for _, it := range items {
		out.Begin()
		if it != nil {
			named(out, "Item", it)
		}
		out.End()
	}
	out.EndArray()
}

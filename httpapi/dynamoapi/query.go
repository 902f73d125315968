package dynamoapi

import (
	"cmp"
	"slices"

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

func (r *query) members(m *wire.Member) {
	m.Text("KeyConditionExpression", &r.keyCondition)
	m.Bool("ScanIndexForward", &r.forward)
	r.reading.members(m)
}

func (r *query) constrain(c *constraints) {
	r.constrainSelect(c)
	c.returnConsumedCapacity(r.capacity)
	constrainAll(c, "queryFilter", r.legacy.queryFilter.V)
	c.table("tableName", r.table)
	r.legacy.constrainOperator(c)
	r.legacy.constrainAttributes(c)
	if r.limit.Set && r.limit.V < 1 { // one of the newer checks, for a Query alone
		c.failAt("Limit", "Member must have value greater than or equal to 1")
	} else {
		r.constrainLimit(c)
	}
	constrainAll(c, "keyConditions", r.legacy.keys.V)
}

func (r *query) run(c *call) error {
	r.alone = true
	ask, err := r.asked()
	if err != nil {
		return numberAlone(err)
	}
	if r.keyCondition.Set {
		ask.keyCondition = r.keyCondition.V
	}
	if err := r.checkTable(c); err != nil {
		return err
	}
	q := store.Query{
		Table: tableName(r.table.V), Index: r.index.V, KeyCondition: ask.keyCondition, Filter: ask.filter, Projection: ask.projection,
		Params: ask.params, Select: r.what(), Descending: r.forward.Set && !r.forward.V, Limit: int(r.limit.V), StartKey: r.start.V,
	}
	err = r.page(c, func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error) { return tx.QueryEncoded(q, use) })
	return r.selectError(err, errDetected)
}

func (r *query) asked() (texts, error) {
	expressions := []expression{
		{"ProjectionExpression", r.projection}, {"FilterExpression", r.filter}, {"KeyConditionExpression", r.keyCondition},
	}
	return r.ask(expressions,
		func() error { return r.check(expressions, r.legacy.names(r.keyCondition.Set)...) },
		r.legacy.checkOperator, r.legacy.checkFilters, r.legacy.checkAttributes, r.checkStart, r.checkKeyCondition)
}

func (r *query) checkKeyCondition() error {
	if r.keyCondition.Set || r.legacy.keys.Set {
		return nil
	}
	return errValidation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
}

// checkTable holds what the old parameters say against the key of the table or index.
func (r *query) checkTable(c *call) error {
	if err := r.checkConsistent(c); err != nil || !r.legacy.keys.Set {
		return err
	}
	d, err := c.table(r.table.V)
	if err != nil {
		return err
	}
	if r.index.Set && !slices.ContainsFunc(d.Spec.Indexes, func(ix store.IndexSpec) bool { return ix.Name == r.index.V }) {
		return errValidation("The table does not have the specified index: %s", r.index.V)
	}
	if err := r.legacy.checkKey(&d.Spec, r.index.V); err != nil {
		return cmp.Or(d.Spec.CheckStart(r.index.V, r.start.V), err)
	}
	return nil
}

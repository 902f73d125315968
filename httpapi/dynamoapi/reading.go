package dynamoapi

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/legacy"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// reading is what Query and Scan have in common.
type reading struct {
	table      wire.Opt[string]
	index      wire.Opt[string]
	filter     wire.Opt[string]
	projection wire.Opt[string]
	params
	legacy     legacyParams
	selected   wire.Opt[string] // Select
	limit      wire.Opt[int64]
	start      wire.Item // ExclusiveStartKey
	consistent wire.Opt[bool]
	capacity   wire.Opt[string]
}

func (r *reading) members(m *wire.Member) {
	m.Text("TableName", &r.table)
	m.Text("IndexName", &r.index)
	m.Text("FilterExpression", &r.filter)
	m.Text("ProjectionExpression", &r.projection)
	m.Text("Select", &r.selected)
	m.Int("Limit", &r.limit)
	m.Item("ExclusiveStartKey", &r.start)
	m.Bool("ConsistentRead", &r.consistent)
	m.Text("ReturnConsumedCapacity", &r.capacity)
	r.legacy.members(m)
	r.params.members(m)
}

func (r *reading) touches(operation string, visit func(action, table string)) {
	visit(operation, r.table.V)
}

func (r *reading) constrainSelect(c *constraints) {
	c.among("select", r.selected, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	c.name("indexName", r.index)
}

func (r *reading) constrainLimit(c *constraints) { c.between("limit", r.limit, 1, math.MaxInt32) }

// checkStart refuses a starting key whose values are wrong. The service names the key for some faults only.
func (r *reading) checkStart() error {
	if r.start.Err == nil {
		return nil
	}
	if inValue.MatchString(r.start.Err.Error()) {
		return r.start.Err
	}
	return errValidation("The provided starting key is invalid: %s", r.start.Err)
}

// inValue finds the faults of values that the service tells without saying where they are. It is never changed.
var inValue = regexp.MustCompile("contains duplicates|number set|numeric value|significant digits|number with magnitude")

// what is Select as the store knows it.
func (r *reading) what() store.Select {
	switch r.selected.V {
	case "ALL_ATTRIBUTES":
		return store.SelectAll
	case "ALL_PROJECTED_ATTRIBUTES":
		return store.SelectProjected
	case "SPECIFIC_ATTRIBUTES":
		return store.SelectSpecific
	case "COUNT":
		return store.SelectCount
	}
	return store.SelectDefault
}

// selectError names AttributesToGet where that is the projection which does not go with Select. Query and Scan word it each in
// their way.
func (r *reading) selectError(err error, word func(message string) error) error {
	if !errors.Is(err, store.SelectError{}) {
		return err
	}
	message := err.Error()
	if r.legacy.attributes.Set {
		message = strings.Replace(message, "specify the ProjectionExpression", "specify the AttributesToGet", 1)
	}
	return word(message)
}

// ask makes the checks that need no table, and reads the texts of the request, or makes them of the parameters from the time
// before there were expressions.
func (r *reading) ask(given []expression, checks ...func() error) (texts, error) {
	for _, check := range checks {
		if err := check(); err != nil {
			return texts{}, err
		}
	}
	slices.Reverse(given) // they are named in one order, and read in the other
	bound, err := r.bind(given...)
	if err != nil {
		return texts{}, err
	}
	if err := r.legacy.checkKeys(r.index.Set); err != nil {
		return texts{}, err
	}
	b := legacy.NewBuilder(bound)
	out := texts{filter: r.filter.V, projection: r.projection.V}
	if !r.filter.Set {
		out.filter = r.legacy.filter(b)
	}
	if !r.projection.Set {
		out.projection = b.Projection(r.legacy.attributes.V)
	}
	out.keyCondition = b.Filter(r.legacy.keys.V, false)
	out.params = b.Params()
	return out, nil
}

// texts are the expressions of a request, and their parameters.
type texts struct {
	filter, projection, keyCondition string
	params                           expr.Params
}

// checkConsistent refuses what cannot be had of a global index in the cloud, though here it could.
func (r *reading) checkConsistent(c *call) error {
	if !r.consistent.V || !r.index.Set {
		return nil
	}
	d, err := c.table(r.table.V)
	if err != nil {
		return err
	}
	for _, ix := range d.Spec.Indexes {
		if ix.Name == r.index.V && !ix.Local {
			return errValidation("Consistent reads are not supported on global secondary indexes")
		}
	}
	return nil
}

// page runs a read and writes its answer.
func (r *reading) page(c *call, read func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error)) error {
	use := func(e attr.Encoded) error { return c.out.Encoded(e) }
	var page store.Page
	err := c.evaluate(func(tx *store.Tx) (err error) {
		if r.selected.V != "COUNT" {
			c.out.NamedArray("Items")
			defer c.out.EndArray()
		}
		page, err = read(tx, use)
		return err
	})
	if err != nil {
		return err
	}
	c.out.NamedInt("Count", int64(page.Count))
	c.out.NamedInt("ScannedCount", int64(page.Scanned))
	if page.LastKey != nil {
		named(c.out, "LastEvaluatedKey", page.LastKey)
	}
	if used := newConsumption(r.capacity); used != nil {
		d, err := c.table(r.table.V)
		if err != nil {
			return err
		}
		used.read(&d.Spec, r.index.V, page.Bytes, r.consistent.V, false)
		used.fetched(&d.Spec, page.Fetched, r.consistent.V)
		used.one(c.out)
	}
	return nil
}

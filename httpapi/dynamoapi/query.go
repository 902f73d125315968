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

// reading is the common part of Query and Scan.
type reading struct {
	ofTable
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

func (r *reading) constrainSelect(c *constraints) {
	c.requireOneOf("select", r.selected, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	c.name("indexName", r.index)
}

func (r *reading) constrainLimit(c *constraints) {
	c.requireBetween("limit", r.limit, 1, math.MaxInt32)
}

// checkStart refuses a start key with invalid values. The service names the key for some errors only.
func (r *reading) checkStart() error {
	if r.start.Err == nil {
		return nil
	}
	if inValue.MatchString(r.start.Err.Error()) {
		return r.start.Err
	}
	return errValidation("The provided starting key is invalid: %s", r.start.Err)
}

// inValue matches errors of values for which the service names no location. It is never modified.
var inValue = regexp.MustCompile("contains duplicates|number set|numeric value|significant digits|number with magnitude")

// selectMode returns Select for the store.
func (r *reading) selectMode() store.Select {
	return map[string]store.Select{
		"ALL_ATTRIBUTES": store.SelectAll, "ALL_PROJECTED_ATTRIBUTES": store.SelectProjected,
		"SPECIFIC_ATTRIBUTES": store.SelectSpecific, "COUNT": store.SelectCount,
	}[r.selected.V] // default: SelectDefault
}

// selectError names AttributesToGet if that is the projection that conflicts with Select. Query and Scan word it differently.
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

// ask makes the checks that need no table, and returns the request's expressions, or those of its legacy parameters.
func (r *reading) ask(given []expression, checks ...func() error) (texts, error) {
	for _, check := range checks {
		if err := check(); err != nil {
			return texts{}, err
		}
	}
	slices.Reverse(given) // named in one order, parsed in the other
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
		out.filter = b.Filter(append(r.legacy.queryFilter.V, r.legacy.scanFilter.V...), r.legacy.operator.V == "OR")
	}
	if !r.projection.Set {
		out.projection = b.Projection(r.legacy.attributes.V)
	}
	out.keyCondition = b.Filter(r.legacy.keys.V, false)
	out.params = b.Params()
	return out, nil
}

// texts are the expressions of a request with their parameters.
type texts struct {
	filter, projection, keyCondition string
	params                           expr.Params
}

// checkConsistent refuses consistent reads of a global index. They would be possible here, but not in the cloud.
func (r *reading) checkConsistent(c *call) error {
	if !r.consistent.V || !r.index.Set {
		return nil
	}
	d, err := c.table(r.table.V)
	if err != nil {
		return err
	}
	if ix := indexOf(&d.Spec, r.index.V); ix != nil && !ix.Local {
		return errValidation("Consistent reads are not supported on global secondary indexes")
	}
	return nil
}

// page runs a read and writes its answer.
func (r *reading) page(c *call, read func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error)) error {
	use := func(e attr.Encoded) error { return c.out.WriteEncoded(e) }
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
		writeItem(c.out, "LastEvaluatedKey", page.LastKey)
	}
	if used := newConsumption(r.capacity); used != nil {
		d, err := c.table(r.table.V)
		if err != nil {
			return err
		}
		used.read(d.Spec.Name, indexOf(&d.Spec, r.index.V), page.Bytes, r.consistent.V, false)
		used.countFetches(d.Spec.Name, page.Fetched, r.consistent.V)
		used.one(c.out)
	}
	return nil
}

// query reads items of one partition of a table or index, in the order of the sort key.
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
	if r.limit.Set && r.limit.V < 1 { // a newer check of the service, only in Query
		c.failAt("Limit", "Member must have value greater than or equal to 1")
	} else {
		r.constrainLimit(c)
	}
	constrainAll(c, "keyConditions", r.legacy.keys.V)
}

func (r *query) run(c *call) error {
	r.alone = true
	ask, err := r.requestTexts()
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
		Params: ask.params, Select: r.selectMode(), Descending: r.forward.Set && !r.forward.V, Limit: int(r.limit.V), StartKey: r.start.V,
	}
	err = r.page(c, func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error) { return tx.QueryEncoded(q, use) })
	return r.selectError(err, errDetected)
}

func (r *query) requestTexts() (texts, error) {
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

// checkTable refuses consistent reads of a global index, and checks legacy parameters against the key of the table or index.
func (r *query) checkTable(c *call) error {
	if err := r.checkConsistent(c); err != nil || !r.legacy.keys.Set {
		return err
	}
	d, err := c.table(r.table.V)
	if err != nil {
		return err
	}
	if r.index.Set && indexOf(&d.Spec, r.index.V) == nil {
		return errValidation("The table does not have the specified index: %s", r.index.V)
	}
	if err := r.legacy.checkKey(&d.Spec, r.index.V); err != nil {
		if start := d.Spec.CheckStart(r.index.V, r.start.V); start != nil {
			return start
		}
		return err
	}
	return nil
}

// maxSegments is the maximum number of workers that share a scan.
const maxSegments = 1_000_000

// scan reads a whole table or index, or one worker's segment.
type scan struct {
	reading
	segment  wire.Opt[int64]
	segments wire.Opt[int64] // TotalSegments
}

func (r *scan) members(m *wire.Member) {
	m.Int("Segment", &r.segment)
	m.Int("TotalSegments", &r.segments)
	r.reading.members(m)
}

func (r *scan) constrain(c *constraints) {
	r.constrainSelect(c)
	c.requireBetween("totalSegments", r.segments, 1, maxSegments)
	c.returnConsumedCapacity(r.capacity)
	c.table("tableName", r.table)
	r.legacy.constrainOperator(c)
	constrainAll(c, "scanFilter", r.legacy.scanFilter.V)
	c.requireBetween("segment", r.segment, 0, maxSegments-1)
	r.legacy.constrainAttributes(c)
	r.constrainLimit(c)
}

func (r *scan) run(c *call) error {
	ask, err := r.requestTexts()
	if err != nil {
		return err
	}
	if err := r.checkConsistent(c); err != nil {
		return err
	}
	q := store.Scan{
		Table: tableName(r.table.V), Index: r.index.V, Filter: ask.filter, Projection: ask.projection, Params: ask.params,
		Select: r.selectMode(), Limit: int(r.limit.V), StartKey: r.start.V, Segment: int(r.segment.V), TotalSegments: int(r.segments.V),
	}
	err = r.page(c, func(tx *store.Tx, use func(attr.Encoded) error) (store.Page, error) { return tx.ScanEncoded(q, use) })
	return r.selectError(err, func(message string) error { return errValidation("%s", message) })
}

func (r *scan) requestTexts() (texts, error) {
	expressions := []expression{{"ProjectionExpression", r.projection}, {"FilterExpression", r.filter}}
	return r.ask(expressions,
		func() error { return r.check(expressions, r.legacy.names(false)...) },
		r.legacy.checkOperator, r.legacy.checkAttributes, r.legacy.checkFilters, r.checkStart, r.checkSegment)
}

func (r *scan) checkSegment() error {
	switch {
	case r.segment.Set && !r.segments.Set:
		return errValidation("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case r.segments.Set && !r.segment.Set:
		return errValidation("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case r.segments.Set && r.segment.V >= r.segments.V:
		return errValidation("The Segment parameter is zero-based and must be less than parameter TotalSegments: "+
			"Segment: %d is not less than TotalSegments: %d", r.segment.V, r.segments.V)
	}
	return nil
}

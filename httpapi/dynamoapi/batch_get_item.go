package dynamoapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxBatchKeys is how many items a BatchGetItem may ask for.
const maxBatchKeys = 100

// batchGetItem reads items by key, from any tables.
type batchGetItem struct {
	tables   wire.Opt[map[string]*keysOf]
	capacity wire.Opt[string]
}

// keysOf is the part of the request about one table.
type keysOf struct {
	keys       wire.Opt[[]wire.Item]
	projection wire.Opt[string]
	params
	legacy     legacyParams // AttributesToGet
	consistent wire.Opt[bool]
}

func (r *batchGetItem) members(m *wire.Member) {
	m.Text("ReturnConsumedCapacity", &r.capacity)
	m.Read("RequestItems", func(d *wire.Decoder) {
		r.tables = wire.Opt[map[string]*keysOf]{V: map[string]*keysOf{}, Set: true}
		d.MapUpTo(maxBatchKeys, "com.amazonaws.dynamodb.v20120810.KeysAndAttributes", func(table string) {
			k := new(keysOf)
			r.tables.V[table] = k
			d.Object("KeysAndAttributes", k.members)
		})
	})
}

func (k *keysOf) members(m *wire.Member) {
	wire.Array(m, "Keys", maxBatchKeys, &k.keys, (*wire.Decoder).Item)
	m.Text("ProjectionExpression", &k.projection)
	m.Bool("ConsistentRead", &k.consistent)
	k.legacy.members(m)
	k.params.members(m)
}

func (r *batchGetItem) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	if !c.require("requestItems", r.tables.Set) {
		return
	}
	for _, table := range constrainTables(c, r.tables.V, maxBatchKeys, r.requestWithoutKeys) {
		k := r.tables.V[table]
		at := "RequestItems." + table + ".member.Keys"
		switch n := len(k.keys.V); {
		case !c.require("requestItems."+table+".member.keys", k.keys.Set):
		case n < 1:
			c.failAt(at, "Member must have length greater than or equal to 1")
		case n > maxBatchKeys:
			c.failAt(at, "Member must have length less than or equal to %d", maxBatchKeys)
		}
	}
}

// requestWithoutKeys returns RequestItems as errors show it: without the keys.
func (r *batchGetItem) requestWithoutKeys() string {
	return showTables(r.tables.V, func(k *keysOf) int { return len(k.keys.V) }, "keys")
}

func (r *batchGetItem) touches(operation string, visit func(action, table string)) {
	for table := range r.tables.V {
		visit(operation, table)
	}
}

func (r *batchGetItem) run(c *call) error {
	if len(r.tables.V) == 0 {
		return errNoRequests("BatchGetItem")
	}
	ask, err := r.ask()
	if err != nil {
		return numberAlone(err)
	}
	left := removeUnprocessed(ask, c.fault.Unprocessed)
	var got store.BatchGetResult
	used := newConsumption(r.capacity)
	for table, k := range ask {
		if r.tables.V[requestedName(r.tables.V, table)].consistent.V {
			c.refresh(table, k.Keys...)
		}
	}
	if len(ask) > 0 {
		err = c.view(func(tx *store.Tx) (err error) {
			used.watchReads(tx, func(table string) bool { return r.tables.V[requestedName(r.tables.V, table)].consistent.V }, false)
			got, err = tx.BatchGet(ask)
			return err
		})
	}
	if err != nil {
		return err
	}
	c.out.NamedObject("Responses")
	for _, table := range slices.Sorted(maps.Keys(got.Items)) {
		items(c.out, requestedName(r.tables.V, table), got.Items[table])
	}
	c.out.End()
	for table, k := range got.Unprocessed {
		left[table] = append(left[table], k.Keys...)
	}
	c.out.NamedObject("UnprocessedKeys")
	for _, table := range slices.Sorted(maps.Keys(left)) {
		name := requestedName(r.tables.V, table)
		c.out.Name(name)
		r.tables.V[name].write(c.out, left[table])
	}
	c.out.End()
	used.all(c.out)
	return nil
}

// removeUnprocessed removes keys from a batch that fault injection leaves unprocessed, and returns them.
func removeUnprocessed(ask store.BatchGet, choice *inject.Choice) map[string][]attr.Item {
	keys := map[string][]attr.Item{}
	for table, k := range ask {
		keys[table] = k.Keys
	}
	left := divide(keys, choice)
	for table, k := range ask {
		if k.Keys = keys[table]; len(k.Keys) == 0 {
			delete(ask, table)
			continue
		}
		ask[table] = k
	}
	return left
}

// ask returns the request for the store.
func (r *batchGetItem) ask() (store.BatchGet, error) {
	ask := store.BatchGet{}
	for _, name := range slices.Sorted(maps.Keys(r.tables.V)) {
		k := r.tables.V[name]
		expressions := []expression{{"ProjectionExpression", k.projection}}
		if err := k.check(expressions, k.legacy.names(false)...); err != nil {
			return nil, err
		}
		projection, params, err := k.projectionOf(k.projection, &k.legacy)
		if err != nil {
			return nil, err
		}
		keys := store.KeysAndAttributes{Projection: projection, Params: params}
		for _, key := range k.keys.V {
			if key.Err != nil {
				return nil, key.Err
			}
			keys.Keys = append(keys.Keys, key.V)
		}
		if _, twice := ask[tableName(name)]; twice {
			return nil, errValidation("The table %s is named twice, by its name and by its ARN", tableName(name))
		}
		ask[tableName(name)] = keys
	}
	return ask, nil
}

// write writes the request about a table again, with only the given keys.
func (k *keysOf) write(out *wire.Encoder, keys []attr.Item) {
	out.Begin()
	items(out, "Keys", keys)
	if k.projection.Set {
		out.NamedText("ProjectionExpression", k.projection.V)
	}
	if k.legacy.attributes.Set {
		out.NamedTexts("AttributesToGet", k.legacy.attributes.V)
	}
	if k.names.Set {
		out.NamedObject("ExpressionAttributeNames")
		for _, name := range slices.Sorted(maps.Keys(k.names.V)) {
			out.NamedText(name, k.names.V[name])
		}
		out.End()
	}
	if k.consistent.Set {
		out.NamedBool("ConsistentRead", k.consistent.V)
	}
	out.End()
}

// items writes a member with an array of items.
func items(out *wire.Encoder, name string, all []attr.Item) {
	out.NamedArray(name)
	for _, it := range all {
		out.Item(it)
	}
	out.EndArray()
}

// RequestItems of BatchGetItem and BatchWriteItem: requests by table, where a table is given by its name or ARN.

// constrainTables limits the number of tables, refuses invalid names, and returns the names in order.
func constrainTables[T any](c *constraints, tables map[string]T, most int, shown func() string) []string {
	c.count("requestItems", "'{}'", len(tables), 0, most)
	names := slices.Sorted(maps.Keys(tables))
	for _, table := range names {
		if !c.full() && !isTable(table) {
			c.fail("requestItems", shown(), "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "+
				"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]")
		}
	}
	return names
}

func errNoRequests(operation string) error {
	return errValidation("The requestItems parameter is required for %s", operation)
}

// isTable reports whether a text is a valid name or ARN of a table.
func isTable(name string) bool {
	name = tableName(name)
	return isName(name) && len(name) >= minTableName && len(name) <= maxTableName
}

// showTables returns RequestItems as errors show it: the number of parts per table.
func showTables[T any](tables map[string]T, count func(T) int, parts string) string {
	var out []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		out = append(out, fmt.Sprintf("%s=[%d %s]", table, count(tables[table]), parts))
	}
	return "'{" + strings.Join(out, ", ") + "}'"
}

// requestedName returns the key under which a request has a table: its name or ARN.
func requestedName[T any](tables map[string]T, table string) string {
	if _, ok := tables[table]; ok {
		return table
	}
	for name := range tables {
		if tableName(name) == table {
			return name
		}
	}
	return table
}

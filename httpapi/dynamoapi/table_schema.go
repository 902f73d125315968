package dynamoapi

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// maxListed is the maximum number of elements kept of a list in a request about tables. All limits are far below; it bounds the memory
// for a body of empty elements.
const maxListed = 1000

// attributeDefinition declares the type of a key attribute.
type attributeDefinition struct {
	name, kind wire.Opt[string]
}

// keyElement is an attribute of a key.
type keyElement struct {
	name, kind wire.Opt[string]
}

// projectionSpec is which attributes of an item an index contains.
type projectionSpec struct {
	kind    wire.Opt[string]
	include wire.Opt[[]string]
}

// throughputSpec is ProvisionedThroughput, OnDemandThroughput or WarmThroughput.
type throughputSpec struct {
	read, write wire.Opt[int64]
}

// indexDefinition is an index in a request.
type indexDefinition struct {
	name       wire.Opt[string]
	key        wire.Opt[[]keyElement]
	projection wire.Opt[projectionSpec]
	throughput wire.Opt[throughputSpec]
	onDemand   wire.Opt[throughputSpec]
	warm       wire.Opt[throughputSpec]
}

// list reads a list, and refuses one with more than maxListed elements.
func list[T any](m *wire.Member, name string, into *wire.Opt[[]T], read func(*wire.Decoder, *T)) {
	m.Read(name, func(d *wire.Decoder) {
		*into = wire.Opt[[]T]{V: []T{}, Set: true}
		d.Array(func(i int) {
			if i >= maxListed {
				d.Fail(errValidation("A list in the request has more than %d elements", maxListed))
			}
			var elem T
			read(d, &elem)
			into.V = append(into.V, elem)
		})
	})
}

func (v *attributeDefinition) members(m *wire.Member) {
	m.Text("AttributeName", &v.name)
	m.Text("AttributeType", &v.kind)
}

func (v *keyElement) members(m *wire.Member) {
	m.Text("AttributeName", &v.name)
	m.Text("KeyType", &v.kind)
}

func (p *projectionSpec) members(m *wire.Member) {
	m.Text("ProjectionType", &p.kind)
	list(m, "NonKeyAttributes", &p.include, (*wire.Decoder).Text)
}

func (v *throughputSpec) members(m *wire.Member) {
	m.Long("ReadCapacityUnits", &v.read)
	m.Long("WriteCapacityUnits", &v.write)
}

func (v *throughputSpec) onDemandMembers(m *wire.Member) {
	m.Long(maxReads, &v.read)
	m.Long(maxWrites, &v.write)
}

func (v *throughputSpec) warmMembers(m *wire.Member) {
	m.Long(warmReads, &v.read)
	m.Long(warmWrites, &v.write)
}

// localMembers reads the members of a local index, which shares its table's throughput.
func (v *indexDefinition) localMembers(m *wire.Member) {
	m.Text("IndexName", &v.name)
	list(m, "KeySchema", &v.key, wire.Objects("KeySchemaElement", (*keyElement).members))
	wire.Object(m, "Projection", "Projection", &v.projection, (*projectionSpec).members)
}

// members reads the members of a global index.
func (v *indexDefinition) members(m *wire.Member) {
	v.localMembers(m)
	wire.Object(m, "ProvisionedThroughput", "ProvisionedThroughput", &v.throughput, (*throughputSpec).members)
	wire.Object(m, "OnDemandThroughput", "OnDemandThroughput", &v.onDemand, (*throughputSpec).onDemandMembers)
	wire.Object(m, "WarmThroughput", "WarmThroughput", &v.warm, (*throughputSpec).warmMembers)
}

func orNull(v wire.Opt[string]) string {
	if !v.Set {
		return "null"
	}
	return v.V
}

// Constraints of the model.

func constrainDefinitions(c *constraints, v wire.Opt[[]attributeDefinition]) {
	for i, def := range v.V {
		at := fmt.Sprintf("attributeDefinitions.%d.member", i+1)
		c.require(at+".attributeName", def.name.Set)
		c.length(at+".attributeName", def.name, 1, 255)
		c.require(at+".attributeType", def.kind.Set)
		c.requireOneOf(at+".attributeType", def.kind, "B", "N", "S")
	}
}

// constrainKey is the rule for keys. most is the maximum number of elements; 0: the operation checks that itself.
func constrainKey(c *constraints, at string, v wire.Opt[[]keyElement], most int) {
	if !c.require(at, v.Set) {
		return
	}
	shown := make([]string, 0, len(v.V))
	for _, e := range v.V {
		shown = append(shown, fmt.Sprintf("KeySchemaElement(attributeName=%s, keyType=%s)", orNull(e.name), orNull(e.kind)))
	}
	c.count(at, quote("["+strings.Join(shown, ", ")+"]"), len(v.V), 1, cmp.Or(most, maxListed))
	for i, e := range v.V {
		at := fmt.Sprintf("%s.%d.member", at, i+1)
		c.require(at+".attributeName", e.name.Set)
		c.length(at+".attributeName", e.name, 1, 255)
		c.require(at+".keyType", e.kind.Set)
		c.requireOneOf(at+".keyType", e.kind, "HASH", "RANGE")
	}
}

func constrainProjection(c *constraints, at string, v wire.Opt[projectionSpec]) {
	if !c.require(at, v.Set) {
		return
	}
	c.requireOneOf(at+".projectionType", v.V.kind, "ALL", "INCLUDE", "KEYS_ONLY")
	if in := v.V.include; in.Set {
		at += ".nonKeyAttributes"
		c.count(at, quote("["+strings.Join(in.V, ", ")+"]"), len(in.V), 1, 20)
		for i, name := range in.V {
			c.length(fmt.Sprintf("%s.%d.member", at, i+1), wire.Opt[string]{V: name, Set: true}, 1, 255)
		}
	}
}

// constrainThroughput is the rule for optional throughput.
func constrainThroughput(c *constraints, at string, v wire.Opt[throughputSpec]) {
	if !v.Set {
		return
	}
	atLeast := func(at string, v wire.Opt[int64]) {
		c.require(at, v.Set)
		c.requireBetween(at, v, 1, 1<<63-1)
	}
	atLeast(at+".writeCapacityUnits", v.V.write)
	atLeast(at+".readCapacityUnits", v.V.read)
}

// mostInKey is the maximum number of attributes in the key of a table or local index.
const mostInKey = 2

func (v *indexDefinition) constrain(c *constraints, at string, mostInKey int) {
	name(c, at+".indexName", v.name)
	constrainKey(c, at+".keySchema", v.key, mostInKey)
	constrainProjection(c, at+".projection", v.projection)
	constrainThroughput(c, at+".provisionedThroughput", v.throughput)
}

func constrainIndexes(c *constraints, at string, v wire.Opt[[]indexDefinition], mostInKey int) {
	for i := range v.V {
		v.V[i].constrain(c, fmt.Sprintf("%s.%d.member", at, i+1), mostInKey)
	}
}

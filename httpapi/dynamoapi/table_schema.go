package dynamoapi

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// maxListed is how many elements a list in a request about tables may have. The limits of all of them lie far below; a
// body of nothing but empty elements would be more in memory.
const maxListed = 1000

// attributeDefinition gives a key attribute its type.
type attributeDefinition struct {
	name, kind wire.Opt[string]
}

// keyElement is an attribute of a key.
type keyElement struct {
	name, kind wire.Opt[string]
}

// projectionSpec says what of an item an index has.
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

// readList reads a list.
func readList[T any](d *wire.Decoder, into *wire.Opt[[]T], read func(*wire.Decoder, *T) error) error {
	*into = wire.Opt[[]T]{V: []T{}, Set: true}
	return d.Array(func(i int) error {
		if i >= maxListed {
			return errValidation("A list in the request has more than %d elements", maxListed)
		}
		var v T
		err := read(d, &v)
		into.V = append(into.V, v)
		return err
	})
}

func readText(d *wire.Decoder, into *string) error { return d.Text(into) }

func (v *attributeDefinition) read(d *wire.Decoder) error {
	return d.Object("AttributeDefinition", func(name string) error {
		switch name {
		case "AttributeName":
			return d.OptText(&v.name)
		case "AttributeType":
			return d.OptText(&v.kind)
		}
		return d.Skip()
	})
}

func (v *keyElement) read(d *wire.Decoder) error {
	return d.Object("KeySchemaElement", func(name string) error {
		switch name {
		case "AttributeName":
			return d.OptText(&v.name)
		case "KeyType":
			return d.OptText(&v.kind)
		}
		return d.Skip()
	})
}

func readDefinitions(d *wire.Decoder, into *wire.Opt[[]attributeDefinition]) error {
	return readList(d, into, func(d *wire.Decoder, v *attributeDefinition) error { return v.read(d) })
}

func readKey(d *wire.Decoder, into *wire.Opt[[]keyElement]) error {
	return readList(d, into, func(d *wire.Decoder, v *keyElement) error { return v.read(d) })
}

func readProjection(d *wire.Decoder, into *wire.Opt[projectionSpec]) error {
	into.Set = true
	return d.Field("Projection", func(name string) error {
		switch name {
		case "ProjectionType":
			return d.OptText(&into.V.kind)
		case "NonKeyAttributes":
			return readList(d, &into.V.include, readText)
		}
		return d.Skip()
	})
}

func readThroughput(d *wire.Decoder, into *wire.Opt[throughputSpec]) error {
	return readUnits(d, into, "ProvisionedThroughput", "ReadCapacityUnits", "WriteCapacityUnits")
}

func readOnDemand(d *wire.Decoder, into *wire.Opt[throughputSpec]) error {
	return readUnits(d, into, "OnDemandThroughput", maxReads, maxWrites)
}

func readWarm(d *wire.Decoder, into *wire.Opt[throughputSpec]) error {
	return readUnits(d, into, "WarmThroughput", warmReads, warmWrites)
}

// readUnits reads a number of reads and one of writes, which have other names in each shape.
func readUnits(d *wire.Decoder, into *wire.Opt[throughputSpec], shape, reads, writes string) error {
	into.Set = true
	return d.Field(shape, func(name string) error {
		switch name {
		case reads:
			return d.Long(&into.V.read)
		case writes:
			return d.Long(&into.V.write)
		}
		return d.Skip()
	})
}

// read reads an index that is an element of a list: a LocalSecondaryIndex or GlobalSecondaryIndex.
func (v *indexDefinition) read(d *wire.Decoder, shape string) error {
	return d.Object(shape, v.field(d, shape == "LocalSecondaryIndex"))
}

// field reads a member of an index.
func (v *indexDefinition) field(d *wire.Decoder, local bool) func(name string) error {
	return func(name string) error {
		switch {
		case name == "IndexName":
			return d.OptText(&v.name)
		case name == "KeySchema":
			return readKey(d, &v.key)
		case name == "Projection":
			return readProjection(d, &v.projection)
		case name == "ProvisionedThroughput" && !local:
			return readThroughput(d, &v.throughput)
		case name == "OnDemandThroughput" && !local:
			return readOnDemand(d, &v.onDemand)
		case name == "WarmThroughput" && !local:
			return readWarm(d, &v.warm)
		}
		return d.Skip()
	}
}

func (v *keyElement) String() string {
	return fmt.Sprintf("KeySchemaElement(attributeName=%s, keyType=%s)", orNull(v.name), orNull(v.kind))
}

func orNull(v wire.Opt[string]) string {
	if !v.Set {
		return "null"
	}
	return v.V
}

// The constraints of the model.

func constrainDefinitions(c *constraints, v wire.Opt[[]attributeDefinition]) {
	for i, def := range v.V {
		at := fmt.Sprintf("attributeDefinitions.%d.member", i+1)
		if c.required(at+".attributeName", def.name.Set) {
			c.length(at+".attributeName", def.name, 1, 255)
		}
		if c.required(at+".attributeType", def.kind.Set) {
			c.among(at+".attributeType", def.kind, "B", "N", "S")
		}
	}
}

// constrainKey is the rule for keys; most is how many elements one may have, 0: the operation says so itself.
func constrainKey(c *constraints, at string, v wire.Opt[[]keyElement], most int) {
	if !c.required(at, v.Set) {
		return
	}
	shown := make([]string, 0, len(v.V))
	for i := range v.V {
		shown = append(shown, v.V[i].String())
	}
	c.count(at, quoted("["+strings.Join(shown, ", ")+"]"), len(v.V), 1, cmp.Or(most, maxListed))
	for i, e := range v.V {
		at := fmt.Sprintf("%s.%d.member", at, i+1)
		if c.required(at+".attributeName", e.name.Set) {
			c.length(at+".attributeName", e.name, 1, 255)
		}
		if c.required(at+".keyType", e.kind.Set) {
			c.among(at+".keyType", e.kind, "HASH", "RANGE")
		}
	}
}

func constrainProjection(c *constraints, at string, v wire.Opt[projectionSpec]) {
	if !c.required(at, v.Set) {
		return
	}
	c.among(at+".projectionType", v.V.kind, "ALL", "INCLUDE", "KEYS_ONLY")
	if in := v.V.include; in.Set {
		at += ".nonKeyAttributes"
		c.count(at, quoted("["+strings.Join(in.V, ", ")+"]"), len(in.V), 1, 20)
		for i, name := range in.V {
			c.length(fmt.Sprintf("%s.%d.member", at, i+1), wire.Opt[string]{V: name, Set: true}, 1, 255)
		}
	}
}

// constrainThroughput is the rule where throughput may be absent.
func constrainThroughput(c *constraints, at string, v wire.Opt[throughputSpec]) {
	if !v.Set {
		return
	}
	atLeast := func(at string, v wire.Opt[int64]) {
		if c.required(at, v.Set) {
			c.between(at, v, 1, 1<<63-1)
		}
	}
	atLeast(at+".writeCapacityUnits", v.V.write)
	atLeast(at+".readCapacityUnits", v.V.read)
}

// mostInKey is how many attributes the key of a table or a local index may have.
const mostInKey = 2

func (v *indexDefinition) constrain(c *constraints, at string, mostInKey int) {
	if c.required(at+".indexName", v.name.Set) {
		c.name(at+".indexName", v.name)
	}
	constrainKey(c, at+".keySchema", v.key, mostInKey)
	constrainProjection(c, at+".projection", v.projection)
	constrainThroughput(c, at+".provisionedThroughput", v.throughput)
}

func constrainIndexes(c *constraints, at string, v wire.Opt[[]indexDefinition], mostInKey int) {
	for i := range v.V {
		v.V[i].constrain(c, fmt.Sprintf("%s.%d.member", at, i+1), mostInKey)
	}
}

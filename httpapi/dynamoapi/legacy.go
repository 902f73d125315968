package dynamoapi

import (
	"fmt"

	"github.com/touchline/touchline/httpapi/dynamoapi/legacy"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// legacyParams are the parameters that predate expressions. An operation reads those that it has, checks them, and converts them to
// expressions with a legacy.Builder.
type legacyParams struct {
	attributes  wire.Opt[[]string]             // AttributesToGet
	queryFilter wire.Opt[[]legacy.Comparison]  //
	scanFilter  wire.Opt[[]legacy.Comparison]  //
	keys        wire.Opt[[]legacy.Comparison]  // KeyConditions
	expected    wire.Opt[[]legacy.Expectation] //
	updates     wire.Opt[[]legacy.Change]      // AttributeUpdates
	operator    wire.Opt[string]               // ConditionalOperator
}

func (l *legacyParams) members(m *wire.Member) {
	m.Texts("AttributesToGet", &l.attributes)
	entries(m, "QueryFilter", "Condition", &l.queryFilter, comparisonOf, comparisonMembers)
	entries(m, "ScanFilter", "Condition", &l.scanFilter, comparisonOf, comparisonMembers)
	entries(m, "KeyConditions", "Condition", &l.keys, comparisonOf, comparisonMembers)
	l.expectedMembers(m)
	l.updateMembers(m)
}

// expectedMembers reads the members that all writes have.
func (l *legacyParams) expectedMembers(m *wire.Member) {
	m.Text("ConditionalOperator", &l.operator)
	entries(m, "Expected", "ExpectedAttributeValue", &l.expected, func(name string) legacy.Expectation {
		return legacy.Expectation{Comparison: comparisonOf(name)}
	}, expectationMembers)
}

func (l *legacyParams) updateMembers(m *wire.Member) {
	entries(m, "AttributeUpdates", "AttributeValueUpdate", &l.updates, func(name string) legacy.Change {
		return legacy.Change{Name: name}
	}, func(c *legacy.Change, m *wire.Member) {
		m.Read("Action", func(d *wire.Decoder) { d.Text(&c.Action) })
		readValue(m, &c.Value)
	})
}

// entries reads a map of objects in the order in which they appear. begin creates one from its name.
func entries[T any](m *wire.Member, name, shape string, into *wire.Opt[[]T], begin func(name string) T, members func(*T, *wire.Member)) {
	m.Read(name, func(d *wire.Decoder) {
		*into = wire.Opt[[]T]{Set: true}
		d.Map("com.amazonaws.dynamodb.v20120810."+shape, func(name string) {
			entry := begin(name)
			d.Object(shape, func(m *wire.Member) { members(&entry, m) })
			into.V = append(into.V, entry)
		})
	})
}

func comparisonOf(name string) legacy.Comparison { return legacy.Comparison{Name: name} }

func comparisonMembers(c *legacy.Comparison, m *wire.Member) {
	m.Read("ComparisonOperator", func(d *wire.Decoder) {
		c.Compared = true
		d.Text(&c.Operator)
	})
	m.Read("AttributeValueList", func(d *wire.Decoder) {
		c.Listed = true
		d.Array(func(int) { c.Values = append(c.Values, *legacyValue(d.Value)) })
	})
}

func legacyValue(read func(*wire.Value)) *legacy.Value {
	var v wire.Value
	read(&v)
	return &legacy.Value{V: v.V, Err: v.Err}
}

func expectationMembers(e *legacy.Expectation, m *wire.Member) {
	var exists wire.Opt[bool]
	if m.Bool("Exists", &exists); exists.Set {
		e.Exists = &exists.V
	}
	readValue(m, &e.Value)
	comparisonMembers(&e.Comparison, m)
}

func readValue(m *wire.Member, into **legacy.Value) {
	m.Read("Value", func(d *wire.Decoder) { *into = legacyValue(d.FieldValue) })
}

// names returns the parameters given, in the service's order. KeyConditions may be combined with other kinds of expressions: they are
// listed only beside a KeyConditionExpression.
func (l *legacyParams) names(keyExpression bool) (given []string) {
	for _, p := range [...]struct {
		name string
		set  bool
	}{
		{"AttributesToGet", l.attributes.Set},
		{"AttributeUpdates", l.updates.Set},
		{"QueryFilter", l.queryFilter.Set},
		{"ScanFilter", l.scanFilter.Set},
		{"ConditionalOperator", l.operator.Set},
		{"Expected", l.expected.Set},
		{"KeyConditions", l.keys.Set && keyExpression},
	} {
		if p.set {
			given = append(given, p.name)
		}
	}
	return given
}

// Constraints of the API's model. Each operation calls them where the service checks them, between its own.

func (l *legacyParams) constrainOperator(c *constraints) {
	c.requireOneOf("conditionalOperator", l.operator, "OR", "AND")
}

func (l *legacyParams) constrainAttributes(c *constraints) {
	if l.attributes.Set {
		c.elements("attributesToGet", len(l.attributes.V), 255)
	}
}

func (l *legacyParams) constrainExpected(c *constraints) {
	for _, e := range l.expected.V {
		c.requireOneOf("expected."+e.Name+".member.comparisonOperator", wire.Opt[string]{V: e.Operator, Set: e.Compared}, legacy.Operators()...)
	}
}

func (l *legacyParams) constrainUpdates(c *constraints) {
	for _, u := range l.updates.V {
		c.requireOneOf("attributeUpdates."+u.Name+".member.action", wire.Opt[string]{V: u.Action, Set: u.Action != ""}, "ADD", "PUT", "DELETE")
	}
}

func constrainAll(c *constraints, member string, all []legacy.Comparison) {
	for _, entry := range all {
		at := fmt.Sprintf("%s.%s.member.comparisonOperator", member, entry.Name)
		if c.require(at, entry.Compared) {
			c.requireOneOf(at, wire.Opt[string]{V: entry.Operator, Set: true}, legacy.Operators()...)
		}
	}
}

// Checks of each parameter that need no table.

func (l *legacyParams) checkFilters() error {
	if err := legacy.CheckComparisons(l.queryFilter.V); err != nil {
		return err
	}
	return legacy.CheckComparisons(l.scanFilter.V)
}

func (l *legacyParams) checkAttributes() error { return legacy.CheckAttributes(l.attributes.V) }

// checkKeys checks KeyConditions as far as possible without knowing the key. An index's key may have more than two attributes.
func (l *legacyParams) checkKeys(index bool) error {
	if err := legacy.CheckComparisons(l.keys.V); err != nil {
		return err
	}
	if n := len(l.keys.V); l.keys.Set && (n == 0 || n > 2 && !index) {
		return errValidation("Conditions can be of length 1 or 2 only")
	}
	return nil
}

// checkOperator refuses a ConditionalOperator that joins nothing.
func (l *legacyParams) checkOperator() error {
	return legacy.CheckOperator(l.operator.V, len(l.queryFilter.V)+len(l.scanFilter.V)+len(l.expected.V))
}

// checkKey checks KeyConditions and QueryFilter against the key of the table or index.
func (l *legacyParams) checkKey(spec *store.TableSpec, index string) error {
	if !l.keys.Set {
		return nil
	}
	keySpec := &spec.Key
	if ix := indexOf(spec, index); ix != nil {
		keySpec = &ix.Key
	}
	key := keySpec.ExprKey()
	if err := legacy.CheckKey(l.keys.V, &key); err != nil {
		return err
	}
	return legacy.CheckFilter(l.queryFilter.V, &key)
}

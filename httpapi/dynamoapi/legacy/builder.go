package legacy

import (
	"maps"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Builder builds the expressions of one request. Its placeholders are as short as possible: the limit on an expression's length is the
// only limit on a request's attributes.
type Builder struct {
	given expr.Params // the request's own, which may have a FilterExpression beside KeyConditions
	made  expr.Params
	names map[string]string // placeholders by attribute name
}

// NewBuilder returns a builder for a request with its own parameters.
func NewBuilder(given expr.Params) *Builder {
	return &Builder{
		given: given,
		made:  expr.Params{Names: map[string]string{}, Values: attr.Item{}, Long: true},
		names: map[string]string{},
	}
}

// Params returns the parameters of the request and of the built expressions.
func (b *Builder) Params() expr.Params {
	if len(b.made.Names) == 0 {
		return b.given
	}
	maps.Copy(b.made.Names, b.given.Names)
	maps.Copy(b.made.Values, b.given.Values)
	return b.made
}

// name returns the placeholder of an attribute.
func (b *Builder) name(attribute string) string {
	if p, ok := b.names[attribute]; ok {
		return p
	}
	p := free("#", len(b.made.Names), b.given.Names)
	for _, taken := b.made.Names[p]; taken; _, taken = b.made.Names[p] {
		p += "_"
	}
	b.names[attribute], b.made.Names[p] = p, attribute
	return p
}

// value returns a placeholder of a value.
func (b *Builder) value(v attr.Value) string {
	p := free(":", len(b.made.Values), b.given.Values)
	for !b.made.Values[p].IsZero() {
		p += "_"
	}
	b.made.Values[p] = v
	return p
}

// free returns a placeholder that is not in use.
func free[V any](sigil string, number int, taken map[string]V) string {
	p := sigil + strconv.FormatInt(int64(number), 36)
	for _, ok := taken[p]; ok; _, ok = taken[p] {
		p += "_"
	}
	return p
}

// Condition returns Expected as a ConditionExpression; empty for none.
func (b *Builder) Condition(all []Expectation, or bool) string {
	list := make([]Comparison, len(all))
	for i := range all {
		list[i] = all[i].comparison()
	}
	return b.Filter(list, or)
}

// Filter returns comparisons as a FilterExpression, or as a KeyConditionExpression; empty for none.
func (b *Builder) Filter(all []Comparison, or bool) string {
	terms := make([]string, len(all))
	for i := range all {
		terms[i] = b.comparison(&all[i])
	}
	if or {
		return strings.Join(terms, " OR ")
	}
	return strings.Join(terms, " AND ")
}

// maxOperands is the maximum number of operands of an expression's IN. The legacy parameters have no such limit.
const maxOperands = 100

func (b *Builder) comparison(c *Comparison) string {
	name := b.name(c.Name)
	if c.Operator == "IN" && len(c.Values) > maxOperands {
		return "contains(" + b.value(listOf(c.Values)) + "," + name + ")"
	}
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		values[i] = b.value(v.V)
	}
	switch op := c.Operator; op {
	case "NULL":
		return "attribute_not_exists(" + name + ")"
	case "NOT_NULL":
		return "attribute_exists(" + name + ")"
	case "IN":
		return name + " IN(" + strings.Join(values, ",") + ")"
	case "BETWEEN":
		return name + " BETWEEN " + values[0] + " AND " + values[1]
	case "BEGINS_WITH":
		return "begins_with(" + name + "," + values[0] + ")"
	case "CONTAINS":
		return "contains(" + name + "," + values[0] + ")"
	case "NOT_CONTAINS":
		// False for an absent attribute, unlike NE, and unlike the expression with only NOT.
		return "(attribute_exists(" + name + ") AND NOT contains(" + name + "," + values[0] + "))"
	default:
		sign := map[string]string{"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}[op]
		return name + sign + values[0]
	}
}

// listOf returns a list of the values.
func listOf(values []Value) attr.Value {
	list := make([]attr.Value, len(values))
	for i, v := range values {
		list[i] = v.V
	}
	return attr.L(list...)
}

// Projection returns AttributesToGet as a ProjectionExpression; empty for none.
func (b *Builder) Projection(attributes []string) string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = b.name(a)
	}
	return strings.Join(names, ",")
}

// Update returns AttributeUpdates as an UpdateExpression; empty for none.
func (b *Builder) Update(all []Change) string {
	sections := map[string][]string{}
	add := func(section, term string) { sections[section] = append(sections[section], term) }
	for i := range all {
		c := &all[i]
		name := b.name(c.Name)
		switch {
		case c.Action == "DELETE" && c.Value == nil:
			add("REMOVE", name)
		case c.Action == "DELETE":
			add("DELETE", name+" "+b.value(c.Value.V))
		case c.Action == "ADD" && c.Value.V.Kind() == attr.KindL:
			add("SET", name+"=list_append(if_not_exists("+name+","+b.value(attr.L())+"),"+b.value(c.Value.V)+")")
		case c.Action == "ADD":
			add("ADD", name+" "+b.value(c.Value.V))
		default:
			add("SET", name+"="+b.value(c.Value.V))
		}
	}
	var text []string
	for _, section := range [...]string{"SET", "REMOVE", "ADD", "DELETE"} {
		if terms := sections[section]; terms != nil {
			text = append(text, section+" "+strings.Join(terms, ","))
		}
	}
	return strings.Join(text, " ")
}

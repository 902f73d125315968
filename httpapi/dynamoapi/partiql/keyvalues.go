package partiql

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// limit makes a condition the bound of the sort key, and reports whether it is one and the first.
func (r *reading) limit(c *node) bool {
	a := r.key.Sort
	var bounds []*node
	switch {
	case r.bound != nil:
	case c.kind == nodeCompare && c.name != "<>" && c.name != "=":
		left, right := c.args[0], c.args[1]
		if left.attribute() == a.Name {
			bounds = []*node{right}
		} else if right.attribute() == a.Name && left.isConstant() {
			bounds = []*node{left}
			c = &node{kind: nodeCompare, name: mirrorComparator(c.name), args: []*node{right, left}}
		}
	case c.kind == nodeBetween, c.kind == nodeCall && c.name == "begins_with" && len(c.args) == 2:
		if c.args[0].attribute() == a.Name {
			bounds = c.args[1:]
		}
	}
	for _, n := range bounds {
		if !n.isConstant() {
			return false
		}
		if !r.anyType {
			a.mustFit(n.constant(r.params))
		}
	}
	if bounds != nil {
		r.bound = c
	}
	return bounds != nil
}

func mirrorComparator(op string) string {
	switch op {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	}
	return "<="
}

// allowedValues returns the values that a condition allows for a key attribute; false if it does not compare that attribute with constants.
func (r *reading) allowedValues(c *node, a Attr) ([]attr.Value, bool) {
	var constants []*node
	switch {
	case c.kind == nodeCompare && c.name == "=":
		left, right := c.args[0], c.args[1]
		if left.isConstant() {
			left, right = right, left
		}
		if left.attribute() != a.Name {
			return nil, false
		}
		constants = []*node{right}
	case c.kind == nodeIn && c.args[0].attribute() == a.Name && (c.args[1].kind == nodeList || c.args[1].kind == nodeBag):
		constants = c.args[1].args
	case c.kind == nodeOr:
		return r.amongEach(c.args, a)
	}
	if len(constants) == 0 {
		return nil, false
	}
	if len(constants) > maxOperands {
		panic(invalid("The IN operator is provided with too many operands; number of operands: %d", len(constants)))
	}
	values := make([]attr.Value, len(constants))
	for i, n := range constants {
		if !n.isConstant() {
			return nil, false
		}
		values[i] = n.constant(r.params)
		if !r.anyType {
			a.mustFit(values[i])
		}
	}
	return distinct(values), true
}

// amongEach is among for the operands of an OR.
func (r *reading) amongEach(parts []*node, a Attr) (all []attr.Value, ok bool) {
	// With another attribute it is not a key condition, and types are not checked.
	other := false
	for _, c := range parts {
		c.attributes(func(name string) { other = other || name != a.Name })
		other = other || c.kind != nodeCompare && c.kind != nodeIn
	}
	if other {
		return nil, false
	}
	for _, c := range parts {
		values, ok := r.allowedValues(c, a)
		if !ok {
			return nil, false
		}
		all = append(all, values...)
	}
	return distinct(all), true
}

// maxOperands is the maximum length of an IN list.
const maxOperands = 100

// distinct sorts a key attribute's values and refuses duplicates.
func distinct(values []attr.Value) []attr.Value {
	slices.SortStableFunc(values, func(a, b attr.Value) int {
		c, _ := attr.Compare(a, b)
		return c
	})
	if n := len(values); len(slices.CompactFunc(values, attr.Equal)) < n {
		panic(invalid("Overlapping conditions with range keys are not supported in where clause"))
	}
	return values
}

// common returns the values in both lists.
func common(a, b []attr.Value) []attr.Value {
	return slices.DeleteFunc(a, func(v attr.Value) bool { return !slices.ContainsFunc(b, v.Equal) })
}

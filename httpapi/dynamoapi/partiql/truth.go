package partiql

import "github.com/touchline/touchline/store/attr"

// maxTwice limits conditions that are written twice: each level of nesting doubles the text.
const maxTwice = 3

// truth writes a condition that is compared with a value, because in PartiQL a condition has a value: TRUE or FALSE.
func (b *builder) truth(op string, condition, with *node) string {
	if op != "=" && op != "<>" {
		panic(invalid("Incorrect operand type for operator or function; operator or function: %s, operand type: BOOL", op))
	}
	if with.isConstant() {
		v := with.constant(b.params)
		if v.Kind() != attr.KindBool {
			return b.always(condition, op == "<>")
		}
		return b.itOrNot(condition, v.Bool() == (op == "="))
	}
	if b.twice++; b.twice > maxTwice {
		panic(errOperator(op))
	}
	is, isNot := with, negate(with.at, with)
	if !with.isCondition() {
		is, isNot = isBool(with, true), isBool(with, false)
	}
	neither := both(negate(condition.at, condition), isNot)
	return b.itOrNot(either(both(condition, is), neither), op == "=")
}

func both(args ...*node) *node   { return &node{kind: nodeAnd, name: "and", args: args} }
func either(args ...*node) *node { return &node{kind: nodeOr, name: "or", args: args} }

func isBool(n *node, truth bool) *node {
	return &node{kind: nodeCompare, name: "=", args: []*node{n, {kind: nodeValue, value: attr.Bool(truth)}}}
}

// truthAmong writes a condition whose value must be in a list of constants.
func (b *builder) truthAmong(condition, list *node) string {
	var has [2]bool
	for _, arg := range list.args {
		if !arg.isConstant() {
			panic(errOperator("in"))
		}
		switch v := arg.constant(b.params); {
		case v.Kind() == attr.KindBool && v.Bool():
			has[1] = true
		case v.Kind() == attr.KindBool:
			has[0] = true
		}
	}
	if has[0] == has[1] {
		return b.always(condition, has[0])
	}
	return b.itOrNot(condition, has[1])
}

// itOrNot writes a condition or its negation, in a form that can be used as an operand.
func (b *builder) itOrNot(condition *node, it bool) string {
	if it {
		return b.writeEnclosed(condition)
	}
	return b.condition(negate(condition.at, condition))
}

// always writes an expression that is true, or false, for every item. It contains the condition, so that its errors are found.
func (b *builder) always(condition *node, truth bool) string {
	constant := isBool(&node{kind: nodeValue, value: attr.Bool(true)}, truth)
	if truth {
		return b.writeEnclosed(either(condition, constant))
	}
	return b.writeEnclosed(both(condition, constant))
}

package partiql

import "github.com/touchline/touchline/store/attr"

// maxTwice bounds the conditions that are written twice: nested in one another, each doubles the text.
const maxTwice = 3

// truth writes a condition that is compared with a value, for in PartiQL it is one itself: TRUE or FALSE.
func (b *builder) truth(op string, condition, with *node) (string, error) {
	if op != "=" && op != "<>" {
		return "", invalid("Incorrect operand type for operator or function; operator or function: %s, operand type: BOOL", op)
	}
	if with.isConstant() {
		v, err := with.constant(b.params)
		if err != nil {
			return "", err
		}
		if v.Kind() != attr.KindBool {
			return b.always(condition, op == "<>")
		}
		return b.itOrNot(condition, v.Bool() == (op == "="))
	}
	if b.twice++; b.twice > maxTwice {
		return "", errOperator(&node{name: op})
	}
	is, isNot := with, negated(with.at, with)
	if !with.isCondition() {
		is, isNot = isBool(with, true), isBool(with, false)
	}
	both := &node{kind: nodeAnd, args: []*node{condition, is}}
	neither := &node{kind: nodeAnd, args: []*node{negated(condition.at, condition), isNot}}
	return b.itOrNot(&node{kind: nodeOr, args: []*node{both, neither}}, op == "=")
}

func isBool(n *node, truth bool) *node {
	return &node{kind: nodeCompare, name: "=", args: []*node{n, {kind: nodeValue, value: attr.Bool(truth)}}}
}

// truthAmong writes a condition that is to be in a list of constants.
func (b *builder) truthAmong(condition, list *node) (string, error) {
	var has [2]bool
	for _, arg := range list.args {
		if !arg.isConstant() {
			return "", errOperator(&node{name: "in"})
		}
		v, err := arg.constant(b.params)
		switch {
		case err != nil:
			return "", err
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

// itOrNot writes a condition or its opposite, such that it may stand anywhere.
func (b *builder) itOrNot(condition *node, it bool) (string, error) {
	if it {
		return b.enclosed(condition)
	}
	return b.negation(negated(condition.at, condition))
}

// always writes what is true of every item, or of none, and has the condition in it, which may be a faulty one.
func (b *builder) always(condition *node, truth bool) (string, error) {
	constant := isBool(&node{kind: nodeValue, value: attr.Bool(true)}, truth)
	if truth {
		return b.enclosed(&node{kind: nodeOr, args: []*node{condition, constant}})
	}
	return b.enclosed(&node{kind: nodeAnd, args: []*node{condition, constant}})
}

package expr

import (
	"encoding/base64"

	"github.com/touchline/touchline/store/attr"
)

// checker refuses faults that are visible without an item. Some depend on the parameters, so the checker runs at each binding.
type checker struct {
	*parsed
	binding
}

// checkDefined refuses undefined placeholders, names before values.
func (c *checker) checkDefined() error {
	for i := range c.binding.names {
		if err := c.checkName(i); err != nil {
			return err
		}
	}
	for i := range c.binding.values {
		if err := c.checkValue(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkName(number int) error {
	if c.binding.names[number] != "" {
		return nil
	}
	return refuse("An expression attribute name used in the document path is not defined; attribute name: %s",
		c.parsed.names[number])
}

func (c *checker) checkValue(number int) error {
	if !c.binding.values[number].IsZero() {
		return nil
	}
	return refuse("An expression attribute value used in expression is not defined; attribute value: %s",
		c.parsed.values[number])
}

// check checks a node and everything below it, operands first.
func (c *checker) check(n *node) error {
	switch n.op {
	case opValue:
		return c.checkValue(n.value)
	case opPath:
		for _, e := range n.path {
			if e.kind == elementPlaceholder {
				if err := c.checkName(e.number); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i := range n.args {
		if err := c.check(&n.args[i]); err != nil {
			return err
		}
	}
	if n.op.isFunction() {
		if want := operandCount(n.op); len(n.args) != want {
			return refuse("Incorrect number of operands for operator or function; operator or function: %s, "+
				"number of operands: %d", n.op, len(n.args))
		}
	}
	if err := c.checkDistinct(n); err != nil {
		return err
	}
	return c.checkOperands(n)
}

func operandCount(fn op) int {
	switch fn {
	case opSize, opExists, opNotExists:
		return 1
	}
	return 2
}

// checkDistinct refuses a first operand that is a path and is repeated, such as "a.b = a.b" or "a IN (:x, a)".
func (c *checker) checkDistinct(n *node) error {
	switch n.op {
	case opAnd, opOr, opNot, opPlus, opMinus, opListAppend:
		return nil
	}
	for i := 1; i < len(n.args); i++ {
		if n.args[0].op == opPath && n.args[i].op == opPath && n.args[0].path.isSamePath(n.args[i].path, c.binding.names) {
			return refuse("The first operand must be distinct from the remaining operands for this operator or function; "+
				"operator: %s, first operand: %s", n.op, describe(n.args[0].path.steps(c.binding.names)))
		}
	}
	return nil
}

// checkOperands refuses operands of the wrong type.
func (c *checker) checkOperands(n *node) error {
	switch n.op {
	case opExists, opNotExists, opIfNotExists:
		if n.args[0].op != opPath {
			return refuse("Operator or function requires a document path; operator or function: %s", n.op)
		}
	case opType:
		return c.checkTypeName(n)
	case opSize:
		return c.allow(n, isSized)
	case opBeginsWith:
		return c.allow(n, isText)
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		return c.allow(n, isOrdered)
	case opBetween:
		if err := c.allow(n, isOrdered); err != nil {
			return err
		}
		return c.checkBounds(n)
	case opPlus, opMinus:
		return c.allow(n, isNumber)
	case opListAppend:
		return c.allow(n, isList)
	}
	return nil
}

func isNumber(k attr.Kind) bool  { return k == attr.KindN }
func isList(k attr.Kind) bool    { return k == attr.KindL }
func isText(k attr.Kind) bool    { return k == attr.KindS || k == attr.KindB }
func isOrdered(k attr.Kind) bool { return isText(k) || isNumber(k) }
func isSized(k attr.Kind) bool   { return !isNumber(k) && k != attr.KindBool && k != attr.KindNull }

// allow refuses an operand whose type is known and not allowed, such as ":list" in "size(a) < :list".
func (c *checker) allow(n *node, allowed func(attr.Kind) bool) error {
	for i := range n.args {
		if k := c.kind(&n.args[i]); k != 0 && !allowed(k) {
			return wrongType(n.op, k.String())
		}
	}
	return nil
}

func wrongType(o op, kind string) error {
	return refuse("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", o, kind)
}

// kind returns the type of an operand if it is known without an item, else 0.
func (c *checker) kind(n *node) attr.Kind {
	switch n.op {
	case opValue:
		return c.binding.values[n.value].Kind()
	case opSize:
		return attr.KindN
	}
	return 0
}

// checkTypeName refuses an attribute_type with an unknown type name, such as "STRING" for "S".
func (c *checker) checkTypeName(n *node) error {
	switch k := c.kind(&n.args[1]); k {
	case 0:
		return wrongType(n.op, "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
	case attr.KindS:
	default:
		return wrongType(n.op, k.String())
	}
	want := c.binding.values[n.args[1].value]
	if _, ok := attr.ParseKind(want.Str()); !ok {
		return refuse("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", want.Str())
	}
	return nil
}

// checkBounds refuses the bounds of a BETWEEN that no value can lie between: of different types, or low above high.
func (c *checker) checkBounds(n *node) error {
	if n.args[1].op != opValue || n.args[2].op != opValue {
		return nil
	}
	low, high := c.binding.values[n.args[1].value], c.binding.values[n.args[2].value]
	order, ok := attr.Compare(low, high)
	switch {
	case !ok:
		return refuse("The BETWEEN operator requires same data type for lower and upper bounds; "+
			"lower bound operand: %s, upper bound operand: %s", literal(low), literal(high))
	case order > 0:
		return refuse("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "+
			"lower bound operand: %s, upper bound operand: %s", literal(low), literal(high))
	}
	return nil
}

// literal formats a string, number or binary as DynamoDB's errors do.
func literal(v attr.Value) string {
	text := v.Str()
	if v.Kind() == attr.KindB {
		text = base64.StdEncoding.EncodeToString(v.Bytes())
	}
	return "AttributeValue: {" + v.Kind().String() + ":" + text + "}"
}

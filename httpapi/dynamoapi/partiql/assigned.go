package partiql

import "github.com/touchline/touchline/store/attr"

// writeAssignment writes the right side of a SET. Any number of constants in sums and differences are combined into one.
func (b *builder) writeAssignment(n *node) string {
	if n.kind != nodeOp || n.name != "+" && n.name != "-" || len(n.args) != 2 {
		return b.term(n)
	}
	var s sum
	s.addOperand(b, n, false, n.name)
	switch {
	case len(s.terms) == 0:
		return b.value(s.constant)
	case len(s.terms) > 2, len(s.terms) == 2 && !s.constant.IsZero(), s.terms[0].minus && len(s.terms) == 2 && s.terms[1].minus:
		panic(errUpdateOperator(n))
	}
	return s.write(b)
}

func errUpdateOperator(n *node) refusal {
	return invalid("Unsupported operator in Update Expression. Operator: %s", n.name)
}

// sum is a sum of terms and an optional constant.
type sum struct {
	constant attr.Value
	terms    []sumTerm
}

type sumTerm struct {
	of    *node
	minus bool
}

// addOperand adds or subtracts a node that is an operand of op.
func (s *sum) addOperand(b *builder, n *node, minus bool, op string) {
	if n.kind == nodeOp && len(n.args) == 2 && (n.name == "+" || n.name == "-") {
		s.addOperand(b, n.args[0], minus, n.name)
		s.addOperand(b, n.args[1], minus != (n.name == "-"), n.name)
		return
	}
	if !n.isConstant() {
		s.terms = append(s.terms, sumTerm{n, minus})
		return
	}
	v := n.constant(b.params)
	if v.Kind() != attr.KindN {
		panic(invalid("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", op, v.Kind()))
	}
	if s.constant.IsZero() {
		s.constant = attr.Int(0)
	}
	if minus {
		s.constant = must(attr.Sub(s.constant, v))
	} else {
		s.constant = must(attr.Add(s.constant, v))
	}
}

// write writes one term and a constant, or two terms.
func (s *sum) write(b *builder) string {
	texts := make([]string, len(s.terms))
	for i, term := range s.terms {
		texts[i] = b.term(term.of)
	}
	switch {
	case len(texts) == 1 && s.terms[0].minus:
		return b.value(s.constant) + " - " + texts[0]
	case len(texts) == 1:
		return texts[0] + " + " + b.value(s.constant)
	case s.terms[0].minus:
		return texts[1] + " - " + texts[0]
	case s.terms[1].minus:
		return texts[0] + " - " + texts[1]
	}
	return texts[0] + " + " + texts[1]
}

// term writes an operand of an update.
func (b *builder) term(n *node) string {
	switch {
	case n.kind == nodeIs:
		panic(invalid("IS operator is not supported in update expressions"))
	case n.kind == nodeCall:
		return b.updateFunction(n)
	case n.kind == nodePath, n.isConstant(), n.kind == nodeMissing, n.kind == nodeOp && len(n.args) == 1:
		return b.operand(n)
	}
	panic(errUpdateOperator(n))
}

func (b *builder) updateFunction(n *node) string {
	switch {
	case n.name == "list_append", n.name == "if_not_exists":
		return b.call(n, b.term)
	case n.name == "size", knownFunction(n.name):
		panic(invalid("The function is not allowed in an update expression; function: %s", n.name))
	}
	panic(invalidAt(n.at, "Unrecognized function: %s", n.name))
}
